import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Log } from "../lib/log.ts";

const MIB = 1_048_576;
/** Above what usual traffic adds, so that only a burst leads to a collection. */
const GROWTH_MIN_BYTES = 64 * MIB;
/** Share of a core that the process uses while it is idle; its jobs take half of it. */
const IDLE_MAX = 0.1;

interface MemoryReleaseDeps {
  log: Log;
  residentBytes?(): number;
  /** Share of a core that the process used since the last call. */
  busyShare?(): number;
  collect?(): void;
}

/**
 * Returns memory to the system once the node is idle after a burst. V8 collects garbage only when it allocates, and keeps the freed
 * pages in a pool: 200 requests of 1 MB at once left 230 MB of them. A collection takes 50 to 70 ms of CPU, in which the event loop pauses.
 */
export function createMemoryRelease({
  log,
  residentBytes = () => process.memoryUsage.rss(),
  busyShare = createBusyShare(),
  collect = collectGarbage,
}: MemoryReleaseDeps): () => Promise<void> {
  // Zero, so that the first idle run collects what the start left behind.
  let lowest = 0;
  return async () => {
    const share = busyShare();
    const before = residentBytes();
    if (share > IDLE_MAX || before - lowest < GROWTH_MIN_BYTES) {
      lowest = Math.min(lowest, before);
      return;
    }
    collect();
    lowest = residentBytes();
    log.info({ beforeMiB: Math.round(before / MIB), afterMiB: Math.round(lowest / MIB) }, "memory released");
  };
}

/** CPU time, not the utilization of the event loop: that counts the time that a process waits for a busy machine as its own. */
function createBusyShare(): () => number {
  let last = { cpu: process.cpuUsage(), at: performance.now() };
  return () => {
    const { user, system } = process.cpuUsage(last.cpu);
    const elapsedMs = performance.now() - last.at;
    last = { cpu: process.cpuUsage(), at: performance.now() };
    return (user + system) / 1000 / elapsedMs;
  };
}

/** Only a collection of last resort empties V8's pool of pages. Node offers it in contexts that are created under this flag. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: object) => void;
  setFlagsFromString("--no-expose-gc");
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
}
