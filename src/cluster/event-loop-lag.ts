import { monitorEventLoopDelay } from "node:perf_hooks";

const RESOLUTION_MS = 20;
/** Readings cover one to two windows. */
const WINDOW_MS = 10_000;
const NANOSECONDS = 1_000_000;

/** Delay between a callback being ready and the event loop running it, in milliseconds. */
export interface EventLoopLag {
  p50: number;
  p99: number;
  max: number;
}

/** Measures event-loop lag by the delay of timers. Reports the worse of the current and the last window. */
export function startEventLoopLag(): { read(): EventLoopLag; stop(): void } {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  // Every measurement includes the resolution.
  const lateMs = (nanoseconds: number): number =>
    Math.max(0, Math.round((nanoseconds / NANOSECONDS - RESOLUTION_MS) * 10) / 10) || 0;
  const current = (): EventLoopLag => ({
    p50: lateMs(delays.percentile(50)),
    p99: lateMs(delays.percentile(99)),
    max: delays.count === 0 ? 0 : lateMs(delays.max),
  });
  let last: EventLoopLag = { p50: 0, p99: 0, max: 0 };
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
