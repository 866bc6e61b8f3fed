const MINUTE_MS = 60_000;
const NAMES_MAX = 10_000;

/** Counts by name within a minute of the clock, on this node alone: enough to make a guesser slow, and it costs no write. */
export class MinuteCounter {
  #counts = new Map<string, number>();
  #minute = 0;

  /** How often the name has come in this minute, this time included. */
  count(name: string, now: number): number {
    const minute = Math.floor(now / MINUTE_MS);
    if (minute !== this.#minute || this.#counts.size > NAMES_MAX) this.#counts.clear();
    this.#minute = minute;
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count;
  }

  /** How long until it begins to count anew. */
  static secondsLeft(now: number): number {
    return Math.ceil((MINUTE_MS - (now % MINUTE_MS)) / 1000);
  }
}
