import { existsSync } from "node:fs";
import { databaseFileOf, lockDataDir } from "../app/storage.ts";
import { BadSetting, type Config } from "../config.ts";
import { compactFile } from "../store/sqlite/compact.ts";

const MB = 1_000_000;

/** Rewrites the database file of a stopped server without the space of deleted rows. */
export async function compactDatabase(config: Config): Promise<string> {
  if (config.databaseUrl)
    throw new BadSetting(
      "HELIOGRAPH_DATABASE_URL: PostgreSQL frees space by itself; VACUUM FULL returns it to the disk",
    );
  const path = databaseFileOf(config);
  if (!existsSync(path)) throw new BadSetting(`HELIOGRAPH_DATA_DIR: there is no ${path}`);
  const unlock = lockDataDir(config);
  try {
    const { beforeBytes, afterBytes } = compactFile(path);
    return `${path}: ${sizeOf(beforeBytes)} before, ${sizeOf(afterBytes)} now. It shrinks by itself from now on.`;
  } finally {
    unlock();
  }
}

const sizeOf = (bytes: number): string => `${Math.ceil(bytes / MB)} MB`;
