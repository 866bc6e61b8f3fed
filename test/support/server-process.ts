import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SERVER } from "./entries.ts";

export interface ServerOptions {
  /** Overrides all other environment variables. */
  env?: Record<string, string>;
  /** If given, `cleanup()` keeps it; otherwise a temporary folder is created. */
  dataDir?: string;
  databaseUrl?: string;
  /** The script to run, relative to the repository root. */
  entry?: string;
  /** With an IPC channel, the default, the server stops when the test process dies. */
  ipc?: boolean;
}

interface ServerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ServerProcess {
  baseUrl: string;
  pid: number;
  apiKey: string;
  testKey: string;
  adminPassword: string;
  dataDir: string;
  exited: Promise<ServerExit>;
  /** Output of the server so far. */
  output(): string;
  kill(signal: NodeJS.Signals): Promise<ServerExit>;
  /** Restarts the exited server with the same data, keys and port. */
  restart(): Promise<ServerProcess>;
  /** Kills the server if it is running and removes its temporary data. */
  cleanup(): Promise<void>;
}

/** Generous, because the machine may be busy: no test is about the start time. */
const READY_TIMEOUT_MS = 200_000;
const ROOT = join(import.meta.dirname, "../..");

/** Starts the real server in its own process and waits until it is ready. */
export async function startServer(options: ServerOptions = {}): Promise<ServerProcess> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "heliograph-data-")));
  const removeData = async (): Promise<void> => {
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  const settings = {
    HELIOGRAPH_HOST: "127.0.0.1",
    HELIOGRAPH_PORT: "0",
    HELIOGRAPH_DATA_DIR: dataDir,
    HELIOGRAPH_API_KEY: `hg_live_${randomBytes(24).toString("hex")}`,
    HELIOGRAPH_TEST_API_KEY: `hg_test_${randomBytes(24).toString("hex")}`,
    HELIOGRAPH_ADMIN_PASSWORD: randomBytes(12).toString("hex"),
    HELIOGRAPH_LOG_LEVEL: "warn",
    HELIOGRAPH_EGRESS_ALLOW: "127.0.0.0/8,::1/128",
    ...(options.databaseUrl === undefined ? {} : { HELIOGRAPH_DATABASE_URL: options.databaseUrl }),
    ...options.env,
  };

  const run = async (env: typeof settings): Promise<ServerProcess> => {
    const { child, pid, exited, output } = spawnServer(options.entry ?? SERVER, env, options.ipc ?? true);
    const kill = async (signal: NodeJS.Signals): Promise<ServerExit> => {
      child.kill(signal);
      return exited;
    };
    const baseUrl = await untilReady(child, exited, output).catch(async (error: unknown) => {
      await kill("SIGKILL");
      throw error;
    });
    return {
      baseUrl,
      pid,
      apiKey: settings.HELIOGRAPH_API_KEY,
      testKey: settings.HELIOGRAPH_TEST_API_KEY,
      adminPassword: settings.HELIOGRAPH_ADMIN_PASSWORD,
      dataDir,
      exited,
      output,
      kill,
      restart: () => run({ ...env, HELIOGRAPH_PORT: new URL(baseUrl).port }),
      async cleanup() {
        await kill("SIGKILL");
        await removeData();
      },
    };
  };

  return run(settings).catch(async (error: unknown) => {
    await removeData();
    throw error;
  });
}

function spawnServer(entry: string, env: Record<string, string>, ipc: boolean) {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  const inherited = { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE };
  const child = spawn(process.execPath, [entry], {
    cwd: ROOT,
    // Not the whole environment: a developer's own HELIOGRAPH_ settings must not affect the tests.
    env: { ...inherited, ...env },
    // The channel closes when the test process dies, and the server then stops.
    stdio: ["ignore", "pipe", "pipe", ...(ipc ? (["ipc"] as const) : [])],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${process.execPath} could not be started`);
  let printed = "";
  const collect = (chunk: string): void => {
    printed += chunk;
  };
  child.stdout?.setEncoding("utf8").on("data", collect);
  child.stderr?.setEncoding("utf8").on("data", collect);
  const exited = new Promise<ServerExit>((resolve) => {
    // "close" follows the last output; "exit" may precede it.
    child.on("close", (code, signal) => resolve({ code, signal }));
  });
  return { child, pid, exited, output: () => printed };
}

async function untilReady(child: ChildProcess, exited: Promise<ServerExit>, output: () => string): Promise<string> {
  const giveUpAt = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    const baseUrl = /^Heliograph is listening on (http:\/\/\S+)$/m.exec(output())?.[1];
    if (baseUrl !== undefined && (await answersReady(baseUrl))) return baseUrl;
    if (child.exitCode !== null || child.signalCode !== null) {
      await exited;
      throw notReady("exited before it was ready", output());
    }
    if (Date.now() > giveUpAt) throw notReady(`was not ready after ${READY_TIMEOUT_MS} ms`, output());
    await sleep(20);
  }
}

async function answersReady(baseUrl: string): Promise<boolean> {
  try {
    const response = await fetch(new URL("/readyz", baseUrl), { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    // Still starting or already ended: the loop finds out which.
    return false;
  }
}

function notReady(what: string, output: string): Error {
  return new Error(`the server ${what}; it printed:\n${output}`);
}
