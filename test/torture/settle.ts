import { setTimeout as sleep } from "node:timers/promises";
import type { StoreReader } from "./stored-rows.ts";

const PAUSE_MS = 200;

/**
 * Waits until no message can change before its validity ends. After the time limit it returns the number of unsettled
 * rows, which the reconciler then reports.
 */
export async function untilSettled(reader: StoreReader, withinMs: number): Promise<{ tookMs: number; left: number }> {
  const startedAt = performance.now();
  for (;;) {
    const left = await reader.countUnsettled();
    const tookMs = Math.round(performance.now() - startedAt);
    if (left === 0 || tookMs > withinMs) return { tookMs, left };
    await sleep(PAUSE_MS);
  }
}
