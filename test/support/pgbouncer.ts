import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { inPath } from "./programmes.ts";

export interface PgBouncer {
  /** URL of a database through the pooler. */
  through(databaseUrl: string): string;
  stop(): Promise<void>;
}

interface Options {
  /** The cluster behind the pooler. */
  clusterUrl: string;
  poolMode: "session" | "transaction";
  /** Server connections per database. */
  poolSize?: number;
  /** Additional settings. */
  settings?: Record<string, string | number>;
}

const STOP_TIMEOUT_MS = 60_000;

/** The first release with named statements in transaction mode is 1.21. */
export function keepsNamedStatements(): boolean {
  const programme = inPath("pgbouncer");
  if (programme === undefined) return false;
  const [, minor = "0"] =
    /^PgBouncer 1\.(\d+)/.exec(execFileSync(programme, ["--version"], { encoding: "utf8" })) ?? [];
  return Number(minor) >= 21;
}

/** Starts PgBouncer from Debian's package on a free port with a generated configuration. */
export async function startPgBouncer({
  clusterUrl,
  poolMode,
  poolSize = 20,
  settings = {},
}: Options): Promise<PgBouncer> {
  const cluster = new URL(clusterUrl);
  const folder = await mkdtemp(join(tmpdir(), "heliograph-pgbouncer-"));
  const port = await freePort();
  const lines = Object.entries({
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "any",
    pool_mode: poolMode,
    default_pool_size: poolSize,
    max_client_conn: 500,
    logfile: join(folder, "pgbouncer.log"),
    pidfile: join(folder, "pgbouncer.pid"),
    ...settings,
  }).map(([name, value]) => `${name} = ${value}`);
  const file = join(folder, "pgbouncer.ini");
  const target = `* = host=${cluster.hostname} port=${cluster.port} user=${cluster.username}`;
  await writeFile(file, ["[databases]", target, "[pgbouncer]", ...lines, ""].join("\n"));
  // Like PostgreSQL it refuses to run as root.
  const owner = process.getuid?.() === 0 ? { uid: idOfPostgres("-u"), gid: idOfPostgres("-g") } : {};
  if (owner.uid !== undefined && owner.gid !== undefined) await chown(folder, owner.uid, owner.gid);
  const programme = inPath("pgbouncer");
  if (programme === undefined) throw new Error("PgBouncer was not found: install it, or put it in PATH");
  const child = spawn(programme, [file], { ...owner, cwd: folder, stdio: "ignore" });
  await once(child, "spawn");
  const watchdog = startWatchdog(child);
  const through = (databaseUrl: string): string => {
    const url = new URL(databaseUrl);
    url.port = String(port);
    return url.href;
  };
  const stop = async (): Promise<void> => {
    watchdog.stdin?.end("stopped\n");
    await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await eventually(async () => child.exitCode !== null || (await answers(through(clusterUrl))), Boolean);
    if (child.exitCode !== null)
      throw new Error(`PgBouncer ended: ${await readFile(join(folder, "pgbouncer.log"), "utf8")}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { through, stop };
}

const idOfPostgres = (flag: "-u" | "-g"): number =>
  Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));

/** Watchdog: ends PgBouncer when this process dies for any reason, because its end of the pipe then closes. */
function startWatchdog({ pid }: ChildProcess): ChildProcess {
  const watchdog = spawn("sh", ["-c", 'read -r _ || kill "$0"', String(pid)], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.unref();
  return watchdog;
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("select 1");
    return true;
  } catch {
    // PgBouncer is still starting.
    return false;
  } finally {
    await client.end();
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  // SIGTERM ends it at once; SIGINT would wait for its clients.
  child.kill("SIGTERM");
  const lateKill = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(lateKill);
}
