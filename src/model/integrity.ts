/** The last check of the SQLite file. */
export interface LastIntegrityCheck {
  at: number;
  /** The first faults that SQLite reported; empty if it found none. */
  faults: readonly string[];
}

/** The name of the service value. */
export const INTEGRITY_CHECK = "integrity-check";

export const readLastCheck = (stored: string | null): LastIntegrityCheck | null =>
  stored === null ? null : (JSON.parse(stored) as LastIntegrityCheck);

export const RESTORE_ADVICE =
  "Stop the server, keep a copy of the data directory, and restore the newest backup (docs/backup.md); messages since then are in the copy. Check the disk and the memory of the machine.";
