import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { resultsFolder } from "./record.ts";

/** The target of a path, and the location of its measured figure. */
export interface Target {
  path: string;
  wanted: number;
  /** Rates and ratios must reach the target; times and memory must stay below it. */
  direction: "at least" | "below";
  /** Empty for a ratio. */
  unit: "" | "/s" | "ms" | "MB";
  /** Name of the result file without extension. */
  file: string;
  /** Fields that identify the row in the file's results. */
  row: Readonly<Record<string, string | number>>;
  field: string;
}

const ENGINES = { sqlite: "SQLite", postgres: "PostgreSQL" };

/** The same target on both engines; the fields that identify a row differ between result files. */
function onBothEngines(target: Omit<Target, "row">, rowOf: (engine: string) => Target["row"]): Target[] {
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

/** Targets of all paths: ratios to a baseline in the same run where one exists. */
export const TARGETS: readonly Target[] = [
  ...onBothEngines(
    { path: "Accept to Fastify echo", ...atLeast(0.9), file: "accept", field: "ratioToEcho" },
    accepting,
  ),
  ...onBothEngines(
    { path: "Accept, bulk, recipients", ...perSecond(60_000), file: "accept", field: "bulkRecipientsPerSecond" },
    accepting,
  ),
  ...onBothEngines(
    { path: "Accept, bulk on RCS, to SMS", ...atLeast(0.8), file: "accept", field: "bulkRcsToSms" },
    accepting,
  ),
  ...onBothEngines(
    { path: "Accept, bulk on the chat app, to SMS", ...atLeast(0.8), file: "accept", field: "bulkChatappToSms" },
    accepting,
  ),
  ...onBothEngines(
    { path: "Accept, bulk of 1,000", ...below(50, "ms"), file: "accept", field: "bulkP50Ms" },
    accepting,
  ),
  ...onBothEngines({ path: "API to SMSC, to Kannel", ...atLeast(1.5), file: "kannel", field: "ratio" }, (engine) => ({
    path: "API to SMSC",
    engine,
  })),
  ...onBothEngines(
    { path: "API to callback, to Kannel", ...atLeast(2.5), file: "kannel", field: "ratio" },
    (engine) => ({
      path: "API to callback",
      engine,
    }),
  ),
  ...onBothEngines(
    { path: "Bulk to SMPP submit", ...perSecond(25_000), file: "smpp", field: "submitsPerSecond" },
    byName,
  ),
  ...onBothEngines(
    { path: "SMPP server, accept, to HTTP", ...atLeast(0.8), file: "smpp-server", field: "ratio" },
    (engine) => ({ path: "Durable acceptance", engine }),
  ),
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
  ...["Twilio", "Kannel", "Jasmin, HTTP", "Jasmin, REST"].map((name): Target => ({
    path: `Accept through ${name}, to /v1/sms`,
    ...atLeast(0.8),
    file: "facades",
    row: { name },
    field: "ratioToSms",
  })),
  ...onBothEngines({ path: "Verify pair to accept", ...atLeast(0.4), file: "verify", field: "ratioToAccept" }, sending),
  ...onBothEngines(
    { path: "Pair, accept-only node", ...atLeast(0.4), file: "verify", field: "ratioToAccept" },
    accepting,
  ),
  ...onBothEngines({ path: "Redirect to accept", ...atLeast(1), file: "redirect", field: "ratioToAccept" }, byName),
  ...onBothEngines(
    { path: "Password under a flood, p99", ...below(100, "ms"), file: "lanes", field: "queueP99Ms" },
    byEngine,
  ),
  { path: "Segmentation, slowest text", ...perSecond(500_000), file: "segment", row: {}, field: "slowestPerSecond" },
  // Matches only results from a machine with enough cores for two nodes.
  { path: "Two nodes to one, PostgreSQL", ...atLeast(1.6), file: "nodes", row: { cores: "enough" }, field: "ratio" },
  ...onBothEngines(
    { path: "Growth: accept, full to empty", ...atLeast(0.9), file: "growth", field: "acceptRatio" },
    byEngine,
  ),
  ...onBothEngines(
    { path: "Growth: dispatch, full to empty", ...atLeast(0.9), file: "growth", field: "dispatchRatio" },
    byEngine,
  ),
  ...onBothEngines(
    { path: "Growth: memory with a queue", ...below(300, "MB"), file: "growth", field: "queuedMemoryMB" },
    byEngine,
  ),
  ...onBothEngines(
    { path: "Growth: start with a queue", ...below(3000, "ms"), file: "growth", field: "startMs" },
    byEngine,
  ),
];

/** Common shape of the result files; the fields of a row differ between benches. */
export interface BenchResult {
  results?: readonly Readonly<Record<string, unknown>>[];
}

export function readResult(file: string): BenchResult | undefined {
  const path = join(resultsFolder(), `${file}.json`);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as BenchResult) : undefined;
}

/** Figure of a target in its result file, or undefined if that path was not measured. */
export function figureOf({ row, field }: Target, result: BenchResult | undefined): number | undefined {
  const found = result?.results?.find((each) => Object.entries(row).every(([name, value]) => each[name] === value));
  const figure = found?.[field];
  return typeof figure === "number" ? figure : undefined;
}

export const isReached = ({ wanted, direction }: Target, figure: number): boolean =>
  direction === "at least" ? figure >= wanted : figure < wanted;

/** Ratios have two decimals; other figures none, with thousands separators. */
export function formatFigure(unit: Target["unit"], figure: number): string {
  if (unit === "") return figure.toFixed(2);
  const number = figure.toLocaleString("en", { maximumFractionDigits: 0 });
  return unit === "/s" ? `${number}/s` : `${number} ${unit}`;
}

/** Table of all targets with the measured figures. Marks figures older than `since`. */
export function targetTable(since: number): string[] {
  const lines = TARGETS.map((target) => {
    const figure = figureOf(target, readResult(target.file));
    const cells = [
      target.path.padEnd(46),
      `${target.direction === "at least" ? "≥" : "<"} ${formatFigure(target.unit, target.wanted)}`.padStart(12),
      (figure === undefined ? "-" : formatFigure(target.unit, figure)).padStart(13),
    ];
    if (figure === undefined) return `${cells.join(" ")}   not measured`;
    const isEarlier = statSync(join(resultsFolder(), `${target.file}.json`)).mtimeMs < since;
    return `${cells.join(" ")}   ${isReached(target, figure) ? "reached" : "NOT REACHED"}${isEarlier ? " (an earlier run)" : ""}`;
  });
  return [`${"path".padEnd(46)} ${"target".padStart(12)} ${"measured".padStart(13)}`, ...lines];
}
