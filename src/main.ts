import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { startApp, type App } from "./app/start.ts";
import { WrongMasterKey } from "./accounts/master-key.ts";
import { BadSetting, readConfig, unknownSettings } from "./config.ts";
import { endProcess } from "./lib/end-process.ts";
import { Locked } from "./lib/lock-file.ts";
import { createLog, type Log } from "./lib/log.ts";
import { ServiceManager } from "./lib/service-manager.ts";
import { SchemaTooNew } from "./store/migrations/all.ts";
import { StorageUnavailable } from "./store/store.ts";
import { welcome } from "./app/welcome.ts";

const STOP_WITHIN_MS = 9000;
const LOCK_TRIES = 50;
const LOCK_PAUSE_MS = 200;
const SQLITE_MIN = "3.51.3"; // earlier versions can corrupt the database when the write-ahead log is reset

/**
 * Disables pretenuring in all threads. V8 allocates objects in the old generation if objects from the same code position lived long
 * at first, as messages do during warm-up. Dead old objects keep young objects alive, which each minor collection then copies.
 */
const NO_PRETENURING = "--no-allocation-site-pretenuring";

const serviceManager = new ServiceManager(process.env);

const say = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  await main();
} catch (error) {
  fail(error);
}

function fail(error: unknown): never {
  process.stderr.write(`heliograph: ${explain(error)}\n`);
  endProcess(1);
}

async function main(): Promise<void> {
  checkRuntime();
  // The files of the data directory hold texts, numbers and keys.
  process.umask(0o077);
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  for (const name of unknownSettings(process.env)) log.warn({ setting: name }, "unknown setting ignored");
  let isStopping = false;
  const start = (): Promise<App> =>
    startApp(config, {
      log,
      connectionThread: availableParallelism() > 1,
      onBroken: fail,
      // One restart after the other: the next change may come while the application still starts.
      onHoldChange: () => {
        current = current.then(restart);
        current.catch(fail);
      },
    });
  /** A held service has no components that send, so a change of the hold starts the application anew in this process. */
  async function restart(running: App): Promise<App> {
    // The job that reported the change ends first, because a stop waits for all jobs.
    await immediate();
    if (isStopping) return running;
    log.warn("restarting, because the service was held or resumed");
    await running.stop();
    const next = await startUnlocked(start);
    say(`Heliograph is listening on ${next.url}`);
    return next;
  }
  let current = start();
  const app = await current;
  // After everything is loaded: Node's code cache is valid only for the flags that it was built with.
  setFlagsFromString(NO_PRETENURING);
  // Before the start is announced, because a parent may send a signal at once.
  stopOnSignal(() => {
    isStopping = true;
    return current;
  });
  reloadOnSignal(() => current, log);
  if (app.firstStart) showOnce(welcome(app.firstStart, app.url), config.welcomeFile);
  say(`Heliograph is listening on ${app.url}`);
  serviceManager.reportReady();
}

/** A command such as `resume` locks the data directory for a moment, to find out whether a server runs. */
async function startUnlocked(start: () => Promise<App>): Promise<App> {
  for (let triesLeft = LOCK_TRIES; ; triesLeft -= 1) {
    try {
      return await start();
    } catch (error) {
      const isLocked = error instanceof BadSetting && error.cause instanceof Locked;
      if (!isLocked || triesLeft === 0) throw error;
      await sleep(LOCK_PAUSE_MS);
    }
  }
}

/** The account exists by now, so secrets that no file can take are printed rather than lost. */
function showOnce(secrets: string, file: string | null): void {
  if (file === null) return say(secrets);
  try {
    say(`Password and keys of the first account are in ${createFile(file, secrets)}: keep them, and delete the file`);
  } catch (error) {
    say(secrets);
    say(`HELIOGRAPH_WELCOME_FILE could not be created: ${explain(error)}`);
  }
}

/** Creates the file, or one with a number behind its name: an older file may hold secrets that are still needed. */
function createFile(file: string, content: string): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? file : `${file}.${number}`;
    try {
      writeFileSync(name, content, { mode: 0o600, flag: "wx" });
      return name;
    } catch (error) {
      if ((error as { code?: string }).code !== "EEXIST" || number === 100) throw error;
    }
  }
}

/** The first signal drains and stops, a second one skips the drain. */
function stopOnSignal(current: () => Promise<App>): void {
  const skip = new AbortController();
  let stopping = false;
  const stop = (): void => {
    if (stopping) return skip.abort();
    stopping = true;
    serviceManager.reportStopping();
    drainAndStop(current(), skip.signal).then(() => endProcess(0), fail);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  // Started through a parent process, the server ends with it.
  process.on("disconnect", () => {
    skip.abort();
    stop();
  });
  process.channel?.unref();
}

/** SIGHUP is always handled, because the default would end the process. */
function reloadOnSignal(current: () => Promise<App>, log: Log): void {
  process.on("SIGHUP", () => {
    current().then((app) => {
      if (!app.reloadCertificate()) log.info("SIGHUP has no effect");
    }, fail);
  });
}

const aborted = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });

async function drainAndStop(current: Promise<App>, skip: AbortSignal): Promise<void> {
  // A restart under way may wait for its database: a second signal then ends the process.
  const app = await Promise.race([current, aborted(skip)]);
  if (!app) return;
  await app.drain(skip);
  // Unfinished work is in the store and continues at the next start.
  setTimeout(() => endProcess(0), STOP_WITHIN_MS).unref();
  await app.stop();
}

function checkRuntime(): void {
  const sqlite = process.versions.sqlite ?? "0";
  if (sqlite.localeCompare(SQLITE_MIN, "en", { numeric: true }) < 0) {
    throw new BadSetting(`this Node has SQLite ${sqlite}; ${SQLITE_MIN} or later is needed. Use Node 24.18 or later`);
  }
}

/** One line that names the fix. */
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
    return `port ${port} on ${address} is taken; stop the other program, or change the setting of the port, such as HELIOGRAPH_PORT`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return `HELIOGRAPH_HOST: this machine does not have that address`;
  if (code === "EACCES" && port !== undefined)
    return `port ${port} may not be used by this user; set HELIOGRAPH_PORT to 1024 or more`;
  return message ?? String(error);
}
