import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { AppliedMigration } from "../migrations/all.ts";
import { listApplied } from "./migrate.ts";

/** A service-wide value in a database file; null if it is not set. Takes no lock. */
export function serviceValue(path: string, name: string): string | null {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 1000 });
  try {
    const row = db.prepare("select value from service where name = ?").get(name);
    return row ? String(row["value"]) : null;
  } finally {
    db.close();
  }
}

/** The migrations in a database file; null if there is no file or no schema in it. Takes no lock. */
export function appliedMigrations(path: string): readonly AppliedMigration[] | null {
  if (!existsSync(path)) return null;
  const db = new DatabaseSync(path, { readOnly: true, timeout: 1000 });
  try {
    const table = db.prepare("select 1 from sqlite_master where name = 'migrations'").get();
    if (!table) return null;
    return listApplied(db);
  } finally {
    db.close();
  }
}
