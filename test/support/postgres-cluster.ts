import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readdirSync, realpathSync, statfsSync } from "node:fs";
import { chown, mkdtemp, readFile, rm } from "node:fs/promises";
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
  /** "immediate" is a crash: PostgreSQL recovers from its log when it comes back. */
  restart(mode?: "fast" | "immediate"): Promise<void>;
}

interface Owner {
  uid?: number;
  gid?: number;
}

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 15_000;

const SETTINGS = {
  listen_addresses: "127.0.0.1",
  synchronous_commit: "on",
  max_connections: "200",
  jit: "off",
};

const FLEETING = { fsync: "off", full_page_writes: "off", max_wal_size: "256MB" };

/** Linux keeps this folder in memory. */
const MEMORY = "/dev/shm";
const MEMORY_NEEDED = 2 * 1024 ** 3;

/** Gives one PostgreSQL cluster to a whole vitest run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Only a machine that loses its power could tell the difference; clusters that a test lets crash are its own, and sync.
  const cluster = await startCluster({ fleeting: true });
  await prepareSchema(cluster.url);
  project.provide("postgresUrl", cluster.url);
  return () => cluster.stop();
}

/** Starts a temporary PostgreSQL cluster that goes away with `stop()` or with this process; a fleeting one survives no crash. */
export async function startCluster({ fleeting = false } = {}): Promise<Cluster> {
  const bin = postgresBinaries();
  if (bin === undefined) throw new Error("no PostgreSQL server was found: install it, or put its initdb in PATH");

  const owner = clusterOwner();
  const folder = await mkdtemp(join(fleeting ? folderInMemory() : tmpdir(), "heliograph-postgres-"));
  if (owner.uid !== undefined && owner.gid !== undefined) await chown(folder, owner.uid, owner.gid);
  const dataDir = join(folder, "data");
  const logFile = join(folder, "postgres.log");
  const port = await freePort();
  const url = `postgresql://heliograph@127.0.0.1:${port}/postgres`;
  const settings = { ...SETTINGS, ...(fleeting ? FLEETING : {}) };
  const watchdog = startWatchdog(bin, folder, dataDir, owner);

  const launch = async (): Promise<ChildProcess> => {
    const args = ["-D", dataDir, "-p", String(port), "-k", folder];
    for (const [name, value] of Object.entries(settings)) args.push("-c", `${name}=${value}`);
    const log = openSync(logFile, "a");
    // Detached, or the Ctrl-C that ends a test run would take the database away under the running tests.
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
    await rm(folder, { recursive: true, force: true });
  };

  let postgres: ChildProcess;
  try {
    const args = ["-D", dataDir, "-U", "heliograph", "-E", "UTF8", "--locale=C", "--auth=trust", "--no-sync"];
    execFileSync(join(bin, "initdb"), args, { ...owner, cwd: folder, stdio: "pipe" });
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
    async restart(mode = "fast") {
      await shutDown(postgres, mode);
      postgres = await launch();
    },
  };
}

/** A database is some 400 files, and a disk that has just forgotten thousands of them is slow to make the next ones. */
function folderInMemory(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= MEMORY_NEEDED ? MEMORY : tmpdir();
}

/** Finds the folder of PostgreSQL's server programmes, which Debian keeps out of PATH. */
export function postgresBinaries(): string | undefined {
  const candidates = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    ...versionFolders("/usr/lib/postgresql", /^(\d+)$/),
    ...versionFolders("/opt/homebrew/opt", /^postgresql@(\d+)$/),
    ...versionFolders("/usr/local/opt", /^postgresql@(\d+)$/),
  ];
  const initdb = candidates.map((folder) => join(folder, "initdb")).find((path) => existsSync(path));
  // The link in PATH may stand alone; the programmes it belongs to are where it points.
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

/** PostgreSQL refuses to run as root, so root hands it to the user that its package has created. */
function clusterOwner(): Owner {
  if (process.getuid?.() !== 0) return {};
  return { uid: idOfPostgres("-u"), gid: idOfPostgres("-g") };
}

function idOfPostgres(flag: "-u" | "-g"): number {
  return Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
}

/** Ends the cluster when this process dies in whatever way: the pipe closes before a word has come through it. */
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
