const FAILING_SHARE = 0.7;
const ATTEMPTS_MIN = 10;
const OPEN_MS = 30_000;
const SUCCESSES_TO_CLOSE = 5;
/** The sliding window of five minutes is counted in parts, so that single attempts need not be stored. */
const PART_MS = 30_000;
const PARTS = 10;

export type BreakerState = "closed" | "open" | "probing";

/**
 * Circuit breaker. It opens when 70 % of at least ten attempts fail, stays open for 30 seconds, and closes again after
 * five successful probes. There is no timer: `stateAt` turns an open breaker into a probing one. Times are monotonic.
 */
export class Breaker {
  #state: BreakerState = "closed";
  #openUntil = 0;
  #probesPassed = 0;
  #part = 0;
  #attempts = 0;
  #failures = 0;
  /** Attempts and failures of each part, alternating. */
  readonly #counts = new Uint32Array(PARTS * 2);

  stateAt(now: number): BreakerState {
    if (this.#state === "open" && now >= this.#openUntil) {
      this.#state = "probing";
      this.#probesPassed = 0;
    }
    return this.#state;
  }

  /** Milliseconds until an open breaker begins to probe; 0 when it is not open. */
  openForMs(now: number): number {
    return this.stateAt(now) === "open" ? this.#openUntil - now : 0;
  }

  /** Records the result of an attempt and returns the new state. */
  record(wasDelivered: boolean, now: number): BreakerState {
    const state = this.stateAt(now);
    // Attempts that started before the breaker opened are not counted again.
    if (state === "open") return state;
    if (state === "probing") return wasDelivered ? this.#passProbe() : this.#open(now);
    this.#count(wasDelivered, now);
    const isFailing = this.#attempts >= ATTEMPTS_MIN && this.#failures >= this.#attempts * FAILING_SHARE;
    return isFailing && !wasDelivered ? this.#open(now) : state;
  }

  #passProbe(): BreakerState {
    this.#probesPassed += 1;
    if (this.#probesPassed >= SUCCESSES_TO_CLOSE) this.#state = "closed";
    return this.#state;
  }

  #open(now: number): BreakerState {
    this.#state = "open";
    this.#openUntil = now + OPEN_MS;
    // After recovery, failures from before the outage do not count.
    this.#counts.fill(0);
    this.#attempts = 0;
    this.#failures = 0;
    return this.#state;
  }

  #count(wasDelivered: boolean, now: number): void {
    const part = Math.floor(now / PART_MS);
    if (part !== this.#part) this.#clearExpired(part);
    const at = (part % PARTS) * 2;
    this.#attempts += 1;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    if (wasDelivered) return;
    this.#failures += 1;
    this.#counts[at + 1] = (this.#counts[at + 1] ?? 0) + 1;
  }

  /** Clears the parts that have left the window. */
  #clearExpired(part: number): void {
    for (let expired = Math.max(this.#part + 1, part - PARTS + 1); expired <= part; expired += 1) {
      const at = (expired % PARTS) * 2;
      this.#attempts -= this.#counts[at] ?? 0;
      this.#failures -= this.#counts[at + 1] ?? 0;
      this.#counts[at] = 0;
      this.#counts[at + 1] = 0;
    }
    this.#part = part;
  }
}
