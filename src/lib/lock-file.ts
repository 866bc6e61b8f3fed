import { DatabaseSync } from "node:sqlite";

/** Another process holds the lock. */
export class Locked extends Error {
  override name = "Locked";
}

/**
 * Locks a file for this process until it is released or the process ends. Node has no file locks, so SQLite's lock is
 * used: it belongs to the operating system, which releases it even after kill -9.
 */
export function lockFile(path: string): () => void {
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    db.exec("pragma locking_mode = exclusive");
    db.exec("begin exclusive");
  } catch (error) {
    db.close();
    if (((error as { errcode?: number }).errcode ?? 0) === 5) throw new Locked("the file is locked", { cause: error });
    throw error;
  }
  return () => db.close();
}
