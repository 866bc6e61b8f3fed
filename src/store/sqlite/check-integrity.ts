import { setPriority } from "node:os";
import type { DatabaseSync } from "node:sqlite";
import { openDatabase } from "./open.ts";

/** A process that checks a database file and prints the faults as JSON. It reads one snapshot and blocks no writer. */

const FAULTS_MAX = 5;
/** Behind everything else on a busy machine. */
const NICENESS = 19;
const [CORRUPT, NOT_A_DATABASE] = [11, 26];

const [path = ""] = process.argv.slice(2);
setPriority(NICENESS);
process.stdout.write(JSON.stringify(faultsOf(path)));

function faultsOf(file: string): string[] {
  let db: DatabaseSync | null = null;
  try {
    db = openDatabase(file, { readOnly: true });
    // Each page and row. The checks of the indexes too would read the file several times; those of a backup do that.
    const rows = db.prepare(`pragma quick_check(${FAULTS_MAX})`).all() as { quick_check: string }[];
    const found = rows.map(({ quick_check: fault }) => fault);
    return found.join() === "ok" ? [] : found;
  } catch (error) {
    const { message, errcode } = error as { message: string; errcode?: number };
    const code = (errcode ?? 0) & 0xff;
    if (code === CORRUPT || code === NOT_A_DATABASE) return [message];
    throw error;
  } finally {
    db?.close();
  }
}
