import type { Clock } from "../lib/clock.ts";
import type { Message, RouteClass } from "../model/message.ts";
import { writeTrail, type PassedOver } from "../model/trail.ts";
import type { MessageStore } from "../store/store.ts";
import type { PutAside } from "../work/claim.ts";
import { candidatesFor, routesFor, type ChooseNeeds } from "./choose-route.ts";

interface Needs extends ChooseNeeds {
  store: Pick<MessageStore, "sideline" | "listSidings" | "clearSiding">;
  clock: Clock;
}

interface Siding {
  /** The last message that was put there, for whose lines all of them wait; null while none is known. */
  sample: Message | null;
  /** How many are fetched at once: few at first, because a line that is just back may be gone again. */
  atOnce: number;
  /** How many have been put there one by one since it was last asked for more like them. */
  putSingly: number;
  /** When what is there is looked at for what is past its time, by the clock that only goes forward. */
  lookAt: number;
}

const FEW = 8;
const GROWTH = 4;
const AT_ONCE = 1000;
/** How many rows one statement looks at, so that whoever else writes waits for a short one. */
const ROWS_AT_ONCE = 500;
/** After so many have come one by one, there may be many more like them. */
const SINGLY_MAX = 100;
/** How many statements one turn makes for a siding. */
const STEPS = 40;
/** Below so many found in a statement, the rest is found one by one. */
const WORTH_IT = 50;
/** How often what is past its time is looked for. */
const LOOK_MS = 1000;
/** How often it is asked which sidings other nodes, or an earlier process, have filled. */
const LEARN_MS = 5000;

/**
 * Keeps messages aside of which no line is up: in the store, under an owner that stands for their routes, so that they are in
 * front of nobody and nobody claims them in vain. One of them is remembered for all; when there is a way for it, or its time is
 * over, they are claimed from there. Whether a line is up is each node's own to know, so each looks after all of them.
 */
