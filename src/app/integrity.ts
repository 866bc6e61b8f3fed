import { IntegrityWatch } from "../cluster/watch-integrity.ts";
import { startIntegrityCheck } from "../store/sqlite/integrity-check.ts";
import type { AppBase } from "./base.ts";
import { databaseFileOf, type AppStorage } from "./storage.ts";

const HOUR_MS = 3_600_000;

/** Prepares the checks of the SQLite file, and reads the result of the last one. Null on PostgreSQL, and where they are switched off. */
export async function createIntegrityWatch(base: AppBase, { store }: AppStorage): Promise<IntegrityWatch | null> {
  const { config, clock, log, metrics } = base;
  if (config.databaseUrl !== null || config.integrityCheckHours === 0) return null;
  const start = () => startIntegrityCheck(databaseFileOf(config));
  const watch = new IntegrityWatch(
    { store, clock, log, metrics, start },
    { everyMs: config.integrityCheckHours * HOUR_MS },
  );
  await watch.load();
  return watch;
}
