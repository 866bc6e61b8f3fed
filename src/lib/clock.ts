/** The source of time. Tests pass a clock that they can move, so that no test sleeps. */
export interface Clock {
  /** Wall time in epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds, for durations: wall time can jump. */
  monotonic(): number;
  /** Runs once after the delay; the returned function cancels it. A pending run does not keep the process alive. */
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

/**
 * Measures the time from now on by both clocks; the longer one counts. The monotonic clock stands still while the machine is
 * suspended, and wall time can jump back.
 */
export function startStopwatch(clock: Pick<Clock, "now" | "monotonic">): () => number {
  const [monotonic, wall] = [clock.monotonic(), clock.now()];
  return () => Math.max(clock.monotonic() - monotonic, clock.now() - wall);
}

/**
 * Runs repeatedly, with a pause between the end of one run and the start of the next. A run that resolves to a number
 * sets the next pause.
 */
export function every(clock: Clock, pauseMs: number, run: () => Promise<number | void>): { stop(): Promise<void> } {
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let cancel = clock.after(pauseMs, turn);
  function turn(): void {
    running = run().then((nextPauseMs) => {
      if (!stopped) cancel = clock.after(nextPauseMs ?? pauseMs, turn);
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