export class Sidings {
  readonly #needs: Needs;
  readonly #sidings = new Map<number, Siding>();
  #learnAt = Number.NEGATIVE_INFINITY;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** The owner under which a message waits for its lines; null where it is to be tried again by the clock. */
  put(message: Message): number | null {
    if (!this.#waits(message)) return null;
    const owner = this.#ownerFor(message);
    const siding = this.#find(owner);
    siding.sample = message;
    siding.atOnce = FEW;
    siding.putSingly += 1;
    return owner;
  }

  /** Learns which sidings there are, puts aside what is like the messages there, and lets go what other routes may take now. */
  async tend(): Promise<void> {
    await this.#learn();
    for (const [owner, { sample, putSingly }] of this.#sidings) {
      if (!sample) continue;
      if (this.#ownerFor(sample) !== owner) await this.#clear(owner);
      else if (putSingly >= SINGLY_MAX) await this.#gather(owner, sample);
    }
  }

  /** What is to be claimed now, and how much of it. */
  list(): PutAside[] {
    const now = this.#needs.clock.monotonic();
    const aside: PutAside[] = [];
    for (const [owner, siding] of this.#sidings) {
      const mayGo = !siding.sample || !this.#waits(siding.sample);
      if (!mayGo && now < siding.lookAt) continue;
      siding.lookAt = now + LOOK_MS;
      const onClaimed: PutAside["onClaimed"] = (messages, wasAll) => this.#see(owner, mayGo, messages, wasAll);
      aside.push({ owner, mayGo, limit: mayGo ? siding.atOnce : AT_ONCE, onClaimed });
    }
    return aside;
  }

  /** Whether there are still many in a lane that belong here. */
  isFilling(routeClass: RouteClass): boolean {
    for (const { sample, putSingly } of this.#sidings.values())
      if (putSingly >= SINGLY_MAX && sample?.routeClass === routeClass && this.#waits(sample)) return true;
    return false;
  }

  #find(owner: number): Siding {
    const siding = this.#sidings.get(owner) ?? { sample: null, atOnce: FEW, putSingly: 0, lookAt: 0 };
    this.#sidings.set(owner, siding);
    return siding;
  }

  async #learn(): Promise<void> {
    const now = this.#needs.clock.monotonic();
    if (now < this.#learnAt) return;
    for (const owner of await this.#needs.store.listSidings()) this.#find(owner);
    this.#learnAt = now + LEARN_MS;
  }

  #see(owner: number, mayGo: boolean, messages: readonly Message[], wasAll: boolean): void {
    const siding = this.#sidings.get(owner);
    if (!siding) return;
    siding.sample ??= messages.find((message) => this.#waits(message)) ?? null;
    if (mayGo && wasAll) this.#sidings.delete(owner);
    else if (mayGo) siding.atOnce = Math.min(AT_ONCE, siding.atOnce * GROWTH);
  }

  /** The routes have changed since it was filled, and each message is to be asked anew. */
  async #clear(owner: number): Promise<void> {
    const { store, clock } = this.#needs;
    for (let step = 0; step < STEPS; step += 1) {
      if ((await store.clearSiding(owner, clock.now(), ROWS_AT_ONCE)) === ROWS_AT_ONCE) continue;
      this.#sidings.delete(owner);
      return;
    }
  }

  async #gather(owner: number, sample: Message): Promise<void> {
    const { store, clock, catalog } = this.#needs;
    const { accountId, channel, sender, routeClass } = sample;
    const siding = this.#find(owner);
    // What else decides about a way is not asked of many rows at once: a prefix, or the text that an RCS message falls back to.
    if (channel === "rcs" || catalog.of(accountId).routes.some(({ content }) => content.prefixes.length > 0)) {
      siding.putSingly = 0;
      return;
    }
    const like = { accountId, channel, sender, routeClass };
    for (let step = 0; step < STEPS && this.#waits(sample); step += 1) {
      const at = clock.now();
      const trail = noteOfNoWay(at, candidatesFor(this.#needs, sample).passedOver);
      const found = await store.sideline({ to: owner, like, at, limit: ROWS_AT_ONCE, trail });
      if (found >= WORTH_IT) continue;
      siding.putSingly = 0;
      return;
    }
  }

  /** Whether there are routes and no line of them is up. What has been tried before waits by the clock. */
  #waits(message: Message): boolean {
    if (message.test || message.tried.length > 0 || message.state === "submitting") return false;
    const { usable, elsewhere, passedOver } = candidatesFor(this.#needs, message);
    return usable.length === 0 && !elsewhere && passedOver.length > 0;
  }

  #ownerFor(message: Message): number {
    const { accountId, channel } = message;
    const catalog = this.#needs.catalog.of(accountId);
    const routes = routesFor(catalog, message).map(({ id }) => id);
    return -(1 + (hashOf(`${accountId} ${channel} ${routes.join(" ")} ${signatureOf(catalog.routes)}`) % LOWEST_OWNER));
  }
}

/** What the trail says of a message that no carrier can be tried with. */
export const noteOfNoWay = (at: number, passedOver: readonly PassedOver[]): string =>
  writeTrail({ at, step: "attempt", route: "none", carrier: "none", passedOver });

type Routes = Parameters<typeof routesFor>[0]["routes"];

/** Found once for each change of an account's records. */
const signatures = new WeakMap<Routes, number>();

function signatureOf(routes: Routes): number {
  const known = signatures.get(routes) ?? hashOf(JSON.stringify(routes.map(({ id, content }) => [id, content])));
  signatures.set(routes, known);
  return known;
}

/** Owners are numbers of 32 bits. */
const LOWEST_OWNER = 2_147_483_647;

/** FNV-1a: the same for the same text in every process, which is all that is asked of it. */
function hashOf(text: string): number {
  let hash = 2_166_136_261;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 16_777_619);
  return hash >>> 0;
}
