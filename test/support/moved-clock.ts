import type { Clock } from "../../src/lib/clock.ts";

/** A clock that stands still until a test moves it. */
export class MovedClock implements Clock {
  #now: number;
  readonly #startedAt: number;
  #timers: { dueAt: number; run: () => void }[] = [];

  constructor(now = Date.UTC(2026, 0, 1, 12)) {
    this.#now = now;
    this.#startedAt = now;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now - this.#startedAt;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { dueAt: this.#now + delayMs, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Moves time on and runs what falls due on the way, in order, each at its own moment. */
  advance(ms: number): void {
    const target = this.#now + ms;
    for (;;) {
      const next = this.#timers.filter((timer) => timer.dueAt <= target).toSorted((a, b) => a.dueAt - b.dueAt)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#now = Math.max(this.#now, next.dueAt);
      next.run();
    }
    this.#now = target;
  }
}
