interface Pair {
  /** No sends to the recipient before this time. */
  until: number;
  /** Consecutive refusals, and the time of the last. */
  refusals: number;
  refusedAt: number;
}

/** Long-term rate limit of the platform per sender and recipient. */
const PACE_MS = 6000;
const GROWTH = 4;
const LONGEST_MS = 3_600_000;
/** A pair without refusals for this time is forgotten. */
const IDLE_MS = 60_000;
/** Memory limit; the oldest are dropped. */
const PAIRS_MAX = 10_000;

/** Rate limiter per sender and recipient pair, active after the platform has refused a message of the pair. */
export class Pairs {
  readonly #pairs = new Map<string, Pair>();
  readonly #max: number;

  constructor(max = PAIRS_MAX) {
    this.#max = max;
  }

  /** Wait before the next send to this recipient; 0 reserves the turn for the caller. */
  take(key: string, now: number): number {
    const pair = this.#pairs.get(key);
    if (!pair) return 0;
    if (now < pair.until) return pair.until - now;
    if (now > pair.until + IDLE_MS) this.#pairs.delete(key);
    else this.#pairs.set(key, { ...pair, until: now + PACE_MS });
    return 0;
  }

  /** Records a refusal and returns the wait. Messages in flight at the same time are all refused, and count once. */
  refused(key: string, sentAt: number, now: number): number {
    const pair = this.#pairs.get(key);
    if (pair && pair.refusals > 0 && sentAt <= pair.refusedAt) return Math.max(PACE_MS, pair.until - now);
    const refusals = pair?.refusals ?? 0;
    const waitMs = Math.min(LONGEST_MS, PACE_MS * GROWTH ** refusals);
    this.#pairs.delete(key);
    this.#pairs.set(key, { until: now + waitMs, refusals: refusals + 1, refusedAt: now });
    if (this.#pairs.size > this.#max) this.#dropOldest();
    return waitMs;
  }

  /** A success resets the backoff. */
  taken(key: string): void {
    const pair = this.#pairs.get(key);
    if (pair) this.#pairs.set(key, { ...pair, refusals: 0 });
  }

  #dropOldest(): void {
    for (const key of this.#pairs.keys()) {
      this.#pairs.delete(key);
      return;
    }
  }
}
