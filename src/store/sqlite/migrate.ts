import type { DatabaseSync } from "node:sqlite";
import { MIGRATIONS, pendingMigrations } from "../migrations/all.ts";
import { SQLITE, type Migration } from "../migrations/migration.ts";

/** Brings the schema up to date; each step is one transaction with the note that it was done. */
export function migrate(db: DatabaseSync, known: readonly Migration[] = MIGRATIONS): void {
  db.exec("create table if not exists migrations (name text primary key) strict");
  while (migrateOnce(db, known));
}

function migrateOnce(db: DatabaseSync, known: readonly Migration[]): boolean {
  db.exec("begin immediate");
  try {
    const done = db.prepare("select name from migrations").all() as { name: string }[];
    const [next] = pendingMigrations(
      done.map((row) => row.name),
      known,
    );
    if (next) {
      for (const statement of next.statements(SQLITE)) db.exec(statement);
      db.prepare("insert into migrations (name) values (?)").run(next.name);
    }
    db.exec("commit");
    return next !== undefined;
  } catch (error) {
    if (db.isTransaction) db.exec("rollback");
    throw error;
  }
}
