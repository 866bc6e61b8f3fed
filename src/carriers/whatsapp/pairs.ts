interface Pair {
  /** Nothing goes to the recipient before this time. */
  until: number;
  /** How often in a row the platform said that it was too much, and when it last did. */
  refusals: number;
  refusedAt: number;
}

/** What the platform lets one number send to one recipient in the long run. */
const PACE_MS = 6000;
const GROWTH = 4;
const LONGEST_MS = 3_600_000;
/** After so long without trouble a pair is like any other. */
const FORGET_MS = 60_000;
/** More recipients than this are never too much for one number at once; the oldest are forgotten. */
const PAIRS_MAX = 10_000;

/** Recipients that were sent too much by one number: the next message to them waits, without asking the platform in vain. */
export class Pairs {
  readonly #pairs = new Map<string, Pair>();
  readonly #max: number;

  constructor(max = PAIRS_MAX) {
    this.#max = max;
  }

  /** How long to wait before something may be sent to this recipient; with 0 it is the caller's turn, and the next one's later. */
  take(key: string, now: number): number {
    const pair = this.#pairs.get(key);
    if (!pair) return 0;
    if (now < pair.until) return pair.until - now;
    if (now > pair.until + FORGET_MS) this.#pairs.delete(key);
    else this.#pairs.set(key, { ...pair, until: now + PACE_MS });
    return 0;
  }

  /**
   * The platform said that it was too much: how long to wait now. Of messages that were under way at the same time all are
   * refused, and the others say nothing new.
   */
  refused(key: string, askedAt: number, now: number): number {
    const pair = this.#pairs.get(key);
    if (pair && pair.refusals > 0 && askedAt <= pair.refusedAt) return Math.max(PACE_MS, pair.until - now);
    const refusals = pair?.refusals ?? 0;
    const waitMs = Math.min(LONGEST_MS, PACE_MS * GROWTH ** refusals);
    this.#pairs.delete(key);
    this.#pairs.set(key, { until: now + waitMs, refusals: refusals + 1, refusedAt: now });
    if (this.#pairs.size > this.#max) this.#forgetOldest();
    return waitMs;
  }

  /** The platform has taken one: the next trouble is the first again. */
  taken(key: string): void {
    const pair = this.#pairs.get(key);
    if (pair) this.#pairs.set(key, { ...pair, refusals: 0 });
  }

  #forgetOldest(): void {
    for (const key of this.#pairs.keys()) {
      this.#pairs.delete(key);
      return;
    }
  }
}
