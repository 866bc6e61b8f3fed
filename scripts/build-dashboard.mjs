import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { buildDocs } from "./build-docs.mjs";
import { nodeForServer, root, runToEnd } from "./pinned-node.mjs";

const source = join(root, "dashboard");
const built = join(source, "dist");
/** Hash of the sources and packages of the last build. */
const stampFile = join(built, "made-of");

/** Builds the dashboard and the guides, each if its sources or packages have changed since the last build. */
export async function buildDashboard() {
  await buildPages();
  await buildDocs();
}

async function buildPages() {
  const stamp = hashOfSource();
  if (builtFrom() === stamp) return;
  const vite = join(root, "node_modules", "vite", "bin", "vite.js");
  if (!existsSync(vite)) {
    const state = existsSync(built) ? "is older than its source" : "is not built";
    process.stdout.write(`The dashboard ${state}: "npm ci --include=dev" brings what builds it.\n`);
    return;
  }

  const startedAt = Date.now();
  process.stdout.write("Building the dashboard (some seconds, only after a change)…\n");
  // Atomic replacement: another process may build at the same time, and a running server may be reading the old build.
  const fresh = `${built}-${process.pid}`;
  let said = "";
  const options = {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_ENV: "production", HELIOGRAPH_DASHBOARD_STAMP: stamp },
  };
  const { code } = await runToEnd(
    nodeForServer(),
    [vite, "build", source, "--outDir", relative(source, fresh), "--logLevel", "warn"],
    options,
    ({ stdout, stderr }) => [stdout, stderr].forEach((stream) => stream.on("data", (chunk) => (said += chunk))),
  );
  if (code !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    throw new Error(`The dashboard could not be built:\n${said}`);
  }
  writeFileSync(join(fresh, "made-of"), stamp);
  takePlace(fresh);
  process.stdout.write(`The dashboard is built (${((Date.now() - startedAt) / 1000).toFixed(1)} s).\n`);
}

function takePlace(fresh) {
  const old = `${fresh}-old`;
  try {
    if (existsSync(built)) renameSync(built, old);
    renameSync(fresh, built);
  } catch (error) {
    // Another process has built the same sources in the meantime.
    if (!["ENOENT", "ENOTEMPTY", "EEXIST"].includes(error.code)) throw error;
  }
  for (const folder of [old, fresh]) rmSync(folder, { recursive: true, force: true });
}

function builtFrom() {
  try {
    return readFileSync(stampFile, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

function hashOfSource() {
  const hash = createHash("sha256");
  for (const file of [...filesIn(source), join(root, "package-lock.json")]) {
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update("\0");
  }
  return hash.digest("hex");
}

function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith("dist") && !name.endsWith(".md"))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)]));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await buildDashboard();
