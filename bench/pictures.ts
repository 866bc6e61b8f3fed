import { COLOURS, linePlot, pairPlot, targetPlot, type LinePlot, type PairBars, type Series } from "./svg.ts";
import { figureOf, TARGETS, written, type BenchResult } from "./targets.ts";

/** SVG texts by the names of their files. */
export type Pictures = Record<string, string>;

/** As `record` writes it down with every result. */
interface About {
  date?: string;
  heliograph?: string;
  node?: string;
  machine?: { cpu: string; cores: number };
}

const aboutOf = (result: object | undefined): string => {
  const { date, heliograph, node, machine } = (result ?? {}) as About;
  const parts = [
    date,
    heliograph && `Heliograph ${heliograph}`,
    node && `Node ${node.replace("v", "")}`,
    machine && `${machine.cores} cores, ${machine.cpu}`,
  ];
  return parts.filter(Boolean).join(" · ");
};

const cpuOf = (result: object = {}): string | undefined => (result as About).machine?.cpu;

/** Every path beside its target, read with whatever finds the result of a bench by its name. */
export function ratiosPlot(resultOf: (file: string) => BenchResult | undefined): Pictures {
  const measured = TARGETS.map(({ file }) => resultOf(file)).find(Boolean);
  let elsewhere = "";
  const bars = TARGETS.map((target) => {
    const result = resultOf(target.file);
    const figure = figureOf(target, result);
    const wanted = `${target.direction === "at least" ? "≥" : "<"} ${written(target.unit, target.wanted)}`;
    if (figure === undefined) return { name: target.path, share: undefined, words: `not measured (${wanted})` };
    const share = target.direction === "at least" ? figure / target.wanted : target.wanted / figure;
    const isElsewhere = cpuOf(result) !== cpuOf(measured);
    if (isElsewhere) elsewhere = ` · * measured on ${cpuOf(result) ?? "another machine"}`;
    return { name: target.path, share, words: `${written(target.unit, figure)} (${wanted})${isElsewhere ? " *" : ""}` };
  });
  return { ratios: targetPlot("Every path beside its target", aboutOf(measured) + elsewhere, bars) };
}

interface Pair {
  full: number;
  empty: number;
}

interface GrowthRow {
  engine: string;
  accept: Pair;
  dispatch: Pair;
  queuedMemoryMB: number;
  fullMemoryMB: number;
  emptyMemoryMB: number;
  startMs: number;
  emptyStartMs: number;
  queries: (Pair & { name: string })[];
}

const rate = (value: number): string => `${value.toLocaleString("en", { maximumFractionDigits: 0 })}/s`;
const milliseconds = (value: number): string =>
  `${value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 })} ms`;
const megabytes = (value: number): string => `${value.toFixed(0)} MB`;

/** A store that has been used for long beside an empty one, a picture for each engine. */
export function growthPlots(result: BenchResult | undefined): Pictures {
  const { rows = 0, queued = 0 } = (result ?? {}) as { rows?: number; queued?: number };
  const [messages, waiting] = [rows, queued].map((count) => count.toLocaleString("en"));
  const pictures = (result?.results ?? []).map((row): [string, string] => {
    const growth = row as unknown as GrowthRow;
    const pairs: PairBars[] = [
      { name: "Accepts", ...growth.accept, words: rate },
      { name: "Messages to the SMSC", ...growth.dispatch, words: rate },
      {
        name: "Memory with a queue alone",
        full: growth.queuedMemoryMB,
        empty: growth.emptyMemoryMB,
        words: megabytes,
      },
      { name: "Memory with all of it", full: growth.fullMemoryMB, empty: growth.emptyMemoryMB, words: megabytes },
      { name: "Start with a queue", full: growth.startMs, empty: growth.emptyStartMs, words: milliseconds },
      ...growth.queries.map(({ name, full, empty }) => ({ name: `Page: ${name}`, full, empty, words: milliseconds })),
    ];
    const title = `${messages} messages in the store, ${waiting} waiting, beside none (${growth.engine})`;
    return [`growth-${growth.engine}`, pairPlot(title, `Each pair has its own scale · ${aboutOf(result)}`, pairs)];
  });
  return Object.fromEntries(pictures);
}

type Sample = Readonly<Record<string, number | null>>;
type Lines = Pick<LinePlot, "title" | "unit"> & {
  /** Words of the legend by the names of the samples' fields. */
  fields: Record<string, string>;
  logarithmic?: boolean;
};

const LINE_COLOURS = [COLOURS.blue, COLOURS.orange, COLOURS.red, COLOURS.violet] as const;

const SOAK: Record<string, Lines> = {
  "soak-accept": {
    title: "Soak: time of an accept",
    unit: "ms",
    fields: { acceptP50: "p50", acceptP99: "p99", acceptP999: "p99.9" },
    logarithmic: true,
  },
  "soak-callback": {
    title: "Soak: from accepted to called back",
    unit: "ms",
    fields: { callbackP50: "p50", callbackP99: "p99", callbackP999: "p99.9" },
    logarithmic: true,
  },
  "soak-memory": {
    title: "Soak: memory of the server",
    unit: "MiB",
    fields: { rssMiB: "resident", heapMiB: "JavaScript heap" },
  },
  "soak-wal": { title: "Soak: size of the write-ahead log", unit: "MiB", fields: { walMiB: "write-ahead log" } },
  "soak-loop": { title: "Soak: delay of the event loop, p99", unit: "ms", fields: { loopP99Ms: "p99" } },
};

const OVERLOAD: Record<string, Lines> = {
  "overload-requests": {
    title: "Overload: messages offered, accepted and refused",
    unit: "in 5 seconds",
    fields: { offered: "offered", accepted: "accepted", refused: "refused" },
  },
  "overload-passwords": {
    title: "Overload: p99 of a password, from accepted to handed over",
    unit: "ms",
    fields: { otpP99Ms: "p99" },
    logarithmic: true,
  },
  "overload-memory": { title: "Overload: memory of the server", unit: "MiB", fields: { rssMiB: "resident" } },
};

function plotSamples(plots: Record<string, Lines>, result: object | undefined): Pictures {
  const { samples = [] } = (result ?? {}) as { samples?: readonly Sample[] };
  if (samples.length === 0) return {};
  const seconds = samples.map(({ second }, index) => second ?? index);
  const pictures: Pictures = {};
  for (const [name, { fields, ...lines }] of Object.entries(plots)) {
    const series = Object.entries(fields).map(([field, words], index): Series => ({
      name: words,
      colour: LINE_COLOURS[index] ?? COLOURS.grey,
      values: samples.map((sample) => sample[field] ?? null),
    }));
    const hasValues = series.some(({ values }) => values.some((value) => value !== null));
    if (hasValues) pictures[name] = linePlot({ ...lines, subtitle: aboutOf(result), seconds, series });
  }
  return pictures;
}

/** How a server fares that is used for hours. */
export const soakPlots = (result: object | undefined): Pictures => plotSamples(SOAK, result);

/** How a server fares of which more is asked than it can do. */
export const overloadPlots = (result: object | undefined): Pictures => plotSamples(OVERLOAD, result);
