import { existsSync } from "node:fs";
import { readMasterKey } from "../accounts/master-key.ts";
import { databaseFileOf } from "../app/storage.ts";
import { writeTo } from "../backup/destination.ts";
import type { Manifest } from "../backup/manifest.ts";
import { readDestination } from "../backup/read-destination.ts";
import type { BackupRequest } from "../backup/write-backup.ts";
import { PROGRAM } from "../build-info.ts";
import { BadSetting, type Config } from "../config.ts";
import { ObjectStorageError } from "../object-storage/object-storage.ts";
import { askNewPassphrase } from "./passphrase.ts";
import { progressBar } from "./progress-bar.ts";
import type { Terminal } from "./terminal.ts";

interface BackupOptions {
  "passphrase-file"?: string | undefined;
  "without-key"?: boolean | undefined;
}

const MB = 1_000_000;

/** Writes a backup of the database and of the master key, beside a running server. */
export async function backup(
  config: Config,
  [folder = ""]: readonly string[],
  { "passphrase-file": file, "without-key": withoutKey = false }: BackupOptions,
  terminal: Terminal,
): Promise<string> {
  if (folder === "") throw new BadSetting("DIR is the folder or s3://bucket/prefix that gets the backup");
  const destination = readDestination(config, folder, "DIR");
  if (config.databaseUrl && withoutKey)
    throw new BadSetting("--without-key: on PostgreSQL only the master key is saved; use pg_dump for the database");
  const databaseFile = config.databaseUrl ? null : databaseFileOf(config);
  if (databaseFile !== null && !existsSync(databaseFile))
    throw new BadSetting(`HELIOGRAPH_DATA_DIR: there is no ${databaseFile}`);
  const key = withoutKey ? null : await keyOf(config, file, terminal);
  const { path, manifest } = await writeTo(destination, { databaseFile, key }, (progress) => {
    const { totalPages, remainingPages } = progress;
    const next = destination.kind === "bucket" ? "copied; verifying and uploading" : "copied; verifying";
    const text = remainingPages === 0 ? next : "copied";
    terminal.showProgress(progressBar(totalPages - remainingPages, totalPages, text));
  }).catch((error: unknown) => {
    throw error instanceof ObjectStorageError
      ? new Error(`${error.message}; no backup was written`, { cause: error })
      : error;
  });
  terminal.showProgress("");
  return report(path, manifest);
}

async function keyOf(config: Config, file: string | undefined, terminal: Terminal): Promise<BackupRequest["key"]> {
  const masterKey = readMasterKey(config.masterKey, config.dataDir);
  if (masterKey === null)
    throw new BadSetting(
      `there is no master key in ${config.dataDir}: set HELIOGRAPH_MASTER_KEY, or use --without-key if it is kept elsewhere`,
    );
  const passphrase = await askNewPassphrase({ file, setting: config.backupPassphrase }, terminal);
  return { masterKey, passphrase };
}

function report(path: string, { database, masterKey }: Manifest): string {
  const key = masterKey
    ? "The master key is in it, wrapped by the passphrase: keep the passphrase elsewhere."
    : "The master key is not in it: without the key, secrets and API keys of this backup are lost.";
  if (database === null)
    return [
      `${path} holds the master key only. ${key}`,
      "The database is PostgreSQL: back it up with pg_dump or pgBackRest. After restoring it, and before a node starts:",
      `  ${PROGRAM} hold`,
    ].join("\n");
  const { bytes, counts } = database;
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return `${path}: ${Math.ceil(bytes / MB)} MB, ${rows} rows, ${counts["messages"] ?? 0} of them messages; verified. ${key}`;
}
