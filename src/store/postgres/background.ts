import { setTimeout as sleep } from "node:timers/promises";
import type { BackgroundResult } from "../engine.ts";
import type { ConnectionPool, Statement } from "./pool.ts";

const LOOK_MS = 20;
/** A pool that stays full this long is not a burst: the transaction then waits for a connection like any other. */
const YIELD_MS = 1000;

/** The commit does not wait for the disk, nor for a standby. A power failure may undo it, and never one that was synced after it. */
const WITHOUT_SYNC: Statement = { text: "select set_config('synchronous_commit', 'off', true)" };

/** Runs statements of maintenance as one transaction, once the pool has a connection that no other caller needs. */
export async function runInBackground(
  pool: ConnectionPool,
  statements: readonly Statement[],
): Promise<BackgroundResult> {
  for (let waited = 0; pool.isFull && waited < YIELD_MS; waited += LOOK_MS) await sleep(LOOK_MS);
  return pool.transaction(async (query) => {
    await query(WITHOUT_SYNC);
    const start = performance.now();
    const changes: number[] = [];
    for (const statement of statements) changes.push((await query(statement)).count);
    return { changes, ms: performance.now() - start };
  });
}
