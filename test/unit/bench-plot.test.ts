import { describe, expect, test } from "vitest";
import {
  campaignPlots,
  growthPlots,
  overloadPlots,
  ratiosPlot,
  readsPlots,
  soakPlots,
  type Plots,
} from "../../bench/result-plots.ts";
import { COLOURS, linePlot } from "../../bench/svg.ts";
import { figureOf, isReached, TARGETS } from "../../bench/targets.ts";

/** Finds unbalanced elements, unescaped text and coordinates that are not numbers. */
function faultOf(svg: string): string | null {
  if (!svg.startsWith('<svg xmlns="http://www.w3.org/2000/svg"')) return "not an SVG document";
  if (/NaN|Infinity|undefined|null/.test(svg)) return "a value is missing";
  const open: string[] = [];
  for (const [, closing, name = "", rest = ""] of svg.matchAll(/<(\/?)([a-z]+)((?:"[^"]*"|[^">])*)>/g)) {
    if (closing === "/" && open.pop() !== name) return `</${name}> closes something else`;
    if (closing === "" && !rest.endsWith("/")) open.push(name);
  }
  if (/&(?!amp;|lt;|gt;|quot;)/.test(svg)) return "an ampersand is not escaped";
  return open.length === 0 ? null : `<${open.join(", <")} stays open`;
}

const faultsOf = (plots: Plots): (string | null)[] => Object.values(plots).map(faultOf);

const soakSample = (second: number) => ({
  second,
  sent: second * 1000,
  acceptP50: 2,
  acceptP99: 9,
  acceptP999: 40 + (second % 7),
  callbackP50: 20,
  callbackP99: 100,
  callbackP999: second % 50 === 0 ? null : 300,
  rssMiB: 240,
  heapMiB: 90,
  walMiB: second % 60,
  loopP99Ms: 12,
});

describe("plots of bench results", () => {
  test("a soak result has five plots", () => {
    const samples = Array.from({ length: 3000 }, (_, index) => soakSample(index * 10));
    const plots = soakPlots({ date: "2026-11-15", samples });

    expect(Object.keys(plots)).toEqual(["soak-accept", "soak-callback", "soak-memory", "soak-wal", "soak-loop"]);
    expect(faultsOf(plots)).toEqual([null, null, null, null, null]);
  });

  test("an overload result has plots of requests, one-time passwords and memory", () => {
    const samples = [1, 2, 3].map((second) => ({
      second,
      offered: 40_000,
      accepted: 15_000,
      refused: 25_000,
      otpP99Ms: 0,
      rssMiB: 300,
    }));
    const plots = overloadPlots({ samples });

    expect(Object.keys(plots)).toEqual(["overload-requests", "overload-passwords", "overload-memory"]);
    expect(faultsOf(plots)).toEqual([null, null, null]);
  });

  test("a result of campaigns has a plot of their progress per engine", () => {
    const samples = [0, 1, 2].map((second) => ({ second, accepted: second * 2000, sent: second * 1900 }));
    const results = ["sqlite", "postgres"].map((engine) => ({ engine, recipients: 100_000, samples }));
    const plots = campaignPlots({ results });

    expect(Object.keys(plots)).toEqual(["campaign-sqlite", "campaign-postgres"]);
    expect(faultsOf(plots)).toEqual([null, null]);
  });

  test("a result of reads has a plot of pages per engine, and one of sends beside people", () => {
    const times = { p50Ms: 2, p95Ms: 5, p99Ms: 9 };
    const page = (name: string) => ({ name, count: 60, ...times });
    const sends = [{ name: "OTP", alone: times, withPeople: times }];
    const results = ["sqlite", "postgres"].flatMap((engine) => [
      { engine, size: 10_000, label: "current", pages: [page("messages"), page("search: carrier's id")], sends },
      { engine, size: 1_000_000, label: "current", pages: [{ ...page("messages"), count: 0 }], sends },
      { engine, size: 1_000_000, label: "before", pages: [page("messages")], sends },
    ]);
    const plots = readsPlots({ results });

    expect(Object.keys(plots)).toEqual(["reads-sqlite", "reads-postgres", "reads-sends"]);
    expect(faultsOf(plots)).toEqual([null, null, null]);
    expect(plots["reads-sends"]).toContain("1,000,000 messages");
  });

  test("a missing result has no plot", () => {
    expect([
      soakPlots(undefined),
      soakPlots({ samples: [] }),
      overloadPlots(undefined),
      growthPlots(undefined),
      readsPlots(undefined),
    ]).toEqual([{}, {}, {}, {}, {}]);
  });

  test("a single sample is enough for a plot", () => {
    expect(faultsOf(soakPlots({ samples: [soakSample(0)] }))).toEqual([null, null, null, null, null]);
  });

  test("downsampling keeps peaks", () => {
    const seconds = Array.from({ length: 10_000 }, (_, index) => index);
    const plotOf = (peak: number): string =>
      linePlot({
        title: "A peak & its <plot>",
        subtitle: "",
        unit: "ms",
        seconds,
        series: [{ name: "p99", colour: COLOURS.blue, values: seconds.map((second) => (second === 5003 ? peak : 1)) }],
      });

    expect(faultOf(plotOf(100))).toBeNull();
    expect(plotOf(100)).toMatch(/[ML]\d+(\.\d+)? 92[ML]/);
    expect(plotOf(1)).not.toBe(plotOf(100));
  });

  test("the growth plot compares a full store with an empty one", () => {
    const pair = { full: 9, empty: 10 };
    const rows = ["sqlite", "postgres"].map((engine) => ({
      engine,
      accept: pair,
      dispatch: pair,
      queuedMemoryMB: 290,
      fullMemoryMB: 600,
      emptyMemoryMB: 240,
      startMs: 2000,
      emptyStartMs: 0,
      queries: [{ name: "links", ...pair }],
    }));
    const plots = growthPlots({ results: rows });

    expect(Object.keys(plots)).toEqual(["growth-sqlite", "growth-postgres"]);
    expect(faultsOf(plots)).toEqual([null, null]);
  });

  test("the target plot shows every target, measured or not", () => {
    const { ratios = "" } = ratiosPlot((file) =>
      file === "callbacks" ? { results: [{ ratioToPool: 0.93 }] } : undefined,
    );

    expect(faultOf(ratios)).toBeNull();
    expect(ratios.match(/not measured/g)).toHaveLength(TARGETS.length - 1);
    expect(ratios).toContain("0.93");
  });
});

describe("targets", () => {
  test("a target reads its figure from the row it names", () => {
    const target = TARGETS.find(({ file }) => file === "lanes");
    if (!target) throw new Error("there is no target of lanes");
    const results = [
      { engine: "postgres", queueP99Ms: 242 },
      { engine: "sqlite", queueP99Ms: 99 },
    ];

    expect(figureOf(target, { results })).toBe(99);
    expect(figureOf(target, { results: [] })).toBeUndefined();
  });

  test("a rate must reach its target and a time must stay below it", () => {
    const rate = TARGETS.find(({ direction }) => direction === "at least");
    const time = TARGETS.find(({ direction }) => direction === "below");
    if (!rate || !time) throw new Error("there are targets of both kinds");

    expect([isReached(rate, rate.wanted), isReached(rate, rate.wanted * 0.99)]).toEqual([true, false]);
    expect([isReached(time, time.wanted), isReached(time, time.wanted * 0.99)]).toEqual([false, true]);
  });
});
