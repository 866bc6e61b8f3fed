import { DatabaseSync } from "node:sqlite";

/** Opens the database with the promises we build on: a commit is synced before it returns, readers never block the writer. */
export function openDatabase(path: string, options: { readOnly?: boolean; cacheMiB?: number } = {}): DatabaseSync {
  const db = new DatabaseSync(path, { readOnly: options.readOnly ?? false, timeout: 10_000 });
  if (!options.readOnly) db.exec("pragma journal_mode = wal");
  db.exec("pragma synchronous = full");
  db.exec("pragma foreign_keys = on");
  // Enough for the inner pages of every index; what else a larger one would hold, the system has in memory as well.
  db.exec(`pragma cache_size = -${(options.cacheMiB ?? 16) * 1024}`);
  db.exec("pragma wal_autocheckpoint = 4000");
  db.exec("pragma journal_size_limit = 67108864");
  return db;
}
