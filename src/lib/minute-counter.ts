const MINUTE_MS = 60_000;
const NAMES_MAX = 10_000;

/** Counts events per name and minute, on this node only. It slows down guessing (brute force) without a database write. */
export class MinuteCounter {
  #counts = new Map<string, number>();
  #minute = 0;

  /** Counts an event and returns the count of this minute. */
  count(name: string, now: number): number {
    const minute = Math.floor(now / MINUTE_MS);
    if (minute !== this.#minute || this.#counts.size > NAMES_MAX) this.#counts.clear();
    this.#minute = minute;
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count;
  }

  /** The count of this minute. */
  peek(name: string, now: number): number {
    return Math.floor(now / MINUTE_MS) === this.#minute ? (this.#counts.get(name) ?? 0) : 0;
  }

  /** Seconds until the next minute begins. */
  static secondsLeft(now: number): number {
    return Math.ceil((MINUTE_MS - (now % MINUTE_MS)) / 1000);
  }
}
