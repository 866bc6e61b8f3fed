import type { Clock } from "../../src/lib/clock.ts";

/** A clock that stands still until a test moves it. */
export class MovedClock implements Clock {
  /** Wall-clock time minus monotonic time. */
  #offset: number;
  #elapsed = 0;
  #timers: { dueAt: number; run: () => void }[] = [];

  constructor(now = Date.UTC(2026, 0, 1, 12)) {
    this.#offset = now;
  }

  now(): number {
    return this.#offset + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { dueAt: this.#elapsed + delayMs, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Sets the wall clock back, as an operator or NTP does. Monotonic time and timers are unaffected. */
  setBack(ms: number): void {
    this.#offset -= ms;
  }

  /** Advances the time and runs the timers that become due, in order and each at its own time. */
  advance(ms: number): void {
    const target = this.#elapsed + ms;
    for (;;) {
      const next = this.#timers.filter((timer) => timer.dueAt <= target).toSorted((a, b) => a.dueAt - b.dueAt)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#elapsed = Math.max(this.#elapsed, next.dueAt);
      next.run();
    }
    this.#elapsed = target;
  }
}
