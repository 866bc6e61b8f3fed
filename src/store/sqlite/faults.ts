const STORAGE_FAULTS = new Set([5, 6, 8, 10, 13, 14]); // busy, locked, read-only, I/O, full, cannot open

/** Whether SQLite failed because of the disk or a lock, and not because of what was asked. */
export const isStorageFault = (error: unknown): boolean =>
  STORAGE_FAULTS.has(((error as { errcode?: number }).errcode ?? 0) & 0xff);
