import type { Clock } from "../lib/clock.ts";
import { timeOf } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { CallbackState } from "../model/callback.ts";
import { GRAINS, isCounted, latencyClass, LATENCY_BOUNDS_MS, type Counted, type Figure } from "../model/figure.ts";
import type { Acceptance, MovedMessage, Move, Store } from "../store/store.ts";
import type { CheckResult, CodeCheck } from "../store/verify-store.ts";
import type { Onlooker } from "./group-commit.ts";

const STRETCH_MS = GRAINS["10m"];
/** A carrier's code is its own; what is longer, or not to be read, would only fill the store. */
const CODE_MAX = 64;
/** The classes of time as they are written down. */
const CLASSES = [...LATENCY_BOUNDS_MS, null].map((_, place) => String(place));
/** While the store is away no more different figures than these are kept. */
const KEPT_MAX = 50_000;

interface Needs {
  store: Pick<Store, "addFigures">;
  clock: Clock;
  log: Log;
}

/**
 * Counts what happens on this node, in memory, and writes it down once in a second: a message that moves pays for a look into
 * a map. A crash loses the figures of the last second and nothing else, because no figure decides anything.
 */
export class Figures implements Onlooker {
  readonly #needs: Needs;
  #counted = new Map<string, Figure>();
  #writing: Promise<void> = Promise.resolve();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  onAccepted({ message, recipients, verification }: Acceptance): void {
    const { accountId, channel, routeClass } = message;
    this.#count(accountId, channel, routeClass, "accepted", "", recipients.length);
    if (verification) this.#count(accountId, channel, routeClass, "otp sent", "");
    for (const { failure } of recipients)
      if (failure !== null) this.#count(accountId, channel, routeClass, "rejected", failure);
  }

  onMoved({ accountId, requestId, to, errorCode }: Move, { channel, routeClass, taken }: MovedMessage): void {
    if (!taken && !isCounted(to)) return;
    const tookMs = this.#needs.clock.now() - timeOf(requestId);
    if (taken) {
      this.#count(accountId, channel, routeClass, "submitted", "");
      this.#count(accountId, channel, routeClass, "until submitted", CLASSES[latencyClass(tookMs)] ?? "");
    }
    if (!isCounted(to)) return;
    this.#count(accountId, channel, routeClass, to, to === "delivered" || to === "read" ? "" : (errorCode ?? ""));
    if (to === "delivered")
      this.#count(accountId, channel, routeClass, "until delivered", CLASSES[latencyClass(tookMs)] ?? "");
  }

  onChecked({ accountId }: CodeCheck, { kind }: CheckResult): void {
    this.#count(accountId, "", "", kind === "verified" ? "otp verified" : "otp refused", "");
  }

  /** What became of an attempt to tell a customer something. */
  onTold(accountId: number, state: CallbackState): void {
    this.#count(accountId, "", "", `callback ${state}`, "");
  }

  /** One look into the map; something is made only for what has not been counted since the last writing. */
  #count(
    accountId: number,
    channel: Figure["channel"],
    routeClass: Figure["routeClass"],
    what: Counted,
    code: string,
    count = 1,
  ): void {
    const now = this.#needs.clock.now();
    const at = now - (now % STRETCH_MS);
    const key = `${at} ${accountId} ${what} ${channel} ${routeClass} ${code}`;
    const known = this.#counted.get(key);
    if (known) known.count += count;
    else if (this.#counted.size < KEPT_MAX)
      this.#counted.set(key, { accountId, at, channel, routeClass, what, code, count });
  }

  /** Writes down what was counted since the last time; what cannot be written now is kept for the next. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (this.#counted.size === 0) return;
    const batch = this.#counted;
    this.#counted = new Map();
    try {
      await this.#needs.store.addFigures([...batch.values()].map(readable));
    } catch (error) {
      this.#keep(batch);
      this.#needs.log.warn({ err: error, figures: batch.size }, "figures were not written and are kept");
    }
  }

  #keep(batch: ReadonlyMap<string, Figure>): void {
    for (const [key, figure] of batch) {
      const known = this.#counted.get(key);
      if (known) known.count += figure.count;
      else if (this.#counted.size < KEPT_MAX) this.#counted.set(key, figure);
    }
  }
}

const readable = (figure: Figure): Figure => ({
  ...figure,
  code: figure.code.replaceAll(/[\p{C}]/gu, "?").slice(0, CODE_MAX),
});
