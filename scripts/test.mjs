import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { buildDashboard } from "./build-dashboard.mjs";
import { install } from "./install.mjs";
import {
  compiled,
  continueWithPinnedNode,
  fail,
  nodeRunsServer,
  pinnedNodeIsAnother,
  root,
  runToEnd,
} from "./pinned-node.mjs";

const vitestArgs = process.argv.slice(2);
const startedAt = Date.now();

await install({ dev: true });
if (pinnedNodeIsAnother() || !nodeRunsServer()) await continueWithPinnedNode("scripts/test.mjs", vitestArgs);
else await runChecks();

async function runChecks() {
  for (const [tool, ...args] of [["tsc"], ["tsc", "-p", "dashboard"], ["oxlint"], ["oxfmt", "--check"], ["knip"]]) {
    if (!(await step(tool, args))) fail(`\n${tool} failed after ${secondsSince(startedAt)}.`);
  }
  await buildDashboard();
  await provideProgrammes();
  await compileServer();
  const passed = await runTests();
  process.exit(passed ? 0 : 1);
}

/** Runs one of the tools in node_modules under a heading; says whether it was content. */
async function step(tool, args, env = {}) {
  const stepStartedAt = Date.now();
  process.stdout.write(`\n== ${[tool, ...args].join(" ")}\n`);
  const bin = join(root, "node_modules", ".bin");
  const path = `${bin}${delimiter}${process.env.PATH || ""}`;
  const { code } = await runToEnd(process.execPath, [join(bin, tool), ...args], {
    env: { ...process.env, ...env, PATH: path },
  });
  process.stdout.write(`${tool}: ${code === 0 ? "ok" : "failed"} (${secondsSince(stepStartedAt)})\n`);
  return code === 0;
}

/** The tests start the server some hundred times and kill it often: Node keeps what it compiled only when it ends by itself. */
async function compileServer() {
  const { code } = await runToEnd(process.execPath, ["--input-type=module", "-e", 'await import("./src/app.ts")'], {
    env: { ...process.env, NODE_COMPILE_CACHE: compiled },
  });
  if (code !== 0) fail("\nsrc/app.ts cannot be loaded.");
}

async function runTests() {
  const folder = mkdtempSync(join(tmpdir(), "heliograph-test-"));
  const report = join(folder, "report.json");
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const passed = await step("vitest", ["run", ...reporters, ...vitestArgs], { NODE_COMPILE_CACHE: compiled });
    const counts = countTests(report);
    if (!passed && counts.failed === 0) {
      process.stdout.write("\nvitest failed outside of the tests, see above; this counts as one failure.\n");
      counts.failed = 1;
    }
    process.stdout.write(`\nAll checks and tests: ${secondsSince(startedAt)}\n`);
    process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
    return passed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A file that fails before its first test counts as one failure, otherwise it would count as nothing. */
function countTests(report) {
  let results;
  try {
    results = JSON.parse(readFileSync(report, "utf8"));
  } catch (error) {
    // vitest was stopped before it wrote its report.
    if (error.code === "ENOENT") return { passed: 0, failed: 0 };
    throw error;
  }
  const brokenFiles = results.testResults.filter(
    (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
  );
  return { passed: results.numPassedTests, failed: results.numFailedTests + brokenFiles.length };
}

/** Makes sure of the programmes that the tests run and npm cannot install. */
async function provideProgrammes() {
  const { postgresBinaries } = await import("../test/support/postgres-cluster.ts");
  const { chromium, inPath } = await import("../test/support/programmes.ts");
  const programmes = [
    { name: "the PostgreSQL server", aptPackage: "postgresql", find: postgresBinaries },
    { name: "Chromium", aptPackage: "chromium-headless-shell", find: chromium },
    { name: "tshark", aptPackage: "tshark", find: () => inPath("tshark") },
    { name: "Kannel", aptPackage: "kannel", find: () => inPath("bearerbox") },
  ];
  if (process.platform === "linux") {
    programmes.push({ name: "strace", aptPackage: "strace", find: () => inPath("strace") });
  }

  let missing = programmes.filter(({ find }) => find() === undefined);
  if (missing.length === 0) return;
  const packages = missing.map(({ aptPackage }) => aptPackage);
  if (process.getuid() === 0 && inPath("apt-get") !== undefined) {
    await aptInstall(packages);
    missing = programmes.filter(({ find }) => find() === undefined);
  }
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name).join(" and ");
  fail(`\nThe tests need ${names}: install with "apt-get install ${packages.join(" ")}" or your system's equivalent.`);
}

async function aptInstall(packages) {
  process.stdout.write(`\n== apt-get install ${packages.join(" ")}\n`);
  // Run level 1 keeps Debian from starting the services it installs: the tests start their own PostgreSQL.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  for (const args of [["update"], ["install", "-y", "--no-install-recommends", ...packages]]) {
    const { code } = await runToEnd("apt-get", ["-qq", ...args], { env, stdio: ["ignore", "ignore", "inherit"] });
    if (code !== 0) fail(`\napt-get ${args[0]} failed; the tests need the packages ${packages.join(" ")}.`);
  }
}

function secondsSince(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}
