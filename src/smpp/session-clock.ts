/** Source of time. Tests pass one that they control. */
export interface SessionClock {
  /** Milliseconds that never go backwards. */
  monotonic(): number;
  /** Runs once after the delay; the returned function cancels it. A pending timer must not keep the process alive. */
  after(delayMs: number, run: () => void): () => void;
}

export const realClock: SessionClock = {
  monotonic: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs).unref();
    return () => clearTimeout(timer);
  },
};
