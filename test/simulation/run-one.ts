// Runs one plan in this process and prints its result as JSON. Started by simulate.ts: one process per run, because modules keep
// state (random bytes, memos) that would differ in a second run.
import { seedGlobals } from "./replace-globals.ts";
import { runThreadsInProcess } from "./threads-in-process.ts";
import { appendFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/lib/clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { recordMovesInSqlite } from "./record-moves.ts";
import { openStoreGate } from "./store-gate.ts";
import { openSimulatedDatabase, type OpenStore } from "./simulated-database.ts";
import type { Plan } from "./plan.ts";
import { runPlan } from "./run.ts";
import { seededRandom } from "../torture/random.ts";

/** The request of simulate.ts. */
export interface Order {
  plan: Plan;
  /** The PostgreSQL server, where the plan needs one. */
  postgresUrl: string | null;
  /** A file for every event and store call. */
  trace: string | null;
}

/** A file system in memory, where there is one: a run waits for thousands of commits. */
const SCRATCH = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** Opens an empty store that reads the time of the world. */
const openEmpty =
  ({ plan, postgresUrl }: Order): OpenStore =>
  async (source) => {
    if (plan.engine === "postgres") return openSimulatedDatabase(postgresUrl ?? "", source);
    const folder = mkdtempSync(join(SCRATCH, "heliograph-simulated-store-"));
    const file = join(folder, "heliograph.db");
    const store = openSqliteStore(file, { ...systemClock, now: () => source.world.now });
    return {
      store,
      moves: recordMovesInSqlite(file),
      openFor: async (process) => openStoreGate({ ...source, process, store, faults: () => source.faults(process) }),
      disconnect: () => undefined,
      async discard() {
        await store.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  };

async function runOrder(order: Order): Promise<void> {
  runThreadsInProcess();
  seedGlobals(seededRandom(order.plan.seed));
  const { trace } = order;
  const write = trace === null ? null : (line: string): void => appendFileSync(trace, `${line}\n`);
  const result = await runPlan(order.plan, openEmpty(order), write);
  const { counts, looks } = result;
  const report = { ...result, counts: Object.fromEntries(counts), looks: Object.fromEntries(looks) };
  process.send?.(report, () => process.exit(0));
}

process.once("message", (order: Order) => {
  runOrder(order).catch((error: unknown) => {
    process.stderr.write(`the simulation failed: ${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  });
});
