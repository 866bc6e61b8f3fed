// Everything that is measured, one after the other, and at the end where it stands beside what we want.
// Run: npm run bench [-- --quick --long --only accept,kannel]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { postgresBinaries } from "../test/support/postgres-cluster.ts";
import { say } from "./figures.ts";
import { SBIN } from "./kannel-process.ts";
import { targetTable } from "./targets.ts";

const { values: options } = parseArgs({
  options: {
    /** A few seconds each, to see that everything runs; its figures say little and are kept apart. */
    quick: { type: "boolean", default: false },
    /** Also what takes hours: the soak and the overload. */
    long: { type: "boolean", default: false },
    /** Names of benches; all of them unless given. */
    only: { type: "string" },
  },
});

interface Bench {
  name: string;
  /** Options of every run. */
  args?: readonly string[];
  /** Options of a short run. */
  quick: readonly string[];
  /** Takes the option --engine. */
  onEngines?: boolean;
  isLong?: boolean;
  needsKannel?: boolean;
  needsPostgres?: boolean;
}

const short = ["--seconds", "1", "--rounds", "1"];
const BENCHES: readonly Bench[] = [
  { name: "segment", quick: [] },
  { name: "smpp-session", quick: short },
  { name: "callbacks", quick: short },
  { name: "platforms", quick: short },
  { name: "accept", quick: short, onEngines: true },
  { name: "verify", quick: short, onEngines: true },
  { name: "redirect", quick: [...short, "--links", "100000"], onEngines: true },
  { name: "lanes", quick: ["--seconds", "3"], onEngines: true },
  {
    name: "smpp",
    args: ["--whole-only"],
    quick: ["--lives", "1", "--rounds", "1", "--messages", "5000"],
    onEngines: true,
  },
  { name: "kannel", quick: short, onEngines: true, needsKannel: true },
  { name: "nodes", quick: [...short, "--lives", "1"], needsPostgres: true },
  { name: "growth", quick: ["--quick"], onEngines: true },
  { name: "overload", quick: [], isLong: true },
  { name: "soak", quick: [], isLong: true },
];

const hasPostgres = postgresBinaries() !== undefined;
const hasKannel = ["bearerbox", "smsbox"].every((box) => existsSync(join(SBIN, box)));

/** What a bench cannot run without; null where all of it is there. */
function missingFor({ needsKannel, needsPostgres }: Bench): string | null {
  if (needsKannel && !hasKannel) return `Kannel was not found in ${SBIN}; install Debian's package kannel`;
  return needsPostgres && !hasPostgres ? "it is about PostgreSQL, which was not found" : null;
}

const startedAt = performance.now();
const sinceStart = (): string => {
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
};

/** Runs one as a process of its own, so that none of them meets what another has left behind. */
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
    `--only: no bench is called ${unknown.join(", ")}; there are ${BENCHES.map(({ name }) => name).join(", ")}`,
  );
const chosen = BENCHES.filter(({ name }) => names.includes(name));

if (options.quick) process.env["BENCH_RESULTS"] = await mkdtemp(join(tmpdir(), "heliograph-bench-"));
const engines = hasPostgres ? "sqlite,postgres" : "sqlite";
if (!hasPostgres) say("PostgreSQL was not found (Debian's package postgresql): everything runs on SQLite only.");

const runStartedAt = Date.now();
const failed: string[] = [];
const skipped: string[] = [];
for (const [index, bench] of chosen.entries()) {
  const { name, args = [], quick, onEngines } = bench;
  say(`\n[${index + 1}/${chosen.length}] ${name} (${sinceStart()} since the start)`);
  const missing = missingFor(bench);
  if (missing !== null) {
    skipped.push(name);
    say(`  skipped: ${missing}`);
    continue;
  }
  const all = [...args, ...(options.quick ? quick : []), ...(onEngines ? ["--engine", engines] : [])];
  if (await run(name, all)) continue;
  failed.push(name);
  say(`  ${name} FAILED; what it printed stands above`);
}
say(
  `\n${chosen.length} benches in ${sinceStart()}; skipped: ${skipped.join(", ") || "none"}; failed: ${failed.join(", ") || "none"}\n`,
);
for (const line of targetTable(runStartedAt)) say(line);
if (!options.quick && !(await run("plot", []))) failed.push("plot");
if (options.quick)
  say(`\nA short run: its figures are in ${process.env["BENCH_RESULTS"]} and change nothing in bench/results.`);
process.exitCode = failed.length > 0 ? 1 : 0;
