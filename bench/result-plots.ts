import {
  COLOURS,
  groupPlot,
  linePlot,
  pairPlot,
  targetPlot,
  type LinePlot,
  type PairBars,
  type Series,
} from "./svg.ts";
import { figureOf, TARGETS, formatFigure, type BenchResult } from "./targets.ts";

/** SVG documents by file name. */
export type Plots = Record<string, string>;

/** Metadata that `record` adds to every result. */
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

/** Every path with its target. `resultOf` reads the result of a bench by name. */
export function ratiosPlot(resultOf: (file: string) => BenchResult | undefined): Plots {
  const measured = TARGETS.map(({ file }) => resultOf(file)).find(Boolean);
  let footnote = "";
  const bars = TARGETS.map((target) => {
    const result = resultOf(target.file);
    const figure = figureOf(target, result);
    const wanted = `${target.direction === "at least" ? "≥" : "<"} ${formatFigure(target.unit, target.wanted)}`;
    if (figure === undefined) return { name: target.path, share: undefined, text: `not measured (${wanted})` };
    const share = target.direction === "at least" ? figure / target.wanted : target.wanted / figure;
    const isOtherMachine = cpuOf(result) !== cpuOf(measured);
    if (isOtherMachine) footnote = ` · * measured on ${cpuOf(result) ?? "another machine"}`;
    return {
      name: target.path,
      share,
      text: `${formatFigure(target.unit, figure)} (${wanted})${isOtherMachine ? " *" : ""}`,
    };
  });
  return { ratios: targetPlot("Every path and its target", aboutOf(measured) + footnote, bars) };
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

/** Full store compared with an empty one, one plot per engine. */
export function growthPlots(result: BenchResult | undefined): Plots {
  const { rows = 0, queued = 0 } = (result ?? {}) as { rows?: number; queued?: number };
  const [messages, waiting] = [rows, queued].map((count) => count.toLocaleString("en"));
  const plots = (result?.results ?? []).map((row): [string, string] => {
    const growth = row as unknown as GrowthRow;
    const pairs: PairBars[] = [
      { name: "Accepts", ...growth.accept, text: rate },
      { name: "Messages to the SMSC", ...growth.dispatch, text: rate },
      {
        name: "Memory with a queue alone",
        full: growth.queuedMemoryMB,
        empty: growth.emptyMemoryMB,
        text: megabytes,
      },
      {
        name: "Memory with history and queue",
        full: growth.fullMemoryMB,
        empty: growth.emptyMemoryMB,
        text: megabytes,
      },
      { name: "Start with a queue", full: growth.startMs, empty: growth.emptyStartMs, text: milliseconds },
      ...growth.queries.map(({ name, full, empty }) => ({ name: `Page: ${name}`, full, empty, text: milliseconds })),
    ];
    const title = `${messages} messages in the store, ${waiting} queued, compared with none (${growth.engine})`;
    return [`growth-${growth.engine}`, pairPlot(title, `Each pair has its own scale · ${aboutOf(result)}`, pairs)];
  });
  return Object.fromEntries(plots);
}

type Quantiles = Record<"p50Ms" | "p95Ms" | "p99Ms", number>;

interface ReadsRow {
  engine: string;
  size: number;
  label: string;
  pages: (Quantiles & { name: string; count: number })[];
  sends: { name: string; alone: Quantiles; withPeople: Quantiles }[];
}

const BEFORE = "before";
const SIZE_COLOURS = [COLOURS.green, COLOURS.blue, COLOURS.violet] as const;

/** Pages by the size of the store, one plot per engine, and sends beside people. Rows labelled `before` are compared. */
export function readsPlots(result: BenchResult | undefined): Plots {
  const rows = (result?.results ?? []) as unknown as ReadsRow[];
  const plots: Plots = {};
  for (const engine of new Set(rows.map((row) => row.engine))) {
    const measured = rows.filter((row) => row.engine === engine && row.label !== BEFORE && row.pages.length > 0);
    const earlier = rows.findLast((row) => row.engine === engine && row.label === BEFORE);
    const all = [...measured, ...(earlier ? [earlier] : [])];
    const names = [...new Set(all.flatMap(({ pages }) => pages.map(({ name }) => name)))];
    const valueOf = ({ pages }: ReadsRow, name: string): number | null =>
      pages.find((page) => page.name === name && page.count > 0)?.p95Ms ?? null;
    plots[`reads-${engine}`] = groupPlot({
      title: `Lists, searches and pages: p95 by the size of the store (${engine})`,
      subtitle: aboutOf(result),
      legend: all.map(({ size, label }, index) => ({
        name: `${size.toLocaleString("en")}${label === BEFORE ? `, ${BEFORE}` : ""}`,
        colour: label === BEFORE ? COLOURS.grey : (SIZE_COLOURS[index] ?? COLOURS.orange),
      })),
      groups: names.map((name) => ({ name, values: all.map((row) => valueOf(row, name)) })),
      text: milliseconds,
    });
  }
  return { ...plots, ...sendsPlot(rows, aboutOf(result)) };
}

/** Latency of programs' requests on the largest store that both versions were measured on. */
function sendsPlot(rows: readonly ReadsRow[], about: string): Plots {
  const withSends = rows.filter(({ sends }) => sends.length > 0);
  const earlier = withSends.filter(({ label }) => label === BEFORE);
  const size = Math.max(...(earlier.length > 0 ? earlier : withSends).map((row) => row.size));
  const shown = withSends.filter((row) => row.size === size);
  if (shown.length === 0) return {};
  const legend = [
    { name: "alone", colour: COLOURS.green },
    { name: "with 50 people", colour: COLOURS.blue },
    { name: `with 50 people, ${BEFORE}`, colour: COLOURS.grey },
  ];
  const groups = shown
    .filter(({ label }) => label !== BEFORE)
    .flatMap(({ engine, sends }) => {
      const was = shown.find((row) => row.engine === engine && row.label === BEFORE)?.sends;
      return sends
        .filter(({ alone }) => alone.p99Ms > 0)
        .map(({ name, alone, withPeople }) => ({
          name: `${name} (${engine})`,
          values: [alone.p99Ms, withPeople.p99Ms, was?.find((each) => each.name === name)?.withPeople.p99Ms ?? null],
        }));
    });
  if (groups.length === 0) return {};
  const title = `Requests of programs while people use the dashboard: p99, ${size.toLocaleString("en")} messages`;
  return { "reads-sends": groupPlot({ title, subtitle: about, legend, groups, text: milliseconds }) };
}

type Sample = Readonly<Record<string, number | null>>;
type Lines = Pick<LinePlot, "title" | "unit"> & {
  /** Legend texts by sample field. */
  fields: Record<string, string>;
  logarithmic?: boolean;
};

const LINE_COLOURS = [COLOURS.blue, COLOURS.orange, COLOURS.red, COLOURS.violet] as const;

const SOAK: Record<string, Lines> = {
  "soak-accept": {
    title: "Soak: accept latency",
    unit: "ms",
    fields: { acceptP50: "p50", acceptP99: "p99", acceptP999: "p99.9" },
    logarithmic: true,
  },
  "soak-callback": {
    title: "Soak: time from accept to callback",
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
  "soak-loop": { title: "Soak: event-loop lag, p99", unit: "ms", fields: { loopP99Ms: "p99" } },
};

const OVERLOAD: Record<string, Lines> = {
  "overload-requests": {
    title: "Overload: messages offered, accepted and refused",
    unit: "in 5 seconds",
    fields: { offered: "offered", accepted: "accepted", refused: "refused" },
  },
  "overload-passwords": {
    title: "Overload: queue time of one-time passwords, p99",
    unit: "ms",
    fields: { otpP99Ms: "p99" },
    logarithmic: true,
  },
  "overload-memory": { title: "Overload: memory of the server", unit: "MiB", fields: { rssMiB: "resident" } },
};

function plotSamples(definitions: Record<string, Lines>, result: object | undefined): Plots {
  const { samples = [] } = (result ?? {}) as { samples?: readonly Sample[] };
  if (samples.length === 0) return {};
  const seconds = samples.map(({ second }, index) => second ?? index);
  const plots: Plots = {};
  for (const [name, { fields, ...lines }] of Object.entries(definitions)) {
    const series = Object.entries(fields).map(([field, text], index): Series => ({
      name: text,
      colour: LINE_COLOURS[index] ?? COLOURS.grey,
      values: samples.map((sample) => sample[field] ?? null),
    }));
    const hasValues = series.some(({ values }) => values.some((value) => value !== null));
    if (hasValues) plots[name] = linePlot({ ...lines, subtitle: aboutOf(result), seconds, series });
  }
  return plots;
}

interface CampaignRun {
  engine: string;
  recipients: number;
  samples: readonly Sample[];
}

const CAMPAIGN: Lines = {
  title: "A campaign: recipients accepted and messages sent",
  unit: "messages",
  fields: { accepted: "accepted", sent: "sent to the SMSC" },
};

/** Progress of a campaign that is paused, resumed and cancelled, for each engine. */
export function campaignPlots(result: object | undefined): Plots {
  const { results = [], ...about } = (result ?? {}) as { results?: readonly CampaignRun[] };
  return Object.assign(
    {},
    ...results.map(({ engine, recipients, samples }): Plots => {
      const title = `${CAMPAIGN.title}, ${recipients.toLocaleString("en")} recipients (${engine})`;
      return plotSamples({ [`campaign-${engine}`]: { ...CAMPAIGN, title } }, { ...about, samples });
    }),
  ) as Plots;
}

/** Resource use and latency over hours of steady load. */
export const soakPlots = (result: object | undefined): Plots => plotSamples(SOAK, result);

/** Throughput and latency during and after an overload. */
export const overloadPlots = (result: object | undefined): Plots => plotSamples(OVERLOAD, result);
