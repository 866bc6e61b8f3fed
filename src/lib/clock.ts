/** Where time comes from. Tests hand in a clock they can move, so nothing has to sleep. */
export interface Clock {
  /** Wall time in epoch milliseconds. */
  now(): number;
  /** Milliseconds that only go forward; for spans, because wall time can jump. */
  monotonic(): number;
  /** Runs once after the delay; the returned function calls it off. A pending run never keeps the process alive. */
  after(delayMs: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

/** Runs again and again with a pause between the end of one run and the start of the next. */
export function every(clock: Clock, pauseMs: number, run: () => Promise<void>): { stop(): Promise<void> } {
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let cancel = clock.after(pauseMs, turn);
  function turn(): void {
    running = run().then(() => {
      if (!stopped) cancel = clock.after(pauseMs, turn);
    });
  }
  return {
    stop: () => {
      stopped = true;
      cancel();
      return running;
    },
  };
}
