import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
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

/** Longest first. */
const CHECKS = [
  ["oxlint"],
  ["tsc"],
  ["knip"],
  ["tsc", "-p", "dashboard"],
  ["tsc", "-p", "sdk/typescript", "--noEmit"],
  ["oxfmt", "--check"],
];

const bundled = join(root, "node_modules", ".cache", "test-server");

const vitestArgs = process.argv.slice(2);
const startedAt = Date.now();

await install({ dev: true });
if (pinnedNodeIsAnother() || !nodeRunsServer()) await continueWithPinnedNode("scripts/test.mjs", vitestArgs);
else await runChecks();

async function runChecks() {
  // Together, because each of them uses one core for a part of its time.
  const [checked] = await Promise.all([Promise.all(CHECKS.map(check)), buildDashboard()]);
  const failed = CHECKS.filter((_, index) => !checked[index]).map((command) => command.join(" "));
  if (failed.length > 0) fail(`\n${failed.join(" and ")} failed after ${secondsSince(startedAt)}.`);
  await provideProgrammes();
  await bundleServer();
  await compileServer();
  const passed = await runTests();
  process.exit(passed ? 0 : 1);
}

/** Runs a tool from node_modules, and prints its output under a heading when it has ended. */
async function check([tool, ...args]) {
  const checkStartedAt = Date.now();
  let printed = "";
  const { code } = await runTool(tool, args, { stdio: ["ignore", "pipe", "pipe"] }, ({ stdout, stderr }) =>
    [stdout, stderr].forEach((stream) => stream.setEncoding("utf8").on("data", (chunk) => (printed += chunk))),
  );
  const outcome = `${code === 0 ? "ok" : "failed"} (${secondsSince(checkStartedAt)})`;
  process.stdout.write(`\n== ${[tool, ...args].join(" ")}\n${printed}${tool}: ${outcome}\n`);
  return code === 0;
}

function runTool(tool, args, { env, ...options }, onStart) {
  const bin = join(root, "node_modules", ".bin");
  const path = `${bin}${delimiter}${process.env.PATH || ""}`;
  const settings = { ...options, env: { ...process.env, ...env, PATH: path } };
  return runToEnd(process.execPath, [join(bin, tool), ...args], settings, onStart);
}

/**
 * Bundles the server and the command line for the tests that start them as processes, some two hundred times: from a
 * thousand source files a start takes almost twice the CPU time. Here commit and date are unknown, as in a clone.
 */
async function bundleServer() {
  // Not at the top: when this file is loaded, rolldown may not be installed yet.
  const { bundle } = await import("./release/bundle.mjs");
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  rmSync(bundled, { recursive: true, force: true });
  await bundle(
    join(bundled, "lib"),
    { version, commit: null, builtAt: null },
    { main: "src/main.ts", cli: "src/cli/heliograph.ts", start: "src/app/start.ts" },
  );
  symlinkSync(join(root, "dashboard", "dist"), join(bundled, "dashboard"));
}

/** Fills the compile cache: most servers are killed, and Node writes the cache only on a normal exit. */
async function compileServer() {
  for (const file of [join(root, "src/app/start.ts"), join(bundled, "lib/start.mjs")]) {
    const args = ["--input-type=module", "-e", `await import(${JSON.stringify(file)})`];
    const { code } = await runToEnd(process.execPath, args, { env: { ...process.env, NODE_COMPILE_CACHE: compiled } });
    if (code !== 0) fail(`\n${file} cannot be loaded.`);
  }
}

async function runTests() {
  const folder = mkdtempSync(join(tmpdir(), "heliograph-test-"));
  const report = join(folder, "report.json");
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const vitestStartedAt = Date.now();
    process.stdout.write("\n== vitest run\n");
    const env = { NODE_COMPILE_CACHE: compiled, HELIOGRAPH_TEST_BUNDLE: join(bundled, "lib") };
    const { code } = await runTool("vitest", ["run", ...reporters, ...vitestArgs], { env });
    const passed = code === 0;
    process.stdout.write(`vitest: ${passed ? "ok" : "failed"} (${secondsSince(vitestStartedAt)})\n`);
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

/** A test file that fails before its first test counts as one failure. */
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

/** Installs the programs that the tests need and npm cannot install. */
async function provideProgrammes() {
  const { postgresBinaries } = await import("../test/support/postgres-cluster.ts");
  const { chromium, debianNetSds, debianNetSmpp, debianSmtp, debianTwilio, inPath } =
    await import("../test/support/programmes.ts");
  const programmes = [
    { name: "the PostgreSQL server", aptPackage: "postgresql", find: postgresBinaries },
    { name: "Chromium", aptPackage: "chromium-headless-shell", find: chromium },
    { name: "tshark", aptPackage: "tshark", find: () => inPath("tshark") },
    { name: "PgBouncer", aptPackage: "pgbouncer", find: () => inPath("pgbouncer") },
    { name: "jq", aptPackage: "jq", find: () => inPath("jq") },
    { name: "curl", aptPackage: "curl", find: () => inPath("curl") },
    { name: "Kannel", aptPackage: "kannel", find: () => inPath("bearerbox") },
  ];
  if (process.platform === "linux") {
    programmes.push(
      { name: "strace", aptPackage: "strace", find: () => inPath("strace") },
      { name: "nginx", aptPackage: "nginx-light", find: () => inPath("nginx") },
      { name: "Caddy", aptPackage: "caddy", find: () => inPath("caddy") },
      { name: "Pebble", aptPackage: "pebble", find: () => inPath("pebble") },
      { name: "HAProxy", aptPackage: "haproxy", find: () => inPath("haproxy") },
      { name: "Twilio's Python library", aptPackage: "python3-twilio", find: debianTwilio },
      { name: "aiosmtpd", aptPackage: "python3-aiosmtpd", find: debianSmtp },
      { name: "Kannel's Perl client", aptPackage: "libnetsds-kannel-perl", find: debianNetSds },
      { name: "Perl's Net::SMPP", aptPackage: "libnet-smpp-perl", find: debianNetSmpp },
    );
  }

  let missing = programmes.filter(({ find }) => find() === undefined);
  if (missing.length === 0) return;
  const packages = missing.map(({ aptPackage }) => aptPackage);
  if (process.getuid?.() === 0 && inPath("apt-get") !== undefined) {
    await aptInstall(packages);
    missing = programmes.filter(({ find }) => find() === undefined);
  }
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name).join(" and ");
  fail(`\nThe tests need ${names}: install with "apt-get install ${packages.join(" ")}" or your system's equivalent.`);
}

async function aptInstall(packages) {
  process.stdout.write(`\n== apt-get install ${packages.join(" ")}\n`);
  // With run level 1 Debian starts no installed service: the tests start their own PostgreSQL.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  for (const args of [["update"], ["install", "-y", "--no-install-recommends", ...packages]]) {
    const { code } = await runToEnd("apt-get", ["-qq", ...args], { env, stdio: ["ignore", "ignore", "inherit"] });
    if (code !== 0) fail(`\napt-get ${args[0]} failed; the tests need the packages ${packages.join(" ")}.`);
  }
}

function secondsSince(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}
