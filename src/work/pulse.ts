import { monitorEventLoopDelay } from "node:perf_hooks";

const RESOLUTION_MS = 20;
/** What lies further back than two of these says nothing about how the process is now. */
const WINDOW_MS = 10_000;
const NANOSECONDS = 1_000_000;

/** How long whatever is ready has to wait for its turn in this process. */
export interface Pulse {
  p50: number;
  p99: number;
  max: number;
}

/** Measures how late timers come, which is how late everything comes: the worse of this window and the last. */
export function startPulse(): { read(): Pulse; stop(): void } {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  // The resolution itself is in every measurement.
  const lateMs = (nanoseconds: number): number =>
    Math.max(0, Math.round((nanoseconds / NANOSECONDS - RESOLUTION_MS) * 10) / 10) || 0;
  const current = (): Pulse => ({
    p50: lateMs(delays.percentile(50)),
    p99: lateMs(delays.percentile(99)),
    max: delays.count === 0 ? 0 : lateMs(delays.max),
  });
  let last: Pulse = { p50: 0, p99: 0, max: 0 };
  const window = setInterval(() => {
    last = current();
    delays.reset();
  }, WINDOW_MS).unref();
  return {
    read: () => {
      const { p50, p99, max } = current();
      return { p50: Math.max(p50, last.p50), p99: Math.max(p99, last.p99), max: Math.max(max, last.max) };
    },
    stop: () => {
      clearInterval(window);
      delays.disable();
    },
  };
}
