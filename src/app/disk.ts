import { createDiskWatch } from "../cluster/watch-disk.ts";
import type { AppBase } from "./base.ts";
import type { AppHold } from "./hold.ts";

const MB = 1_000_000;

/** Looks at the disk of the SQLite file for the first time; the returned function looks again. Null on PostgreSQL. */
export async function startDiskWatch(base: AppBase, { gate }: AppHold): Promise<(() => Promise<void>) | null> {
  const { config, log, metrics, overrides } = base;
  if (config.databaseUrl !== null || config.diskFreeMinMb === 0) return null;
  const deps = { log, metrics, gate, readSpace: overrides.readDiskSpace };
  const watch = createDiskWatch(deps, { folder: config.dataDir, minBytes: config.diskFreeMinMb * MB });
  await watch();
  return watch;
}
