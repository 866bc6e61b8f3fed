// The server needs a newer Node than many machines have; node_modules brings one (the optional dependency "node").
// The syntax in scripts/ stays at what Node 14 parses, so that an old Node gets as far as saying that it is too old.
import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Where Node keeps what it made of our source: a start then takes half the time. */
export const compiled = join(root, "node_modules", ".cache", "compiled");

const pinnedNode = join(root, "node_modules", "node", "bin", "node");

/** Whether the Node running this is at least the given version. */
export function nodeIsAtLeast(major, minor) {
  const [thisMajor, thisMinor] = process.versions.node.split(".").map(Number);
  return thisMajor > major || (thisMajor === major && thisMinor >= minor);
}

/** Whether the Node running this can run the server. */
export function nodeRunsServer() {
  return nodeIsAtLeast(24, 18);
}

/** Whether another Node, the pinned one, is there to be used instead of this one. */
export function pinnedNodeIsAnother() {
  return existsSync(pinnedNode) && realpathSync(pinnedNode) !== realpathSync(process.execPath);
}

/** A Node that can run the server: this one, or the pinned one. */
export function nodeForServer() {
  return nodeRunsServer() ? process.execPath : pinnedNode;
}

/** Ends the process with one line that says what is wrong and what helps. */
export function fail(line) {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}

/** Runs a programme to its end and passes on the signals that ask this process to stop. */
export async function runToEnd(command, args, options, onSpawn = () => {}) {
  const child = spawn(command, args, { cwd: root, stdio: "inherit", ...options });
  const forward = (signal) => child.kill(signal);
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, forward);
  try {
    return await new Promise((resolve, reject) => {
      child.on("spawn", () => onSpawn(child));
      child.on("error", reject);
      child.on("close", (code, signal) => resolve({ code, signal }));
    });
  } finally {
    for (const signal of signals) process.off(signal, forward);
  }
}

/**
 * Runs a script with the pinned Node in place of this process and ends the way it ends. The channel is there to be
 * closed: when this process is killed, the script learns of it by the "disconnect" event.
 */
export async function continueWithPinnedNode(script, args) {
  if (!existsSync(pinnedNode)) {
    fail(`Heliograph needs Node 24.18 or newer, this is ${process.version}: install Node 24, or run "npm ci" again.`);
  }
  const stdio = ["inherit", "inherit", "inherit", "ipc"];
  const env = { NODE_COMPILE_CACHE: compiled, ...process.env };
  const { code, signal } = await runToEnd(pinnedNode, [script, ...args], { stdio, env });
  if (signal !== null) process.kill(process.pid, signal);
  else process.exit(code);
}
