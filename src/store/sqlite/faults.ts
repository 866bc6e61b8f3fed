const STORAGE_FAULTS = new Set([5, 6, 8, 10, 13, 14]); // busy, locked, read-only, I/O, full, cannot open

/** True if the disk or a lock caused the SQLite error, rather than the statement. */
export const isStorageFault = (error: unknown): boolean =>
  STORAGE_FAULTS.has(((error as { errcode?: number }).errcode ?? 0) & 0xff);
