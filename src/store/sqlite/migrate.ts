import type { DatabaseSync } from "node:sqlite";
import { MIGRATIONS, pendingMigrations, type AppliedMigration } from "../migrations/all.ts";
import { SQLITE, type Migration } from "../migrations/migration.ts";

/** Applies pending migrations; each one runs in a transaction that also records it. */
export function migrate(db: DatabaseSync, known: readonly Migration[] = MIGRATIONS): void {
  db.exec("create table if not exists migrations (name text primary key) strict");
  if (!hasColumn(db)) db.exec("alter table migrations add column works_with text");
  while (migrateOnce(db, known));
}

/** The migrations that a database has, in their order. */
export function listApplied(db: DatabaseSync): AppliedMigration[] {
  // A file of the first days has no such column.
  const worksWith = hasColumn(db) ? "works_with" : "null";
  const rows = db.prepare(`select name, ${worksWith} as "worksWith" from migrations order by rowid`).all();
  return rows as unknown as AppliedMigration[];
}

const hasColumn = (db: DatabaseSync): boolean =>
  db.prepare("select 1 from pragma_table_info('migrations') where name = 'works_with'").get() !== undefined;

function migrateOnce(db: DatabaseSync, known: readonly Migration[]): boolean {
  db.exec("begin immediate");
  try {
    const [next] = pendingMigrations(listApplied(db), known);
    if (next) {
      for (const statement of next.statements(SQLITE)) db.exec(statement);
      db.prepare("insert into migrations (name, works_with) values (?, ?)").run(next.name, next.worksWith ?? null);
    }
    db.exec("commit");
    return next !== undefined;
  } catch (error) {
    if (db.isTransaction) db.exec("rollback");
    throw error;
  }
}
