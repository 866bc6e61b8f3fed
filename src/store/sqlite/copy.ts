import { backup, DatabaseSync } from "node:sqlite";
import type { AppliedMigration } from "../migrations/all.ts";
import { listApplied } from "./migrate.ts";

/** Pages of one step, 4 MiB: between two steps the process does other work and reports progress. */
const STEP_PAGES = 1024;

export interface CopyProgress {
  totalPages: number;
  remainingPages: number;
}

/** Contents of a database file, to compare it with a copy. */
export interface FileContents {
  /** The last migration that it has; null for a file without a schema. */
  migration: string | null;
  migrations: number;
  /** Rows of every table. */
  counts: Record<string, number>;
}

/** The file is damaged. */
export class DamagedFile extends Error {
  override name = "DamagedFile";
}

/**
 * Copies a database while other processes write to it. A read transaction keeps one snapshot for the whole copy. Without it,
 * SQLite starts the copy again after each commit of another connection, and under load it would never end. Meanwhile the
 * write-ahead log of the source cannot be reset, so it grows by everything that is written during the copy.
 */
export async function copyDatabase(
  source: string,
  target: string,
  { onSnapshot, onProgress }: { onSnapshot?: () => void; onProgress?: (progress: CopyProgress) => void } = {},
): Promise<void> {
  const db = new DatabaseSync(source, { readOnly: true, timeout: 10_000 });
  try {
    db.exec("begin");
    db.prepare("select count(*) from sqlite_schema").get();
    onSnapshot?.();
    await backup(db, target, { rate: STEP_PAGES, ...(onProgress && { progress: onProgress }) });
  } finally {
    db.close();
  }
}

/** Makes a copy a single file without a write-ahead log, and checks every page and index of it. */
export function checkCopy(path: string): FileContents {
  const db = new DatabaseSync(path, { timeout: 10_000 });
  try {
    db.exec("pragma journal_mode = delete");
    const [first] = db.prepare("pragma integrity_check(1)").all() as { integrity_check: string }[];
    if (first?.integrity_check !== "ok") throw new DamagedFile(`${path}: ${first?.integrity_check}`);
    return contentsOf(db);
  } finally {
    db.close();
  }
}

function contentsOf(db: DatabaseSync): FileContents {
  const tables = db
    .prepare(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name",
    )
    .all() as { name: string }[];
  const counts = tables.map(({ name }): [string, number] => {
    const row = db.prepare(`select count(*) as count from "${name}"`).get();
    return [name, Number(row?.["count"])];
  });
  const applied = tables.some(({ name }) => name === "migrations") ? listApplied(db) : [];
  return {
    migration: applied.at(-1)?.name ?? null,
    migrations: applied.length,
    counts: Object.fromEntries(counts),
  };
}

/** The migrations that a file has, in their order. */
export const listMigrations = (path: string): AppliedMigration[] => reading(path, listApplied);

function reading<T>(path: string, read: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** A value of the table `service`; null when the file has none. */
export const readServiceValue = (path: string, name: string): string | null =>
  reading(path, (db) => {
    const row = db.prepare("select value from service where name = ?").get(name);
    return (row?.["value"] as string | undefined) ?? null;
  });

/** Sets a value of the table `service`, in a file that no other process uses. */
export function writeServiceValue(path: string, name: string, value: string): void {
  const db = new DatabaseSync(path, { timeout: 10_000 });
  try {
    db.exec("pragma synchronous = full");
    db.prepare(
      "insert into service (name, value) values (?, ?) on conflict (name) do update set value = excluded.value",
    ).run(name, value);
  } finally {
    db.close();
  }
}
