import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { databaseFileOf, lockDataDir } from "../app/storage.ts";
import { addressOf, downloadBackup, listStored } from "../backup/bucket.ts";
import { BadBackup, listBackups, readManifest, type Manifest, type OnBytes } from "../backup/manifest.ts";
import { readBucket } from "../backup/read-destination.ts";
import { refuseExisting, restoreBackup, type Restored } from "../backup/restore-backup.ts";
import { withStagingFolder } from "../backup/staging.ts";
import { PROGRAM } from "../build-info.ts";
import { BadSetting, type Config } from "../config.ts";
import { isBucketUrl } from "../object-storage/bucket-url.ts";
import { WrongPassphrase } from "../lib/passphrase.ts";
import { SchemaTooNew } from "../store/migrations/all.ts";
import { DamagedFile } from "../store/sqlite/copy.ts";
import { askPassphrase } from "./passphrase.ts";
import { progressBar } from "./progress-bar.ts";
import type { Terminal } from "./terminal.ts";

interface RestoreOptions {
  "data-dir"?: string | undefined;
  "passphrase-file"?: string | undefined;
}

/** Restores a backup into a data directory without a database. The server then starts held. */
export async function restore(
  config: Config,
  [written = ""]: readonly string[],
  { "data-dir": dataDir = config.dataDir, "passphrase-file": file }: RestoreOptions,
  terminal: Terminal,
): Promise<string> {
  const bucket = isBucketUrl(written) ? readBucket(config, written, "BACKUP") : null;
  if (bucket) refuseSeveral(await listStored(bucket), (name) => addressOf(bucket, name));
  else refuseSeveral(checkFolder(written), (name) => join(written, name));
  const target = { ...config, dataDir: resolve(dataDir), databaseUrl: null };
  const unlock = lockDataDir(target);
  let databaseBytes = 0;
  const showBytes =
    (text: string): OnBytes =>
    (bytes) =>
      terminal.showProgress(progressBar(bytes, databaseBytes, text));
  const request = {
    onChecked: showBytes("checked"),
    dataDir: target.dataDir,
    databaseFile: databaseFileOf(target),
    masterKey: config.masterKey,
    now: Date.now(),
    askPassphrase: () => askPassphrase({ file, setting: config.backupPassphrase }, terminal),
  };
  const check = (manifest: Manifest): void => {
    if (config.databaseUrl !== null && manifest.database !== null)
      throw new BadBackup(
        "HELIOGRAPH_DATABASE_URL is set, and this is a backup of SQLite: unset it, or the server would not use the restored file",
      );
    refuseExisting(manifest, request.databaseFile);
    databaseBytes = manifest.database?.bytes ?? 0;
  };
  try {
    if (!bucket) {
      const backup = resolve(written);
      check(readManifest(backup));
      return report(await restoreBackup({ ...request, backup, isDownload: false }), target.dataDir);
    }
    return await withStagingFolder(target.dataDir, async (backup) => {
      await downloadBackup(bucket, backup, check, showBytes("downloaded"));
      return report(await restoreBackup({ ...request, backup, isDownload: true }), target.dataDir);
    });
  } catch (error) {
    const isRefusal =
      error instanceof BadBackup ||
      error instanceof WrongPassphrase ||
      error instanceof SchemaTooNew ||
      error instanceof DamagedFile;
    throw isRefusal ? new BadSetting(`${error.message}; nothing was restored`, { cause: error }) : error;
  } finally {
    terminal.showProgress("");
    unlock();
  }
}

/** Names of the backups in a folder; a backup itself has none. */
function checkFolder(folder: string): string[] {
  if (folder === "" || !existsSync(folder)) throw new BadSetting("BACKUP is the folder of one backup");
  return listBackups(folder);
}

function refuseSeveral(names: readonly string[], addressFor: (name: string) => string): void {
  const newest = names.at(-1);
  if (newest !== undefined) throw new BadSetting(`BACKUP is one backup, such as ${addressFor(newest)}`);
}

function report({ manifest, hasKey }: Restored, dataDir: string): string {
  const key = hasKey
    ? []
    : [`The backup lacks the master key: put it into ${join(dataDir, "master.key")}, or set HELIOGRAPH_MASTER_KEY.`];
  if (manifest.database === null)
    return [
      `${dataDir} has the master key. Restore the PostgreSQL database, then hold it before a node starts:`,
      `  ${PROGRAM} hold`,
    ].join("\n");
  return [
    `${dataDir} has the database of ${manifest.createdAt}, with ${manifest.database.counts["messages"] ?? 0} messages; verified.`,
    ...key,
    "It is held: the server starts, but accepts and sends nothing. Messages of the backup may have been sent since. Decide about them with",
    `  ${PROGRAM} resume`,
  ].join("\n");
}
