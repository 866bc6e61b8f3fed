import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FINGERPRINT, fingerprintOf, WrongMasterKey } from "../accounts/master-key.ts";
import { buildInfo } from "../build-info.ts";
import { wrapSecret } from "../lib/passphrase.ts";
import { checkCopy, copyDatabase, readServiceValue, type CopyProgress } from "../store/sqlite/copy.ts";
import {
  DATABASE,
  listBackups,
  MANIFEST,
  nameOf,
  newManifest,
  sha256Of,
  sync,
  WRAPPED_KEY,
  type Manifest,
} from "./manifest.ts";

export interface BackupRequest {
  /** The folder that holds backups; each one is a folder in it. */
  folder: string;
  /** The SQLite file; null on PostgreSQL. */
  databaseFile: string | null;
  /** Null leaves the master key out. */
  key: { masterKey: string; passphrase: string } | null;
}

export interface WrittenBackup {
  path: string;
  manifest: Manifest;
}

const PARTIAL = /^\.heliograph-.*\.partial$/;
/** A backup in progress is younger. */
const ABANDONED_MS = 86_400_000;

/**
 * Writes a backup under a temporary name, verifies it, and gives it its name once everything is on disk. A crash leaves no
 * backup that looks whole.
 */
export async function writeBackup(
  { folder, databaseFile, key }: BackupRequest,
  onProgress?: (progress: CopyProgress) => void,
): Promise<WrittenBackup> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeAbandoned(folder);
  const partial = join(folder, `.${nameOf(Date.now())}-${process.pid}.partial`);
  mkdirSync(partial, { mode: 0o700 });
  try {
    let at = Date.now();
    const onSnapshot = (): void => void (at = Date.now());
    const database =
      databaseFile === null ? null : await copyVerified(databaseFile, join(partial, DATABASE), onSnapshot, onProgress);
    const fingerprint =
      database === null
        ? key && fingerprintOf(Buffer.from(key.masterKey))
        : readServiceValue(join(partial, DATABASE), FINGERPRINT);
    if (key && fingerprint !== null && fingerprint !== fingerprintOf(Buffer.from(key.masterKey)))
      throw new WrongMasterKey("the database was set up under another master key than the one to back up");
    const manifest = newManifest({
      version: buildInfo.version,
      commit: buildInfo.commit,
      engine: databaseFile === null ? "postgres" : "sqlite",
      createdAt: new Date(at).toISOString(),
      database,
      masterKey: key && (await writeWrappedKey(join(partial, WRAPPED_KEY), key)),
      masterKeyFingerprint: fingerprint,
    });
    writePrivate(join(partial, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
    sync(partial);
    const path = freeNameOf(folder, at);
    renameSync(partial, path);
    sync(folder);
    return { path, manifest };
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

async function copyVerified(
  source: string,
  target: string,
  onSnapshot: () => void,
  onProgress?: (progress: CopyProgress) => void,
): Promise<Manifest["database"]> {
  // Created first, because SQLite would create it with the rights of the process.
  writePrivate(target, "");
  await copyDatabase(source, target, { onSnapshot, ...(onProgress && { onProgress }) });
  const contents = checkCopy(target);
  chmodSync(target, 0o600);
  sync(target);
  return { file: DATABASE, bytes: statSync(target).size, sha256: await sha256Of(target), ...contents };
}

async function writeWrappedKey(
  file: string,
  { masterKey, passphrase }: NonNullable<BackupRequest["key"]>,
): Promise<Manifest["masterKey"]> {
  writePrivate(file, `${JSON.stringify(await wrapSecret(masterKey, passphrase), null, 2)}\n`);
  return { file: WRAPPED_KEY, sha256: await sha256Of(file) };
}

const writePrivate = (file: string, content: string): void =>
  writeFileSync(file, content, { mode: 0o600, flag: "wx", flush: true });

function freeNameOf(folder: string, at: number): string {
  for (let number = 1; ; number += 1) {
    const path = join(folder, number === 1 ? nameOf(at) : `${nameOf(at)}-${number}`);
    if (!existsSync(path)) return path;
  }
}

/** Removes what a backup left behind whose process was killed. */
function removeAbandoned(folder: string): void {
  for (const name of readdirSync(folder).filter((entry) => PARTIAL.test(entry))) {
    const path = join(folder, name);
    if (statSync(path).mtimeMs < Date.now() - ABANDONED_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** Deletes the oldest backups beyond a number; returns their names. */
export function pruneBackups(folder: string, keep: number): string[] {
  const surplus = listBackups(folder).slice(0, -keep);
  for (const name of surplus) rmSync(join(folder, name), { recursive: true, force: true });
  return surplus;
}
