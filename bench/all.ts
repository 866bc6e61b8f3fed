// Runs every bench in sequence, then prints the measured figures next to their targets.
// Run: npm run bench [-- --quick --long --only accept,kannel]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { postgresBinaries } from "../test/support/postgres-cluster.ts";
import { print } from "./report.ts";
import { SBIN } from "./kannel-process.ts";
import { targetTable } from "./targets.ts";

const { values: options } = parseArgs({
  options: {
    /** Smoke test of a few seconds per bench. Its figures are not representative and go to a temporary folder. */
    quick: { type: "boolean", default: false },
    /** Includes the benches that take hours: soak and overload. */
    long: { type: "boolean", default: false },
    /** Names of the benches to run; default: all. */
    only: { type: "string" },
  },
});

interface Bench {
  name: string;
  /** Options of every run, quick or not. */
  args?: readonly string[];
  /** Options of a quick run. */
  quick: readonly string[];
  /** Takes the option --engine. */
  onEngines?: boolean;
  isLong?: boolean;
  needsKannel?: boolean;
  needsPostgres?: boolean;
}

const SHORT = ["--seconds", "1", "--rounds", "1"];
const BENCHES: readonly Bench[] = [
  { name: "segment", quick: [] },
  { name: "smpp-session", quick: SHORT },
  { name: "callbacks", quick: SHORT },
  { name: "platforms", quick: SHORT },
  { name: "accept", quick: SHORT, onEngines: true },
  { name: "facades", quick: SHORT },
  { name: "verify", quick: SHORT, onEngines: true },
  { name: "redirect", quick: [...SHORT, "--links", "100000"], onEngines: true },
  { name: "lanes", quick: ["--seconds", "3"], onEngines: true },
  {
    name: "smpp",
    args: ["--whole-only"],
    quick: ["--processes", "1", "--rounds", "1", "--messages", "5000"],
    onEngines: true,
  },
  { name: "smpp-server", quick: SHORT, onEngines: true },
  { name: "kannel", quick: SHORT, onEngines: true, needsKannel: true },
  { name: "nodes", quick: [...SHORT, "--processes", "1"], needsPostgres: true },
  { name: "reads", quick: [...SHORT, "--size", "10000"], onEngines: true },
  { name: "growth", quick: ["--quick"], onEngines: true },
  { name: "campaign", quick: ["--recipients", "50000"], onEngines: true },
  { name: "start", quick: ["--rounds", "1"] },
  { name: "backup", quick: ["--before", "1000", "--seconds", "1"] },
  { name: "upgrade", quick: ["--quick"], onEngines: true },
  { name: "streams", quick: ["--seconds", "2", "--streams", "200"] },
  { name: "overload", quick: [], isLong: true },
  { name: "soak", quick: [], isLong: true },
];

const hasPostgres = postgresBinaries() !== undefined;
const hasKannel = ["bearerbox", "smsbox"].every((box) => existsSync(join(SBIN, box)));

/** Returns the reason why a bench cannot run on this machine, or null. */
function missingFor({ needsKannel, needsPostgres }: Bench): string | null {
  if (needsKannel && !hasKannel) return `Kannel was not found in ${SBIN}; install Debian's package kannel`;
  return needsPostgres && !hasPostgres ? "PostgreSQL was not found" : null;
}

const startedAt = performance.now();
const sinceStart = (): string => {
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
};

/** Each bench runs in its own process, so that no heap or compiled code carries over. */
async function run(file: string, args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, [join(import.meta.dirname, `${file}.ts`), ...args], { stdio: "inherit" });
  const [code] = (await once(child, "close")) as [number | null];
  return code === 0;
}

const names =
  options.only?.split(",") ?? BENCHES.filter(({ isLong }) => options.long || !isLong).map(({ name }) => name);
const unknown = names.filter((name) => !BENCHES.some((bench) => bench.name === name));
if (unknown.length > 0)
  throw new Error(
    `--only: unknown bench \${unknown.join(", ")}; known are ${BENCHES.map(({ name }) => name).join(", ")}`,
  );
const chosen = BENCHES.filter(({ name }) => names.includes(name));

if (options.quick) process.env["BENCH_RESULTS"] = await mkdtemp(join(tmpdir(), "heliograph-bench-"));
const engines = hasPostgres ? "sqlite,postgres" : "sqlite";
if (!hasPostgres) print("PostgreSQL was not found (Debian's package postgresql): all benches run on SQLite only.");

const runStartedAt = Date.now();
const failed: string[] = [];
const skipped: string[] = [];
for (const [index, bench] of chosen.entries()) {
  const { name, args = [], quick, onEngines } = bench;
  print(`\n[${index + 1}/${chosen.length}] ${name} (${sinceStart()} since the start)`);
  const missing = missingFor(bench);
  if (missing !== null) {
    skipped.push(name);
    print(`  skipped: ${missing}`);
    continue;
  }
  const all = [...args, ...(options.quick ? quick : []), ...(onEngines ? ["--engine", engines] : [])];
  if (await run(name, all)) continue;
  failed.push(name);
  print(`  ${name} FAILED; see its output above`);
}
print(
  `\n${chosen.length} benches in ${sinceStart()}; skipped: ${skipped.join(", ") || "none"}; failed: ${failed.join(", ") || "none"}\n`,
);
for (const line of targetTable(runStartedAt)) print(line);
if (!options.quick && !(await run("plot", []))) failed.push("plot");
if (options.quick)
  print(`\nQuick run: its figures are in ${process.env["BENCH_RESULTS"]}, and bench/results is unchanged.`);
process.exitCode = failed.length > 0 ? 1 : 0;
