/** Where a session's time comes from. Tests hand in one that they can move. */
export interface SessionClock {
  /** Milliseconds that only go forward. */
  monotonic(): number;
  /** Runs once after the delay; the returned function calls it off. A pending run must not keep the process alive. */
  after(delayMs: number, run: () => void): () => void;
}

export const realClock: SessionClock = {
  monotonic: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs).unref();
    return () => clearTimeout(timer);
  },
};
