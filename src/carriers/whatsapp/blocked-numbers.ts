interface Block {
  /** No sends from the number before this time. */
  until: number;
  ms: number;
  reason: string;
}

const FIRST_MS = 60_000;
const LONGEST_MS = 900_000;
/** Memory limit, above the numbers of any connection; the oldest are dropped. */
const NUMBERS_MAX = 1000;

/**
 * Business numbers that the platform has blocked. They are not tried until a backoff has passed; other numbers of the
 * connection continue.
 */
export class BlockedNumbers {
  readonly #blocks = new Map<string, Block>();
  readonly #max: number;

  constructor(max = NUMBERS_MAX) {
    this.#max = max;
  }

  /** Reason why the number is blocked now; null if it is not. */
  reasonFor(number: string, now: number): string | null {
    const block = this.#blocks.get(number);
    return block && now < block.until ? block.reason : null;
  }

  /**
   * Blocks the number with exponential backoff. Returns false if it was blocked already, because all messages in flight are
   * refused together.
   */
  refused(number: string, reason: string, now: number): boolean {
    const block = this.#blocks.get(number);
    if (block && now < block.until) return false;
    const ms = Math.min(LONGEST_MS, block ? block.ms * 2 : FIRST_MS);
    this.#blocks.delete(number);
    this.#blocks.set(number, { until: now + ms, ms, reason });
    if (this.#blocks.size > this.#max) this.#dropOldest();
    return true;
  }

  /** A success resets the backoff. */
  taken(number: string): void {
    this.#blocks.delete(number);
  }

  #dropOldest(): void {
    for (const number of this.#blocks.keys()) {
      this.#blocks.delete(number);
      return;
    }
  }
}
