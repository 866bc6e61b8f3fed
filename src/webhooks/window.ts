/** Window of an endpoint without history. */
export const WINDOW_START = 10;
/** Window while it fails. */
const WINDOW_MIN = 2;
/** Growth per window of good answers: gentle to a recovering endpoint, and wide enough soon. */
const GROWTH = 0.25;
const FAST_MS = 1000;
const SLOW_MS = 5000;

/** Congestion window: requests an endpoint may have in flight. It grows while answers are fast, and is two while they fail. */
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

  /** Grows only while it is full: two requests at a time do not prove that the endpoint can take fifty. */
  delivered(ms: number, wasFull: boolean): void {
    if (ms >= SLOW_MS) this.#allowed = Math.min(this.#allowed, Math.max(WINDOW_START, this.#allowed - 1));
    else if (wasFull && ms <= FAST_MS) this.#allowed = Math.min(this.#most, this.#allowed + GROWTH);
  }

  failed(): void {
    this.#allowed = Math.max(WINDOW_MIN, this.#allowed / 2);
  }
}
