import { ask } from "./ask.ts";
import type { ServerProcess } from "../test/support/server-process.ts";

/** What `/metrics` tells, as text. */
export const readMetrics = (server: ServerProcess): Promise<string> => ask<string>(server, "GET", "/metrics");

/** The figure of one series, by its name with its labels. */
export function figureOf(metrics: string, series: string): number {
  const line = metrics.split("\n").find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

export const MIB = 2 ** 20;

/** How many messages of a type were handed to their carrier within each bound. */
export function handedOver(metrics: string, type: string): Map<number, number> {
  const lines = metrics.matchAll(/^heliograph_queue_milliseconds_bucket\{([^}]*)\} (\d+)/gm);
  return new Map(
    [...lines]
      .filter(([, labels = ""]) => labels.includes(`type="${type}"`))
      .map(([, labels = "", count]) => [
        Number(/le="([^"]*)"/.exec(labels)?.[1]?.replace("+Inf", "Infinity")),
        Number(count),
      ]),
  );
}

/** A quantile of what was counted between two readings; within a bucket it is taken as evenly spread. */
export function quantileBetween(
  before: ReadonlyMap<number, number>,
  after: ReadonlyMap<number, number>,
  share: number,
): number {
  const counted = (bound: number): number => (after.get(bound) ?? 0) - (before.get(bound) ?? 0);
  const wanted = counted(Infinity) * share;
  let lower = 0;
  let below = 0;
  for (const bound of [...after.keys()].toSorted((a, b) => a - b)) {
    const within = counted(bound);
    if (within >= wanted)
      return bound === Infinity ? lower : lower + ((bound - lower) * (wanted - below)) / Math.max(1, within - below);
    lower = bound;
    below = within;
  }
  return lower;
}
