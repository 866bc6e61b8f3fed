const FAILING_SHARE = 0.7;
const ATTEMPTS_MIN = 10;
const OPEN_MS = 30_000;
const SUCCESSES_TO_CLOSE = 5;
/** Five minutes are counted in parts, so that no attempt has to be remembered by itself. */
const PART_MS = 30_000;
const PARTS = 10;

export type BreakerState = "closed" | "open" | "probing";

/**
 * Leaves an endpoint alone that fails nearly every time: for half a minute, then a few probes decide. It has no timer;
 * an open breaker becomes a probing one when somebody asks after its time. Times are those of a clock that only goes forward.
 */
export class Breaker {
  #state: BreakerState = "closed";
  #openUntil = 0;
  #probesPassed = 0;
  #part = 0;
  #attempts = 0;
  #failures = 0;
  /** Attempts and failures of each part, one after the other. */
  readonly #counts = new Uint32Array(PARTS * 2);

  stateAt(now: number): BreakerState {
    if (this.#state === "open" && now >= this.#openUntil) {
      this.#state = "probing";
      this.#probesPassed = 0;
    }
    return this.#state;
  }

  /** How long it stays open; 0 when it is not. */
  openForMs(now: number): number {
    return this.stateAt(now) === "open" ? this.#openUntil - now : 0;
  }

  /** Takes the result of an attempt, and gives the state that it leads to. */
  record(wasDelivered: boolean, now: number): BreakerState {
    const state = this.stateAt(now);
    // What was under way when the breaker opened tells nothing new.
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
    // Whoever comes back begins with a clean sheet.
    this.#counts.fill(0);
    this.#attempts = 0;
    this.#failures = 0;
    return this.#state;
  }

  #count(wasDelivered: boolean, now: number): void {
    const part = Math.floor(now / PART_MS);
    if (part !== this.#part) this.#forget(part);
    const at = (part % PARTS) * 2;
    this.#attempts += 1;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    if (wasDelivered) return;
    this.#failures += 1;
    this.#counts[at + 1] = (this.#counts[at + 1] ?? 0) + 1;
  }

  /** Clears the parts that have become older than the five minutes. */
  #forget(part: number): void {
    for (let gone = Math.max(this.#part + 1, part - PARTS + 1); gone <= part; gone += 1) {
      const at = (gone % PARTS) * 2;
      this.#attempts -= this.#counts[at] ?? 0;
      this.#failures -= this.#counts[at + 1] ?? 0;
      this.#counts[at] = 0;
      this.#counts[at + 1] = 0;
    }
    this.#part = part;
  }
}
