import { DatabaseSync } from "node:sqlite";

/** Somebody else holds the lock. */
export class Locked extends Error {
  override name = "Locked";
}

/**
 * Holds a file for this process alone until it is released, or the process ends in any way at all.
 * Node has no file locks of its own; SQLite's are the operating system's, which even kill -9 gives back.
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
