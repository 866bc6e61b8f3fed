import { open } from "node:fs/promises";
import { devNull } from "node:os";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../metrics.ts";

interface DescriptorWatchDeps {
  log: Log;
  metrics: Pick<Metrics, "descriptorsExhausted">;
  /** Opens and closes a file descriptor. */
  probe?(): Promise<void>;
}

const CODES = new Set(["EMFILE", "ENFILE"]);

/**
 * Detects that the process (EMFILE) or the system (ENFILE) has no file descriptor left. Node reports no error: libuv accepts and
 * closes incoming connections, and outgoing connections fail like any other.
 */
export function createDescriptorWatch({
  log,
  metrics,
  probe = openAndClose,
}: DescriptorWatchDeps): () => Promise<void> {
  let isExhausted = false;
  return async () => {
    try {
      await probe();
      if (isExhausted) log.warn("file descriptors available again");
      isExhausted = false;
    } catch (error) {
      const { code = "" } = error as { code?: string };
      if (!CODES.has(code)) throw error;
      metrics.descriptorsExhausted(code).inc();
      if (!isExhausted) log.error({ reason: code }, "file descriptors exhausted, connections are refused");
      isExhausted = true;
    }
  };
}

async function openAndClose(): Promise<void> {
  const file = await open(devNull);
  await file.close();
}
