import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { readMasterKey } from "../accounts/master-key.ts";
import { databaseFileOf, lockDataDir } from "../app/storage.ts";
import { PROGRAM } from "../build-info.ts";
import { BadSetting, type Config } from "../config.ts";
import { SchemaTooNew } from "../store/migrations/all.ts";
import { CopyRefused, TargetInUse } from "../store/transfer/target.ts";
import { CopyDiffers, transfer, type CopiedTable, type Transferred } from "../store/transfer/transfer.ts";
import { progressBar } from "./progress-bar.ts";
import type { Terminal } from "./terminal.ts";

interface MigrateOptions {
  "data-dir"?: string | undefined;
}

/** Copies the SQLite database of a stopped server into an empty PostgreSQL database, and compares every row. */
export async function migrate(
  config: Config,
  _args: readonly string[],
  { "data-dir": dataDir = config.dataDir }: MigrateOptions,
  terminal: Terminal,
): Promise<string> {
  if (config.databaseUrl === null)
    throw new BadSetting("HELIOGRAPH_DATABASE_URL: set it to the empty PostgreSQL database that gets the data");
  const source = { ...config, dataDir: resolve(dataDir), databaseUrl: null };
  const file = databaseFileOf(source);
  if (!existsSync(file)) throw new BadSetting(`HELIOGRAPH_DATA_DIR: there is no ${file}`);
  const unlock = lockDataDir(source);
  try {
    const request = {
      file,
      url: config.databaseUrl,
      connectTimeoutMs: config.databaseConnectTimeoutMs,
      pooler: config.databasePooler,
      now: Date.now(),
    };
    const transferred = await transfer(request, ({ step, table, done, rows }) =>
      terminal.showProgress(progressBar(done, rows, `${step} ${table}: ${done} of ${rows} rows`)),
    );
    terminal.showProgress("");
    const hasKey = readMasterKey(config.masterKey, source.dataDir) !== null;
    return [...report(transferred, file, hasKey)].join("\n");
  } catch (error) {
    terminal.showProgress("");
    const isRefusal =
      error instanceof TargetInUse ||
      error instanceof CopyRefused ||
      error instanceof CopyDiffers ||
      error instanceof SchemaTooNew;
    throw isRefusal ? new BadSetting(`${error.message}; nothing was copied`, { cause: error }) : error;
  } finally {
    unlock();
  }
}

function* report({ isNew, tables, unsent }: Transferred, file: string, hasKey: boolean): Generator<string> {
  if (!isNew) {
    yield "This database was copied by an earlier run, and compared. Nothing was left to do.";
  } else {
    yield* tableOf(tables);
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    yield `${rows} rows in ${tables.length} tables copied, read back and compared: all are the same.`;
  }
  yield `Not sent yet: ${unsent.waiting}. In doubt: ${unsent.inDoubt}; as after a crash, OTP and TRANS are submitted again, and PROMO waits for a receipt.`;
  yield `${file} is held from now on: a server that starts on it sends nothing. Keep it until you have a backup of PostgreSQL.`;
  yield `Every node needs the same master key: ${hasKey ? "" : "it is missing here; "}copy master.key into its data directory, or set HELIOGRAPH_MASTER_KEY.`;
  yield `Start the server with HELIOGRAPH_DATABASE_URL to go on. To look around before anything is sent, run ${PROGRAM} hold first.`;
}

/** One line for each table with rows. */
function* tableOf(tables: readonly CopiedTable[]): Generator<string> {
  const named = tables.filter(({ rows }) => rows > 0);
  const width = Math.max(...named.map(({ name }) => name.length));
  const digits = Math.max(...named.map(({ rows }) => String(rows).length));
  for (const { name, rows, checksum } of named)
    yield `${name.padEnd(width)}  ${String(rows).padStart(digits)} rows  ${checksum}`;
}
