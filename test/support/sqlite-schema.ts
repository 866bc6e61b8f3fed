import { backup, DatabaseSync } from "node:sqlite";
import { migrate } from "../../src/store/sqlite/migrate.ts";

let schema: DatabaseSync | null = null;

/**
 * Writes a database with an empty schema, or resets an open one to it for all its connections. The migrations run once
 * per process instead of once per store.
 */
export async function writeSqliteSchema(path: string): Promise<void> {
  schema ??= migrated();
  await backup(schema, path, { rate: ALL_AT_ONCE });
}

/** In pages; more than the database has. */
const ALL_AT_ONCE = 1_000_000;

function migrated(): DatabaseSync {
  const db = new DatabaseSync(":memory:");
  db.exec("pragma auto_vacuum = incremental");
  migrate(db);
  return db;
}
