interface Held {
  /** Nothing goes from the number before this time. */
  until: number;
  ms: number;
  reason: string;
}

const FIRST_MS = 60_000;
const LONGEST_MS = 900_000;
/** More business numbers than this are on no line; the oldest are forgotten. */
const NUMBERS_MAX = 1000;

/** Business numbers that the platform has stopped: nothing is asked for them in vain, and the others of the line go on. */
export class HeldNumbers {
  readonly #held = new Map<string, Held>();
  readonly #max: number;

  constructor(max = NUMBERS_MAX) {
    this.#max = max;
  }

  /** Why nothing goes from a number now; null where something may. */
  reasonFor(number: string, now: number): string | null {
    const held = this.#held.get(number);
    return held && now < held.until ? held.reason : null;
  }

  /**
   * The platform takes nothing from this number. Gives whether that is new: messages under way at the same time are all
   * refused.
   */
  refused(number: string, reason: string, now: number): boolean {
    const held = this.#held.get(number);
    if (held && now < held.until) return false;
    const ms = Math.min(LONGEST_MS, held ? held.ms * 2 : FIRST_MS);
    this.#held.delete(number);
    this.#held.set(number, { until: now + ms, ms, reason });
    if (this.#held.size > this.#max) this.#forgetOldest();
    return true;
  }

  /** The platform has taken one: the next trouble is the first again. */
  taken(number: string): void {
    this.#held.delete(number);
  }

  #forgetOldest(): void {
    for (const number of this.#held.keys()) {
      this.#held.delete(number);
      return;
    }
  }
}
