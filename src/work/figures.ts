import type { Clock } from "../lib/clock.ts";
import { newId, timeOf } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import { PathMap } from "../lib/path-map.ts";
import type { CallbackState } from "../model/callback.ts";
import {
  GRAINS,
  isCounted,
  latencyClass,
  LATENCY_BOUNDS_MS,
  OTHER_CODES,
  type Counted,
  type Figure,
} from "../model/figure.ts";
import type { Acceptance, MovedMessage, Move, Store } from "../store/store.ts";
import type { CheckResult, CodeCheck } from "../store/verify-store.ts";
import type { Onlooker } from "./group-commit.ts";

const STRETCH_MS = GRAINS["10m"];
/** A carrier's code is its own; what is longer, or not to be read, would only fill the store. */
const CODE_MAX = 64;
/** So many different codes of an account are told apart in a day: carriers have a few dozen, but nothing holds them to it. */
const CODES_MAX = 100;
const DAY_MS = GRAINS.day;
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
 * a map. A crash loses the figures of the last second and nothing else, because no figure decides anything. What was written
 * and not answered is written again under the same number, by which the store knows it.
 */
export class Figures implements Onlooker {
  readonly #needs: Needs;
  readonly #writer: string;
  #sequence = 0;
  #counted: Figure[] = [];
  #places = new PathMap<Figure>();
  /** The one that was last counted of each kind, which is mostly the next one too. */
  readonly #latest = new Map<Counted, Figure>();
  /** What was sent to the store and not answered; nothing is added to it, so that it can be known again. */
  #unanswered: readonly Figure[] | null = null;
  #codes = { day: 0, byAccount: new Map<number, Set<string>>() };
  #writing: Promise<void> = Promise.resolve();

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#writer = newId(needs.clock.now());
  }

  onAccepted({ message, recipients, verification }: Acceptance): void {
    const { accountId, channel, routeClass } = message;
    this.#count(accountId, channel, routeClass, "accepted", "", recipients.length);
    if (verification) this.#count(accountId, channel, routeClass, "otp sent", "");
    for (const { failure } of recipients)
      if (failure !== null) this.#count(accountId, channel, routeClass, "rejected", this.#codeOf(accountId, failure));
  }

  onMoved({ accountId, requestId, to, errorCode }: Move, { channel, routeClass, taken }: MovedMessage): void {
    if (!taken && !isCounted(to)) return;
    const tookMs = this.#needs.clock.now() - timeOf(requestId);
    if (taken) {
      this.#count(accountId, channel, routeClass, "submitted", "");
      this.#count(accountId, channel, routeClass, "until submitted", CLASSES[latencyClass(tookMs)] ?? "");
    }
    if (!isCounted(to)) return;
    const code = to === "delivered" || to === "read" ? "" : this.#codeOf(accountId, errorCode ?? "");
    this.#count(accountId, channel, routeClass, to, code);
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
    const latest = this.#latest.get(what);
    const isNext =
      latest?.at === at &&
      latest.accountId === accountId &&
      latest.channel === channel &&
      latest.routeClass === routeClass &&
      latest.code === code;
    const figure = isNext ? latest : this.#figureOf({ accountId, at, channel, routeClass, what, code, count: 0 });
    if (!figure) return;
    figure.count += count;
    if (!isNext) this.#latest.set(what, figure);
  }

  /** Null when there are too many different ones. */
  #figureOf(figure: Figure): Figure | null {
    const { accountId, at, channel, routeClass, what, code } = figure;
    const path = [accountId, what, channel, routeClass, code, at];
    const known = this.#places.get(path);
    if (known) return known;
    if (this.#counted.length >= KEPT_MAX) return null;
    this.#counted.push(figure);
    this.#places.set(path, figure);
    return figure;
  }

  /** A code that can be kept and read; those that come after many different ones of the day are together. */
  #codeOf(accountId: number, given: string): string {
    if (given === "") return "";
    const now = this.#needs.clock.now();
    const day = now - (now % DAY_MS);
    if (this.#codes.day !== day) this.#codes = { day, byAccount: new Map() };
    const { byAccount } = this.#codes;
    const known = byAccount.get(accountId) ?? new Set();
    byAccount.set(accountId, known);
    const code = readable(given);
    if (known.has(code)) return code;
    if (known.size >= CODES_MAX) return OTHER_CODES;
    known.add(code);
    return code;
  }

  /** Writes down what was counted since the last time; what cannot be written now is kept for the next. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (this.#unanswered && !(await this.#send(this.#unanswered))) return;
    if (this.#counted.length === 0) return;
    this.#unanswered = this.#counted;
    this.#counted = [];
    this.#places = new PathMap();
    this.#latest.clear();
    this.#sequence += 1;
    await this.#send(this.#unanswered);
  }

  /** Says whether the store has it. */
  async #send(batch: readonly Figure[]): Promise<boolean> {
    const { store, clock, log } = this.#needs;
    try {
      await store.addFigures(batch, { writer: this.#writer, sequence: this.#sequence, at: clock.now() });
      this.#unanswered = null;
      return true;
    } catch (error) {
      log.warn({ err: error, figures: batch.length }, "figures were not written and are kept");
      return false;
    }
  }
}

const readable = (code: string): string => code.replaceAll(/[\p{C}]/gu, "?").slice(0, CODE_MAX);
