import type { Carrier, Outcome } from "../carriers/carrier.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { FAILURES, messageIdOf, type Message } from "../model/message.ts";
import { NOBODY, type Move } from "../store/store.ts";
import type { GroupCommit } from "../work/group-commit.ts";
import type { Lanes } from "../work/lanes.ts";
import type { Membership } from "../work/membership.ts";
import type { Meters } from "../work/meters.ts";
import { chooseRoute, type Routes } from "./choose-route.ts";
import { settleParked } from "./report.ts";

/** Pauses before the next try, by tries made; each is spread by a fifth so that a carrier's return is not a stampede. */
const RETRY_PAUSES_MS = [1000, 5000, 15_000, 60_000, 300_000];

const FAULT_PAUSE_MS = 60_000;

export interface DispatchNeeds {
  commits: GroupCommit;
  membership: Membership;
  routes: Routes;
  clock: Clock;
  log: Log;
  meters: Meters;
}

/** Takes messages from the lanes, as many at once as the window allows. */
export class Dispatcher {
  #inFlight = 0;
  #stopped = false;
  #onIdle: (() => void) | null = null;
  readonly #needs: DispatchNeeds & { lanes: Lanes };
  readonly #window: number;
  #onHungry: () => void = () => {};

  constructor(needs: DispatchNeeds & { lanes: Lanes }, window: number) {
    this.#needs = needs;
    this.#window = window;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Calls back when the lanes have run empty, so that more can be fetched at once. */
  onHungry(run: () => void): void {
    this.#onHungry = run;
  }

  wake(): void {
    if (this.#stopped) return;
    while (this.#inFlight < this.#window) {
      const message = this.#needs.lanes.take();
      if (!message) return this.#onHungry();
      this.#inFlight += 1;
      void this.#send(message);
    }
  }

  async #send(message: Message): Promise<void> {
    const { node } = this.#needs.membership;
    try {
      await dispatch(this.#needs, message);
    } catch (error) {
      this.#needs.log.error({ err: error, messageId: messageIdOf(message) }, "message could not be dispatched");
      await this.#letGo(message, node);
    }
    this.#inFlight -= 1;
    if (this.#inFlight === 0) this.#onIdle?.();
    this.wake();
  }

  /** After a fault of our own nobody would look at the row again while this node lives, so it is left for a later try. */
  async #letGo(message: Message, node: number): Promise<void> {
    const { clock, log } = this.#needs;
    try {
      await hold(this.#needs, message, node, clock.now() + FAULT_PAUSE_MS);
    } catch (error) {
      log.error({ err: error, messageId: messageIdOf(message) }, "message could not be let go");
    }
  }

  /** Starts nothing more; resolves when what was under way is answered and written. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#inFlight === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }
}

/**
 * Hands one message to its carrier. The intent is committed first: after a crash, a row in `accepted` was certainly not sent,
 * and a row in `submitting` may have been. Next: src/carriers/carrier.ts
 */
export async function dispatch(needs: DispatchNeeds, message: Message): Promise<void> {
  const { commits, membership, routes, clock, meters } = needs;
  const now = clock.now();
  const { node } = membership;
  const inDoubt = message.state === "submitting";

  if (now >= message.expiresAt) return end(needs, message, node, inDoubt ? "unknown" : "expired");
  if (inDoubt && !mayRepeat(message)) return hold(needs, message, node, message.expiresAt);

  const carrier = chooseRoute(routes, message);
  const intent: Move = {
    ...refOf(message),
    to: "submitting",
    at: now,
    owner: node,
    ownedBy: node,
    carrier: carrier.name,
    attempt: true,
  };
  if (!(await commits.move.add(intent)).moved) return;
  if (!membership.alive) return inDoubt ? hold(needs, message, node, now) : putBack(needs, message, node, now);

  if (inDoubt) meters.ambiguous(message.routeClass).inc();
  meters.queueMs(message.routeClass).observe(clock.now() - message.createdAt);
  const outcome = await submit(needs, carrier, message);
  meters.outcomes(carrier.name, outcome.kind).inc();
  await conclude(needs, message, node, carrier, outcome);
}

/** A carrier that throws has told us nothing about the message, which is what `unknown` means. */
async function submit({ log }: DispatchNeeds, carrier: Carrier, message: Message): Promise<Outcome> {
  try {
    return await carrier.submit(message);
  } catch (error) {
    log.warn({ err: error, carrier: carrier.name, messageId: messageIdOf(message) }, "carrier threw");
    return { kind: "unknown", description: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Writes what the carrier answered. That it was taken is true whoever owns the row by now; anything else is ours to say
 * only while the row is still ours, because another node may be sending it. Next: src/messages/report.ts
 */
async function conclude(
  needs: DispatchNeeds,
  message: Message,
  node: number,
  carrier: Carrier,
  outcome: Outcome,
): Promise<void> {
  const { commits, clock, meters } = needs;
  const at = clock.now();
  const move = { ...refOf(message), at, owner: NOBODY, carrier: carrier.name };
  switch (outcome.kind) {
    case "taken": {
      const result = await commits.move.add({ ...move, to: "submitted", carrierMessageId: outcome.carrierMessageId });
      return settleParked(needs, message, result.parked);
    }
    case "busy":
      await commits.move.add({
        ...move,
        // A repeat that was not taken says nothing about the first try: that one stays in doubt.
        to: message.state === "submitting" ? "submitting" : "accepted",
        ownedBy: node,
        dueAt: at + (outcome.retryAfterMs ?? retryPauseMs(message)),
      });
      return;
    case "refused": {
      const { code, description } = outcome;
      const { moved } = await commits.move.add({
        ...move,
        to: "rejected",
        ownedBy: node,
        errorCode: code,
        description,
      });
      if (moved) meters.moves("rejected").inc();
      return;
    }
    case "unknown":
      return hold(needs, message, node, mayRepeat(message) ? at + retryPauseMs(message) : message.expiresAt);
  }
}

/** Leaves a message in doubt: sent again later, or ended when its time is over and no receipt has come. */
async function hold({ commits, clock }: DispatchNeeds, message: Message, node: number, dueAt: number): Promise<void> {
  await commits.move.add({ ...refOf(message), to: "submitting", at: clock.now(), owner: NOBODY, ownedBy: node, dueAt });
}

/** Undoes an intent that nothing came of: the message was certainly not sent and is as good as new. */
async function putBack({ commits }: DispatchNeeds, message: Message, node: number, at: number): Promise<void> {
  await commits.move.add({ ...refOf(message), to: "accepted", at, owner: NOBODY, ownedBy: node, dueAt: at });
}

async function end(
  { commits, clock, meters }: DispatchNeeds,
  message: Message,
  node: number,
  to: "unknown" | "expired",
): Promise<void> {
  const errorCode = to === "expired" ? "EXPIRED_IN_QUEUE" : "SUBMIT_UNCONFIRMED";
  const { moved } = await commits.move.add({
    ...refOf(message),
    to,
    at: clock.now(),
    owner: NOBODY,
    ownedBy: node,
    errorCode,
    description: FAILURES[errorCode],
  });
  if (moved) meters.moves(to).inc();
}

/** A second password or order confirmation is a nuisance, a missing one is a failure; a second advertisement is the worse of the two. */
const mayRepeat = (message: Message): boolean => message.routeClass !== "PROMO";

function retryPauseMs(message: Message): number {
  const pause = RETRY_PAUSES_MS[Math.min(message.attempts, RETRY_PAUSES_MS.length - 1)] ?? 0;
  return Math.round(pause * (0.8 + Math.random() * 0.4));
}

const refOf = ({ accountId, requestId, n }: Message): Pick<Message, "accountId" | "requestId" | "n"> => ({
  accountId,
  requestId,
  n,
});
