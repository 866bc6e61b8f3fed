import { createHash } from "node:crypto";
import { appendFileSync, linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fail, nodeIsAtLeast, nodeRunsServer, pinnedNodePackage, root, runToEnd } from "./pinned-node.mjs";

/** Installs the dependencies of package-lock.json if they are missing. Without `dev` a production install is enough. */
export async function install({ dev }) {
  if (process.platform === "win32") fail("Heliograph runs on Linux and macOS: on Windows, use WSL.");
  if (!nodeIsAtLeast(20, 0)) {
    fail(`Heliograph needs Node 20 or newer to install and start, this is ${process.version}: install Node 24.`);
  }
  if (isInstalled(dev)) return;

  const release = await lock();
  try {
    // Another process may have installed everything while this one waited for the lock.
    if (!isInstalled(dev)) await npmCi(dev);
  } finally {
    release();
  }
}

/**
 * npm writes this file last, so an interrupted install has none. The contents are compared because a checkout changes
 * timestamps.
 */
function isInstalled(dev) {
  const present = lockedPackages("node_modules/.package-lock.json");
  if (present === undefined) return false;

  return Object.entries(lockedPackages("package-lock.json") || {}).every(([path, wanted]) => {
    if (path === "") return true;
    const found = present[path];
    if (found !== undefined) return found.version === wanted.version && found.integrity === wanted.integrity;
    if (path === pinnedNodePackage && !nodeRunsServer()) return false;
    return wanted.optional || wanted.devOptional || wanted.peer || (wanted.dev && !dev);
  });
}

function lockedPackages(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), "utf8")).packages;
  } catch (error) {
    if (error.code === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function npmCi(dev) {
  process.stdout.write("Installing dependencies (first start, about a minute)…\n");

  // npm deletes node_modules first, so it may not run with a Node from there.
  const path = (process.env.PATH || "").split(delimiter).filter((folder) => folder !== join(root, "node_modules/.bin"));
  const args = ["ci", "--loglevel=error", "--no-audit", "--no-fund", ...(dev ? ["--include=dev"] : [])];
  const env = { ...process.env, PATH: path.join(delimiter) };
  let errors = "";
  const ended = await runToEnd("npm", args, { env, stdio: ["ignore", "ignore", "pipe"] }, (npm) => {
    // If this process is killed, npm survives it and must keep the lock.
    appendFileSync(lockFile, `\n${npm.pid}`);
    npm.stderr.on("data", (chunk) => (errors += chunk));
  }).catch((error) => ({ code: error.message }));

  if (ended.signal) process.exit(1);
  if (ended.code === 0) {
    // npm skips optional packages that it cannot download or whose hash differs from the lockfile.
    if (!isInstalled(dev)) {
      fail(
        `Node 24 could not be installed, and this is ${process.version}: the download failed, or its hash is not that ` +
          "of package-lock.json. Try again with a network, or install Node 24.18 or newer.",
      );
    }
    return;
  }
  const [, reason = ended.code] = /npm (?:error|ERR!) code (\S+)/.exec(errors) || [];
  fail(`Dependencies could not be installed (${reason}): "npm ci" shows the reason; it needs a network.`);
}

const lockName = createHash("sha256").update(root).digest("hex").slice(0, 16);
const lockFile = join(tmpdir(), `heliograph-install-${process.getuid?.()}-${lockName}`);

/** Waits for the install lock and takes it. The returned function releases it. */
async function lock() {
  const own = `${lockFile}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    for (let round = 1; !tryLink(own); round += 1) {
      // Round 1 may only have removed a stale lock, so no wait is announced yet.
      if (round === 2) process.stdout.write("Waiting for another process that is installing dependencies…\n");
      if (round > 1) await new Promise((resolve) => setTimeout(resolve, 200));
    }
  } finally {
    unlinkSync(own);
  }
  process.on("exit", removeLock);
  return () => {
    process.off("exit", removeLock);
    removeLock();
  };
}

function removeLock() {
  unlinkSync(lockFile);
}

function tryLink(own) {
  try {
    // A hard link appears together with its contents. A new file would be visible for a moment without a pid.
    linkSync(own, lockFile);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST")
      fail(
        `${tmpdir()} is on a file system without hard links (${error.code}): set TMPDIR to a folder on another one.`,
      );
  }
  try {
    const holders = readFileSync(lockFile, "utf8").split("\n").map(Number);
    if (!holders.some(isAlive)) removeStaleLock(own);
  } catch (error) {
    // The lock was released in between; the next round takes it.
    if (error.code !== "ENOENT") throw error;
  }
  return false;
}

function removeStaleLock(own) {
  // If several processes find the same dead holder, only one can rename the file.
  renameSync(lockFile, `${own}.stale`);
  unlinkSync(`${own}.stale`);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
