import { availableParallelism } from "node:os";
import { setFlagsFromString } from "node:v8";
import { startApp, type App } from "./app.ts";
import { WrongMasterKey } from "./accounts/master-key.ts";
import { BadSetting, readConfig, unknownSettings } from "./config.ts";
import { createLog } from "./lib/log.ts";
import { SchemaTooNew } from "./store/migrations/all.ts";
import { StorageUnavailable } from "./store/store.ts";
import { welcome } from "./welcome.ts";

const STOP_WITHIN_MS = 9000;
const SQLITE_MIN = "3.51.3"; // earlier ones can corrupt the database when the write-ahead log is reset

/**
 * Objects begin among the young ones, in all threads. V8 else puts those of a place in the code among the old where most have
 * lived long at first, as messages do while everything is being compiled; dead, they keep whatever they point to, and every
 * collection copies that.
 */
const YOUNG_FIRST = "--no-allocation-site-pretenuring";

const say = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  await main();
} catch (error) {
  fail(error);
}

function fail(error: unknown): never {
  process.stderr.write(`heliograph: ${explain(error)}\n`);
  process.exit(1);
}

/** Settings, then the house, then the signals that end it. */
async function main(): Promise<void> {
  checkRuntime();
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  for (const name of unknownSettings(process.env))
    log.warn({ setting: name }, "setting is not known and has no effect");
  const app = await startApp(config, { log, porter: availableParallelism() > 1, onBroken: fail });
  // Not before everything is loaded: Node's own code is kept compiled for the flags that it was built with.
  setFlagsFromString(YOUNG_FIRST);
  // Before anybody hears that it runs: whoever does may end it at once.
  stopOnSignal(app);
  if (app.firstStart) say(welcome(app.firstStart, app.url));
  say(`Heliograph is listening on ${app.url}`);
}

function stopOnSignal(app: App): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    // What is not finished by then is safe in the store and goes on at the next start.
    setTimeout(() => process.exit(0), STOP_WITHIN_MS).unref();
    app.stop().then(() => process.exit(0), fail);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGHUP", stop);
  // Started through a parent process, the server ends with it.
  process.on("disconnect", stop);
  process.channel?.unref();
}

function checkRuntime(): void {
  const sqlite = process.versions.sqlite ?? "0";
  if (sqlite.localeCompare(SQLITE_MIN, "en", { numeric: true }) < 0) {
    throw new BadSetting(`this Node has SQLite ${sqlite}; ${SQLITE_MIN} or later is needed. Use Node 24.18 or later`);
  }
}

/** One line that says what to do about it. */
function explain(error: unknown): string {
  if (error instanceof BadSetting || error instanceof SchemaTooNew || error instanceof WrongMasterKey)
    return error.message;
  if (error instanceof StorageUnavailable) return `the database cannot be reached: ${error.message}`;
  const { code, port, address, message } = error as {
    code?: string;
    port?: number;
    address?: string;
    message?: string;
  };
  if (code === "EADDRINUSE")
    return `port ${port} on ${address} is taken; stop the other program or set HELIOGRAPH_PORT`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return `HELIOGRAPH_HOST: this machine does not have that address`;
  if (code === "EACCES" && port !== undefined)
    return `port ${port} may not be used by this user; set HELIOGRAPH_PORT to 1024 or more`;
  return message ?? String(error);
}
