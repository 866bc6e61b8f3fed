import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { readMasterKey, FINGERPRINT, fingerprintOf, keyFileOf } from "../accounts/master-key.ts";
import { unwrapSecret, type WrappedSecret } from "../lib/passphrase.ts";
import { HOLD, type Hold } from "../model/hold.ts";
import { pendingMigrations } from "../store/migrations/all.ts";
import { checkCopy, listMigrations, readServiceValue, writeServiceValue } from "../store/sqlite/copy.ts";
import { BadBackup, DATABASE, readManifest, sha256Of, sync, type Manifest, type OnBytes } from "./manifest.ts";

export interface RestoreRequest {
  /** The folder of one backup. */
  backup: string;
  /** The folder is a download that may be used up: a large file is moved rather than copied. */
  isDownload: boolean;
  dataDir: string;
  /** Path of the restored database file. */
  databaseFile: string;
  /** Value of HELIOGRAPH_MASTER_KEY. */
  masterKey: string | null;
  now: number;
  /** Reports how much of the database file has been checked. */
  onChecked?: OnBytes;
  /** Called only if the backup holds a master key that the data directory lacks. */
  askPassphrase(): Promise<string>;
}

export interface Restored {
  manifest: Manifest;
  /** False if the key of this database must still be put into place. */
  hasKey: boolean;
}

/**
 * Puts the database and the master key of a backup into a data directory without a database. Everything is checked first, and
 * the copy is marked as held before it gets its name: a server that starts at any moment finds no database or a held one.
 */
export async function restoreBackup(request: RestoreRequest): Promise<Restored> {
  const { backup, isDownload, dataDir, databaseFile, now } = request;
  const manifest = readManifest(backup);
  refuseExisting(manifest, databaseFile);
  await checkFiles(request, manifest);
  const key = await findKey(request, manifest);
  const partial = `${databaseFile}.restoring`;
  const removePartial = (): void => {
    for (const suffix of ["", "-wal", "-journal"]) rmSync(partial + suffix, { force: true });
  };
  removePartial();
  try {
    if (manifest.database) {
      const file = join(backup, DATABASE);
      if (isDownload) renameSync(file, partial);
      else copyFileSync(file, partial, constants.COPYFILE_FICLONE);
      chmodSync(partial, 0o600);
      checkContents(partial, manifest.database, manifest.masterKeyFingerprint);
      const hold: Hold = { since: now, reason: "restore", snapshotAt: Date.parse(manifest.createdAt), resume: null };
      writeServiceValue(partial, HOLD, JSON.stringify(hold));
      sync(partial);
    }
    if (key.toWrite !== null)
      writeFileSync(keyFileOf(dataDir), `${key.toWrite}\n`, { mode: 0o600, flag: "wx", flush: true });
    if (manifest.database) renameSync(partial, databaseFile);
    sync(dataDir);
  } catch (error) {
    removePartial();
    throw error;
  }
  return { manifest, hasKey: key.isThere };
}

/** A restore replaces no database. */
export function refuseExisting({ database }: Manifest, databaseFile: string): void {
  for (const suffix of ["", "-wal", "-journal"])
    if (database && existsSync(databaseFile + suffix))
      throw new BadBackup(
        `${databaseFile + suffix} exists: restore into an empty data directory, or move it away first`,
      );
}

async function checkFiles(
  { backup, onChecked }: Pick<RestoreRequest, "backup" | "onChecked">,
  { database, masterKey }: Manifest,
): Promise<void> {
  for (const { file, sha256 } of [database, masterKey].filter((each) => each !== null)) {
    const path = join(backup, file);
    if (!existsSync(path)) throw new BadBackup(`${path} is missing`);
    if ((await sha256Of(path, file === DATABASE ? onChecked : undefined)) !== sha256)
      throw new BadBackup(`${path} has changed since the backup: its SHA-256 differs`);
  }
}

function checkContents(path: string, expected: NonNullable<Manifest["database"]>, fingerprint: string | null): void {
  const { counts } = checkCopy(path);
  const wrong = Object.entries(expected.counts).filter(([table, count]) => counts[table] !== count);
  if (wrong.length > 0) throw new BadBackup(`the rows of ${wrong.map(([table]) => table).join(", ")} are not complete`);
  if (readServiceValue(path, FINGERPRINT) !== fingerprint) throw new BadBackup("the manifest is of another database");
  // Throws if the backup is of a newer release.
  pendingMigrations(listMigrations(path));
}

/** The key to write into the data directory; null if it is there already, or has to come from elsewhere. */
async function findKey(
  { backup, dataDir, masterKey, askPassphrase }: RestoreRequest,
  { masterKey: wrapped, masterKeyFingerprint }: Manifest,
): Promise<{ toWrite: string | null; isThere: boolean }> {
  const present = readMasterKey(masterKey, dataDir);
  const fits = (key: string): boolean =>
    masterKeyFingerprint === null || fingerprintOf(Buffer.from(key)) === masterKeyFingerprint;
  if (present !== null) {
    if (fits(present)) return { toWrite: null, isThere: true };
    const source = masterKey === null ? keyFileOf(dataDir) : "HELIOGRAPH_MASTER_KEY";
    throw new BadBackup(`${source} is another master key than that of the backup: remove it first`);
  }
  if (wrapped === null) return { toWrite: null, isThere: masterKeyFingerprint === null };
  const file = join(backup, wrapped.file);
  const key = await unwrapSecret(JSON.parse(readFileSync(file, "utf8")) as WrappedSecret, await askPassphrase());
  if (!fits(key) || key.trim() !== key) throw new BadBackup(`${file} does not hold the key of the database`);
  return { toWrite: key, isThere: true };
}
