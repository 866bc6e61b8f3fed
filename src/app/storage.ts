import { accessSync, chmodSync, constants, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BadSetting, type Config } from "../config.ts";
import { keepErasedOptOuts, type DigestNumber } from "../contacts/erased-opt-outs.ts";
import type { Clock } from "../lib/clock.ts";
import { Locked, lockFile } from "../lib/lock-file.ts";
import { openPostgresStore } from "../store/postgres/postgres-store.ts";
import { withMeasurements } from "../store/measured.ts";
import { withSharedCounts } from "../store/shared-count.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { StorageUnavailable, type Store } from "../store/store.ts";
import type { AppBase, Overrides } from "./base.ts";

const START_RETRY_MS = 1000;

export const LOCK_FILE = "heliograph.lock";

export interface AppStorage {
  store: Store;
  close(): Promise<void>;
}

/** Locks the data directory, opens the configured engine and migrates its schema. */
export async function openStorage(base: AppBase): Promise<AppStorage> {
  const unlock = lockDataDir(base.config);
  const { clock, metrics } = base;
  const store = await openStoreWithRetry(base);
  const measured = withMeasurements(store, clock, (operation, seconds) =>
    metrics.databaseSeconds(operation).observe(seconds),
  );
  return {
    store: withSharedCounts(measured, clock),
    async close() {
      await store.close();
      unlock();
    },
  };
}

/** The opt-outs of erased numbers are keyed hashes, whose key is known once the secrets are loaded. */
export const withErasedOptOuts = (
  { clock }: AppBase,
  storage: AppStorage,
  { digestNumber }: { digestNumber: DigestNumber },
): AppStorage => ({ ...storage, store: keepErasedOptOuts(storage.store, { digestOf: digestNumber, clock }) });

/** Opens the configured store, without locking it: commands may use it beside a running server. */
export async function openStore(
  config: Config,
  clock: Clock,
  { onBroken, reportingThread }: Pick<Overrides, "onBroken" | "reportingThread"> = {},
): Promise<Store> {
  createDataDir(config.dataDir);
  restrictPermissions(config.dataDir);
  const reporting = { concurrency: config.reportingConcurrency, timeoutMs: config.reportingTimeoutSeconds * 1000 };
  if (config.databaseUrl) {
    const nodeSilentMs = config.nodeSilentSeconds * 1000;
    return openPostgresStore(config.databaseUrl, {
      connectTimeoutMs: config.databaseConnectTimeoutMs,
      statementTimeoutMs: config.databaseStatementTimeoutMs,
      pooler: config.databasePooler,
      readUrl: config.databaseReadUrl,
      nodeSilentMs,
      reporting,
      clock,
    });
  }
  const file = databaseFileOf(config);
  return namingFile(file, () => openSqliteStore(file, clock, { onBroken, reporting, reportingThread }));
}

export const databaseFileOf = ({ dataDir }: Config): string => join(dataDir, "heliograph.db");

/** Retries while the database is unavailable: after a reboot it may start later than this server. */
async function openStoreWithRetry({ config, clock, log, overrides }: AppBase): Promise<Store> {
  const giveUpAt = performance.now() + config.startWaitSeconds * 1000;
  for (;;) {
    try {
      return await openStore(config, clock, overrides);
    } catch (error) {
      const leftMs = giveUpAt - performance.now();
      if (!(error instanceof StorageUnavailable) || leftMs <= 0) throw error;
      log.warn(
        { reason: error.message, secondsLeft: Math.ceil(leftMs / 1000) },
        "database unavailable, trying to start again",
      );
      // A timer of `clock` would not keep the process alive.
      await sleep(Math.min(START_RETRY_MS, leftMs));
    }
  }
}

/** SQLite allows one node: a second one would send the messages that the first has in its queues. */
export function lockDataDir({ dataDir, databaseUrl }: Config): () => void {
  if (databaseUrl) return () => {};
  createDataDir(dataDir);
  const file = join(dataDir, LOCK_FILE);
  try {
    return namingFile(file, () => lockFile(file));
  } catch (error) {
    if (!(error instanceof Locked)) throw error;
    throw new BadSetting(`HELIOGRAPH_DATA_DIR: ${dataDir} is in use by another process`, { cause: error });
  }
}

/** Names the file in an error of SQLite, which says only what is wrong. */
function namingFile<T>(file: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    if (!(error instanceof Error) || (error as { code?: string }).code !== "ERR_SQLITE_ERROR") throw error;
    throw new BadSetting(`HELIOGRAPH_DATA_DIR: ${file} cannot be used: ${error.message}`, { cause: error });
  }
}

function createDataDir(dataDir: string): void {
  try {
    createFolder(dataDir);
    // With a slash at its end a path to a file is an error.
    accessSync(join(dataDir, "/"), constants.W_OK);
  } catch (error) {
    throw new BadSetting(`HELIOGRAPH_DATA_DIR: ${dataDir} is not a directory that can be written`, { cause: error });
  }
}

/**
 * Creates a folder and its parents, readable by this user only, because it holds message texts and numbers. Node's recursive
 * `mkdir` loops forever where the system reports an existing parent as missing, as `/proc` does.
 */
function createFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) createFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process that starts at the same time has created it.
    if ((error as { code?: string }).code !== "EEXIST") throw error;
  }
}

export const PRIVATE_FILE = /^(heliograph\.(db|lock)(-\w+)?|master\.key.*)$/;

/** Folder of the files that were uploaded or that users sent. */
export const MEDIA_FOLDER = "media";

/** Removes the access of other users to files of an earlier start or a restored copy. SQLite copies the mode to its other files. */
function restrictPermissions(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (name !== MEDIA_FOLDER && !PRIVATE_FILE.test(name)) continue;
    const path = join(dataDir, name);
    const found = statSync(path);
    const mode = found.isDirectory() ? 0o700 : 0o600;
    if ((found.mode & 0o077) !== 0) chmodSync(path, mode);
  }
}
