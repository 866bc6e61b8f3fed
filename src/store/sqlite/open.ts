import { DatabaseSync } from "node:sqlite";

/**
 * Opens the database with the required guarantees: a commit is synced before it returns, and readers never block the writer.
 */
export function openDatabase(path: string, options: { readOnly?: boolean; cacheMiB?: number } = {}): DatabaseSync {
  const db = new DatabaseSync(path, { readOnly: options.readOnly ?? false, timeout: 10_000 });
  // Possible before the first write only. It allows to free pages a few at a time. The pragma waits for other writers.
  if (!options.readOnly && isEmpty(db)) db.exec("pragma auto_vacuum = incremental");
  if (!options.readOnly) db.exec("pragma journal_mode = wal");
  db.exec("pragma synchronous = full");
  db.exec("pragma foreign_keys = on");
  // The default of 16 MiB holds the inner pages of every index; the page cache of the operating system holds the rest.
  db.exec(`pragma cache_size = -${(options.cacheMiB ?? 16) * 1024}`);
  db.exec("pragma wal_autocheckpoint = 4000");
  db.exec("pragma journal_size_limit = 67108864");
  return db;
}

const isEmpty = (db: DatabaseSync): boolean => db.prepare("pragma page_count").get()?.["page_count"] === 0;
