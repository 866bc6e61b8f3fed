import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readdirSync, realpathSync, statfsSync } from "node:fs";
import { chown, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { TestProject } from "vitest/node";
import { prepareSchema } from "./databases.ts";
import { freePort } from "./free-port.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

export interface Cluster {
  url: string;
  dataDir: string;
  stop(): Promise<void>;
  /** Kills the server as a power failure of its machine does; `restart` brings it back. */
  kill(): Promise<void>;
  /** "immediate" simulates a crash: PostgreSQL recovers from its WAL at the next start. */
  restart(mode?: "fast" | "immediate"): Promise<void>;
}

interface Owner {
  uid?: number;
  gid?: number;
}

const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 60_000;

const SETTINGS = {
  listen_addresses: "127.0.0.1",
  synchronous_commit: "on",
  max_connections: "400",
  jit: "off",
};

const FLEETING = { fsync: "off", full_page_writes: "off", max_wal_size: "256MB" };

/** On Linux this folder is in memory. */
const MEMORY = "/dev/shm";
const MEMORY_NEEDED = 2 * 1024 ** 3;

/** The cluster of a vitest run, shared by its projects. */
let shared: Promise<Cluster> | null = null;
let users = 0;

/** Gives a vitest project the PostgreSQL cluster of the run; the first project starts it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  users += 1;
  shared ??= startShared();
  const cluster = await shared;
  project.provide("postgresUrl", cluster.url);
  return async () => {
    users -= 1;
    if (users === 0) await cluster.stop();
  };
}

async function startShared(): Promise<Cluster> {
  // Without syncs only a power failure would make a difference. Tests that crash a cluster start their own, with syncs.
  const cluster = await startCluster({ fleeting: true });
  await prepareSchema(cluster.url);
  return cluster;
}

/**
 * Starts a PostgreSQL cluster that ends with `stop()` or with this process. A fleeting one does not sync. Its data is
 * temporary, unless a folder is given, where it stays for the next start. With `standbyOf`, it is a copy of that cluster that
 * follows it.
 */
export async function startCluster({
  fleeting = false,
  keepIn,
  standbyOf,
}: { fleeting?: boolean; keepIn?: string; standbyOf?: Cluster } = {}): Promise<Cluster> {
  const bin = postgresBinaries();
  if (bin === undefined) throw new Error("no PostgreSQL server was found: install it, or put its initdb in PATH");

  const owner = clusterOwner();
  if (keepIn !== undefined) await mkdir(keepIn, { recursive: true });
  const folder = keepIn ?? (await mkdtemp(join(fleeting ? folderInMemory() : tmpdir(), "heliograph-postgres-")));
  if (owner.uid !== undefined && owner.gid !== undefined) await chown(folder, owner.uid, owner.gid);
  const dataDir = join(folder, "data");
  const logFile = join(folder, "postgres.log");
  const port = await freePort();
  const url = `postgresql://heliograph@127.0.0.1:${port}/postgres`;
  const settings = { ...SETTINGS, ...(fleeting ? FLEETING : {}) };
  const watchdog = startWatchdog(bin, keepIn === undefined ? folder : "", dataDir, owner);

  const launch = async (): Promise<ChildProcess> => {
    const args = ["-D", dataDir, "-p", String(port), "-k", folder];
    for (const [name, value] of Object.entries(settings)) args.push("-c", `${name}=${value}`);
    const log = openSync(logFile, "a");
    // Detached: otherwise the Ctrl-C that ends a test run would stop the database under the running tests.
    const postgres = spawn(join(bin, "postgres"), args, {
      ...owner,
      cwd: folder,
      detached: true,
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    await untilAnswering(url, postgres, logFile);
    return postgres;
  };

  const remove = async (): Promise<void> => {
    watchdog.stdin?.end("stopped\n");
    if (keepIn === undefined) await rm(folder, { recursive: true, force: true });
  };

  let postgres: ChildProcess;
  try {
    const args = ["-D", dataDir, "-U", "heliograph", "-E", "UTF8", "--locale=C", "--auth=trust", "--no-sync"];
    const copy = ["-D", dataDir, "-d", standbyOf?.url ?? "", "-R", "-c", "fast", "--no-sync"];
    if (standbyOf) execFileSync(join(bin, "pg_basebackup"), copy, { ...owner, cwd: folder, stdio: "pipe" });
    else if (!existsSync(dataDir)) execFileSync(join(bin, "initdb"), args, { ...owner, cwd: folder, stdio: "pipe" });
    postgres = await launch();
  } catch (error) {
    await remove();
    throw error;
  }

  return {
    url,
    dataDir,
    async stop() {
      await shutDown(postgres, "fast");
      await remove();
    },
    async kill() {
      if (hasEnded(postgres)) return;
      const ended = once(postgres, "exit");
      postgres.kill("SIGKILL");
      await ended;
    },
    async restart(mode = "fast") {
      await shutDown(postgres, mode);
      postgres = await launch();
    },
  };
}

/** A database has about 400 files, and creating files is slow on a disk that has just deleted thousands. */
function folderInMemory(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= MEMORY_NEEDED ? MEMORY : tmpdir();
}

/** Finds the folder of PostgreSQL's server programs, which Debian keeps out of PATH. */
export function postgresBinaries(): string | undefined {
  const candidates = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    ...versionFolders("/usr/lib/postgresql", /^(\d+)$/),
    ...versionFolders("/opt/homebrew/opt", /^postgresql@(\d+)$/),
    ...versionFolders("/usr/local/opt", /^postgresql@(\d+)$/),
  ];
  const initdb = candidates.map((folder) => join(folder, "initdb")).find((path) => existsSync(path));
  // The file in PATH may be a single link; the other programs are beside its target.
  const bin = initdb === undefined ? undefined : dirname(realpathSync(initdb));
  return bin !== undefined && existsSync(join(bin, "postgres")) ? bin : undefined;
}

function versionFolders(parent: string, pattern: RegExp): string[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent)
    .map((name) => ({ name, version: Number(pattern.exec(name)?.[1]) }))
    .filter(({ version }) => !Number.isNaN(version))
    .toSorted((a, b) => b.version - a.version)
    .map(({ name }) => join(parent, name, "bin"));
}

/** PostgreSQL refuses to run as root, so root runs it as the user of the Debian package. */
export function clusterOwner(): Owner {
  if (process.getuid?.() !== 0) return {};
  return { uid: idOfPostgres("-u"), gid: idOfPostgres("-g") };
}

function idOfPostgres(flag: "-u" | "-g"): number {
  return Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
}

/**
 * Watchdog: ends the cluster when this process dies for any reason, because its end of the pipe then closes. Removes the
 * folder, if there is one to remove.
 */
function startWatchdog(bin: string, folder: string, dataDir: string, owner: Owner): ChildProcess {
  const script = 'read -r _ || { "$0" stop -D "$1" -m immediate -w; rm -rf "$2"; }';
  const watchdog = spawn("sh", ["-c", script, join(bin, "pg_ctl"), dataDir, folder], {
    ...owner,
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.unref();
  return watchdog;
}

async function untilAnswering(url: string, postgres: ChildProcess, logFile: string): Promise<void> {
  const giveUpAt = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const refusal = await tryConnection(url);
    if (refusal === undefined) return;
    if (hasEnded(postgres) || Date.now() > giveUpAt) {
      postgres.kill("SIGKILL");
      throw new Error(`PostgreSQL did not start:\n${await readFile(logFile, "utf8")}`, { cause: refusal });
    }
    await sleep(50);
  }
}

async function tryConnection(url: string): Promise<unknown> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    await client.end();
    return undefined;
  } catch (error) {
    return error;
  }
}

async function shutDown(postgres: ChildProcess, mode: "fast" | "immediate"): Promise<void> {
  if (hasEnded(postgres)) return;
  const ended = once(postgres, "exit");
  postgres.kill(mode === "fast" ? "SIGINT" : "SIGQUIT");
  const lateKill = setTimeout(() => postgres.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(lateKill);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
