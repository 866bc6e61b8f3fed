import { backup, DatabaseSync } from "node:sqlite";
import { migrate } from "../../src/store/sqlite/migrate.ts";

let schema: DatabaseSync | null = null;

/**
 * Lays down a database with nothing in it but its schema, or makes one that is in use such a database again, for all who have
 * it open: the migrations run once for a process, not for every store.
 */
export async function writeSqliteSchema(path: string): Promise<void> {
  schema ??= migrated();
  await backup(schema, path, { rate: ALL_AT_ONCE });
}

/** In pages, more than there are. */
const ALL_AT_ONCE = 1_000_000;

function migrated(): DatabaseSync {
  const db = new DatabaseSync(":memory:");
  migrate(db);
  return db;
}
