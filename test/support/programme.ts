import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { eventually } from "./eventually.ts";
import { inPath } from "./programmes.ts";

const STOP_TIMEOUT_MS = 60_000;

export interface Programme {
  /** Output so far. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

interface Options {
  args: readonly string[];
  folder: string;
  env?: Record<string, string>;
  /** Looks whether the programme is ready to be used. */
  isReady(): Promise<boolean>;
}

/** Starts an installed programme in the foreground, and waits until it is ready. It ends with this process. */
export async function startProgramme(name: string, { args, folder, env = {}, isReady }: Options): Promise<Programme> {
  const path = inPath(name);
  if (path === undefined) throw new Error(`${name} was not found: install it, or put it in PATH`);
  const child = spawn(path, args, {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  const collect = (chunk: string): void => {
    printed += chunk;
  };
  child.stdout.setEncoding("utf8").on("data", collect);
  child.stderr.setEncoding("utf8").on("data", collect);
  await once(child, "spawn");
  const watchdog = startWatchdog(child);
  const stop = async (): Promise<void> => {
    watchdog.stdin?.end("stopped\n");
    await end(child);
  };
  try {
    await eventually(async () => hasEnded(child) || (await isReady()), Boolean);
    if (hasEnded(child)) throw new Error(`${name} ended: ${printed}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { output: () => printed, kill: (signal) => void child.kill(signal), stop };
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** Watchdog: ends the programme when this process dies for any reason, because its end of the pipe then closes. */
function startWatchdog({ pid }: ChildProcess): ChildProcess {
  const watchdog = spawn("sh", ["-c", 'read -r _ || kill "$0"', String(pid)], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.unref();
  return watchdog;
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const lateKill = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(lateKill);
}
