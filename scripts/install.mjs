import { createHash } from "node:crypto";
import { appendFileSync, linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fail, nodeIsAtLeast, root, runToEnd } from "./pinned-node.mjs";

/** Installs what package-lock.json asks for, when it is not there; a production install is enough without `dev`. */
export async function install({ dev }) {
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

/** npm writes its own record last, so a broken-off install has none; contents say more than times after a checkout. */
function isInstalled(dev) {
  const present = lockedPackages("node_modules/.package-lock.json");
  if (present === undefined) return false;

  return Object.entries(lockedPackages("package-lock.json") || {}).every(([path, wanted]) => {
    if (path === "") return true;
    const found = present[path];
    if (found !== undefined) return found.version === wanted.version && found.integrity === wanted.integrity;
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

  // npm deletes node_modules first, so neither npm nor its scripts may run with a Node from there.
  const path = (process.env.PATH || "").split(delimiter).filter((folder) => folder !== join(root, "node_modules/.bin"));
  const args = ["ci", "--loglevel=error", "--no-audit", "--no-fund", ...(dev ? ["--include=dev"] : [])];
  const env = { ...process.env, PATH: path.join(delimiter) };
  let errors = "";
  const ended = await runToEnd("npm", args, { env, stdio: ["ignore", "ignore", "pipe"] }, (npm) => {
    // npm outlives this process when this one is killed, and then still holds the lock.
    appendFileSync(lockFile, `\n${npm.pid}`);
    npm.stderr.on("data", (chunk) => (errors += chunk));
  }).catch((error) => ({ code: error.message }));

  if (ended.signal) process.exit(1);
  if (ended.code === 0) return;
  const [, reason = ended.code] = /npm (?:error|ERR!) code (\S+)/.exec(errors) || [];
  fail(`Dependencies could not be installed (${reason}): "npm ci" shows the reason; it needs a network.`);
}

const lockName = createHash("sha256").update(root).digest("hex").slice(0, 16);
const lockFile = join(tmpdir(), `heliograph-install-${process.getuid()}-${lockName}`);

/** Waits until no other process installs here, then keeps others waiting until the returned function is called. */
async function lock() {
  const own = `${lockFile}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    for (let round = 1; !tryLink(own); round += 1) {
      // The first round may have removed what a killed process left, which is no reason to wait.
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
    // A link appears together with its contents; a file that is created and then written has a moment without a pid.
    linkSync(own, lockFile);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  try {
    const holders = readFileSync(lockFile, "utf8").split("\n").map(Number);
    if (!holders.some(isAlive)) removeStaleLock(own);
  } catch (error) {
    // Released in between: the next round takes it.
    if (error.code !== "ENOENT") throw error;
  }
  return false;
}

function removeStaleLock(own) {
  // Of several processes that find the same dead holder only one can move the file away.
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
