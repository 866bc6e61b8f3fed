import { setTimeout as sleep } from "node:timers/promises";
import type { Witness } from "./stored-rows.ts";

const PAUSE_MS = 200;

/** Waits until nothing is ahead of any message but the end of a validity; gives up with what is left, for the reconciler to name. */
export async function untilSettled(witness: Witness, withinMs: number): Promise<{ tookMs: number; left: number }> {
  const startedAt = performance.now();
  for (;;) {
    const left = await witness.countUnsettled();
    const tookMs = Math.round(performance.now() - startedAt);
    if (left === 0 || tookMs > withinMs) return { tookMs, left };
    await sleep(PAUSE_MS);
  }
}
