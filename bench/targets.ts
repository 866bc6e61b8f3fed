import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { resultsFolder } from "./record.ts";

/** What we want of a path, and where the figure stands that tells whether it is so. */
export interface Target {
  path: string;
  wanted: number;
  /** A rate or a ratio should reach what is wanted; time and memory should stay below it. */
  direction: "at least" | "below";
  /** Empty for a ratio. */
  unit: "" | "/s" | "ms" | "MB";
  /** The result file's name, without its ending. */
  file: string;
  /** What tells the row among the file's results. */
  row: Readonly<Record<string, string | number>>;
  field: string;
}

const ENGINES = { sqlite: "SQLite", postgres: "PostgreSQL" };

/** The same target on both engines; what names the row differs between result files. */
function onBoth(target: Omit<Target, "row">, rowOf: (engine: string) => Target["row"]): Target[] {
  return Object.entries(ENGINES).map(([engine, name]) => ({
    ...target,
    path: `${target.path}, ${name}`,
    row: rowOf(engine),
  }));
}

const atLeast = (wanted: number) => ({ wanted, direction: "at least", unit: "" }) as const;
const perSecond = (wanted: number) => ({ wanted, direction: "at least", unit: "/s" }) as const;
const below = (wanted: number, unit: "ms" | "MB") => ({ wanted, direction: "below", unit }) as const;

const accepting = (engine: string) => ({ name: `${engine}, accepting` });
const sending = (engine: string) => ({ name: `${engine}, accepting and sending` });
const byEngine = (engine: string) => ({ engine });
const byName = (name: string) => ({ name });

/** Where every path should be: ratios to a peer in the same run where there is one. */
export const TARGETS: readonly Target[] = [
  ...onBoth({ path: "Accept to Fastify echo", ...atLeast(0.9), file: "accept", field: "ratioToEcho" }, accepting),
  ...onBoth(
    { path: "Accept, bulk, recipients", ...perSecond(60_000), file: "accept", field: "bulkRecipientsPerSecond" },
    accepting,
  ),
  ...onBoth({ path: "Accept, bulk of 1,000", ...below(50, "ms"), file: "accept", field: "bulkP50Ms" }, accepting),
  ...onBoth({ path: "API to SMSC, to Kannel", ...atLeast(1.5), file: "kannel", field: "ratio" }, (engine) => ({
    path: "API to SMSC",
    engine,
  })),
  ...onBoth({ path: "API to callback, to Kannel", ...atLeast(2.5), file: "kannel", field: "ratio" }, (engine) => ({
    path: "API to callback",
    engine,
  })),
  ...onBoth({ path: "Bulk to SMPP submit", ...perSecond(25_000), file: "smpp", field: "submitsPerSecond" }, byName),
  ...[10, 100, 1000].map((window): Target => ({
    path: `SMPP session to npm smpp, window ${window}`,
    ...atLeast(20),
    file: "smpp-session",
    row: { window },
    field: "ratioToNpm",
  })),
  { path: "Signed callbacks to bare pool", ...atLeast(0.7), file: "callbacks", row: {}, field: "ratioToPool" },
  ...["WhatsApp", "RCS for Business", "HTTP, Twilio's form"].map((name): Target => ({
    path: `${name} to bare pool`,
    ...atLeast(0.7),
    file: "platforms",
    row: { name },
    field: "ratio",
  })),
  ...onBoth({ path: "Verify pair to accept", ...atLeast(0.4), file: "verify", field: "ratioToAccept" }, sending),
  ...onBoth({ path: "Pair, accept-only node", ...atLeast(0.4), file: "verify", field: "ratioToAccept" }, accepting),
  ...onBoth({ path: "Redirect to accept", ...atLeast(1), file: "redirect", field: "ratioToAccept" }, byName),
  ...onBoth({ path: "Password under a flood, p99", ...below(100, "ms"), file: "lanes", field: "queueP99Ms" }, byEngine),
  { path: "Segmentation, slowest text", ...perSecond(500_000), file: "segment", row: {}, field: "slowestPerSecond" },
  // Only where there are cores for two: elsewhere the row is another.
  { path: "Two nodes to one, PostgreSQL", ...atLeast(1.6), file: "nodes", row: { cores: "enough" }, field: "ratio" },
  ...onBoth({ path: "Growth: accept, full to empty", ...atLeast(0.9), file: "growth", field: "acceptRatio" }, byEngine),
  ...onBoth(
    { path: "Growth: dispatch, full to empty", ...atLeast(0.9), file: "growth", field: "dispatchRatio" },
    byEngine,
  ),
  ...onBoth(
    { path: "Growth: memory with a queue", ...below(300, "MB"), file: "growth", field: "queuedMemoryMB" },
    byEngine,
  ),
  ...onBoth({ path: "Growth: start with a queue", ...below(3000, "ms"), file: "growth", field: "startMs" }, byEngine),
];

/** As every bench records itself; which figures a row has differs from one to the next. */
export interface BenchResult {
  results?: readonly Readonly<Record<string, unknown>>[];
}

/** What a run left in its result file, or undefined where there is none. */
export function readResult(file: string): BenchResult | undefined {
  const path = join(resultsFolder(), `${file}.json`);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as BenchResult) : undefined;
}

/** The figure of a target in the contents of its result file, or undefined where that path was not measured. */
export function figureOf({ row, field }: Target, result: BenchResult | undefined): number | undefined {
  const found = result?.results?.find((each) => Object.entries(row).every(([name, value]) => each[name] === value));
  const figure = found?.[field];
  return typeof figure === "number" ? figure : undefined;
}

/** Whether a figure is where we want it. */
export const isReached = ({ wanted, direction }: Target, figure: number): boolean =>
  direction === "at least" ? figure >= wanted : figure < wanted;

/** A ratio has two places, everything else none but the separators of thousands. */
export function written(unit: Target["unit"], figure: number): string {
  if (unit === "") return figure.toFixed(2);
  const number = figure.toLocaleString("en", { maximumFractionDigits: 0 });
  return unit === "/s" ? `${number}/s` : `${number} ${unit}`;
}

/** The table of all targets, with what was measured; a figure from before `since` says so. */
export function targetTable(since: number): string[] {
  const lines = TARGETS.map((target) => {
    const figure = figureOf(target, readResult(target.file));
    const cells = [
      target.path.padEnd(46),
      `${target.direction === "at least" ? "≥" : "<"} ${written(target.unit, target.wanted)}`.padStart(12),
      (figure === undefined ? "-" : written(target.unit, figure)).padStart(13),
    ];
    if (figure === undefined) return `${cells.join(" ")}   not measured`;
    const isEarlier = statSync(join(resultsFolder(), `${target.file}.json`)).mtimeMs < since;
    return `${cells.join(" ")}   ${isReached(target, figure) ? "reached" : "NOT REACHED"}${isEarlier ? " (an earlier run)" : ""}`;
  });
  return [`${"path".padEnd(46)} ${"target".padStart(12)} ${"measured".padStart(13)}`, ...lines];
}
