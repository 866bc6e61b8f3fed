import { monitorEventLoopDelay } from "node:perf_hooks";

const RESOLUTION_MS = 20;
/** What lies further back says nothing about how the process is now. */
const WINDOW_MS = 60_000;
const NANOSECONDS = 1_000_000;

/** How long whatever is ready has to wait for its turn in this process. */
export interface Pulse {
  p50: number;
  p99: number;
  max: number;
}

/** Measures how late timers come, which is how late everything comes. */
export function startPulse(): { read(): Pulse; stop(): void } {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const window = setInterval(() => delays.reset(), WINDOW_MS).unref();
  // The resolution itself is in every measurement.
  const lateMs = (nanoseconds: number): number =>
    Math.max(0, Math.round((nanoseconds / NANOSECONDS - RESOLUTION_MS) * 10) / 10) || 0;
  return {
    read: () => ({
      p50: lateMs(delays.percentile(50)),
      p99: lateMs(delays.percentile(99)),
      max: delays.count === 0 ? 0 : lateMs(delays.max),
    }),
    stop: () => {
      clearInterval(window);
      delays.disable();
    },
  };
}
