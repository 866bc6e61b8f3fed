import type { Clock } from "../lib/clock.ts";
import { timeOf } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { CallbackState } from "../model/callback.ts";
import { GRAINS, isCounted, latencyClass, type Counted, type Figure } from "../model/figure.ts";
import type { Acceptance, MovedMessage, Move, Store } from "../store/store.ts";
import type { CheckResult, CodeCheck } from "../store/verify-store.ts";
import type { Onlooker } from "./group-commit.ts";

const STRETCH_MS = GRAINS["10m"];
/** A carrier's code is its own; what is longer, or not to be read, would only fill the store. */
const CODE_MAX = 64;
/** While the store is away no more different figures than these are kept. */
const KEPT_MAX = 50_000;

interface Needs {
  store: Pick<Store, "addFigures">;
  clock: Clock;
  log: Log;
}

type About = Omit<Figure, "at" | "count">;

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
    this.#count({ accountId, channel, routeClass, what: "accepted", code: "" }, recipients.length);
    if (verification) this.#count({ accountId, channel, routeClass, what: "otp sent", code: "" });
    for (const { failure } of recipients)
      if (failure !== null) this.#count({ accountId, channel, routeClass, what: "rejected", code: failure });
  }

  onMoved({ accountId, requestId, to, errorCode }: Move, { channel, routeClass, taken }: MovedMessage): void {
    const count = (what: Counted, code = ""): void => this.#count({ accountId, channel, routeClass, what, code });
    if (!taken && !isCounted(to)) return;
    const tookMs = this.#needs.clock.now() - timeOf(requestId);
    if (taken) {
      count("submitted");
      count("until submitted", String(latencyClass(tookMs)));
    }
    if (!isCounted(to)) return;
    count(to, to === "delivered" || to === "read" ? "" : (errorCode ?? ""));
    if (to === "delivered") count("until delivered", String(latencyClass(tookMs)));
  }

  onChecked({ accountId }: CodeCheck, { kind }: CheckResult): void {
    const what = kind === "verified" ? "otp verified" : "otp refused";
    this.#count({ accountId, channel: "", routeClass: "", what, code: "" });
  }

  /** What became of an attempt to tell a customer something. */
  onTold(accountId: number, state: CallbackState): void {
    this.#count({ accountId, channel: "", routeClass: "", what: `callback ${state}`, code: "" });
  }

  #count(about: About, count = 1): void {
    const now = this.#needs.clock.now();
    const at = now - (now % STRETCH_MS);
    this.#add({ ...about, at, count });
  }

  #add(figure: Figure): void {
    const { accountId, at, what, channel, routeClass, code } = figure;
    const key = `${at} ${accountId} ${what} ${channel} ${routeClass} ${code}`;
    const known = this.#counted.get(key);
    if (known) known.count += figure.count;
    else if (this.#counted.size < KEPT_MAX) this.#counted.set(key, figure);
  }

  /** Writes down what was counted since the last time; what cannot be written now is kept for the next. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (this.#counted.size === 0) return;
    const batch = [...this.#counted.values()];
    this.#counted = new Map();
    try {
      await this.#needs.store.addFigures(batch.map(readable));
    } catch (error) {
      for (const figure of batch) this.#add(figure);
      this.#needs.log.warn({ err: error, figures: batch.length }, "figures were not written and are kept");
    }
  }
}

const readable = (figure: Figure): Figure => ({
  ...figure,
  code: figure.code.replaceAll(/[\p{C}]/gu, "?").slice(0, CODE_MAX),
});
