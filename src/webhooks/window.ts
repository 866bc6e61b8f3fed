/** Where an endpoint of which nothing is known begins. */
export const WINDOW_START = 10;
/** What it is held to while it fails. */
const WINDOW_MIN = 2;
/** A quarter more for each round of good answers: gentle to who comes back, and still soon as wide as it has to be. */
const GROWTH = 0.25;
const FAST_MS = 1000;
const SLOW_MS = 5000;

/** How many requests an endpoint may have in flight: more while it answers fast and well, two while it fails. */
export class Window {
  #allowed = WINDOW_START;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
    this.#allowed = Math.min(WINDOW_START, most);
  }

  get allowed(): number {
    return Math.floor(this.#allowed);
  }

  /** Grows only while all of it is used: an endpoint that needs two at a time has not shown that it can take fifty. */
  delivered(ms: number, wasFull: boolean): void {
    if (ms >= SLOW_MS) this.#allowed = Math.min(this.#allowed, Math.max(WINDOW_START, this.#allowed - 1));
    else if (wasFull && ms <= FAST_MS) this.#allowed = Math.min(this.#most, this.#allowed + GROWTH);
  }

  failed(): void {
    this.#allowed = Math.max(WINDOW_MIN, this.#allowed / 2);
  }
}
