import { callApi } from "./api-client.ts";
import type { ServerProcess } from "../test/support/server-process.ts";

export const readMetrics = (server: ServerProcess): Promise<string> => callApi<string>(server, "GET", "/metrics");

/** Value of one series, given by name and labels. */
export function metricValue(metrics: string, series: string): number {
  const line = metrics.split("\n").find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

export const MIB = 2 ** 20;

/** Cumulative histogram of queue times of a message type: messages submitted within each bound, in ms. */
export function queueTimes(metrics: string, type: string): Map<number, number> {
  const lines = metrics.matchAll(/^heliograph_queue_seconds_bucket\{([^}]*)\} (\d+)/gm);
  return new Map(
    [...lines]
      .filter(([, labels = ""]) => labels.includes(`type="${type}"`))
      .map(([, labels = "", count]) => [
        1000 * Number(/le="([^"]*)"/.exec(labels)?.[1]?.replace("+Inf", "Infinity")),
        Number(count),
      ]),
  );
}

/** Quantile of the observations between two readings, interpolated linearly within a bucket. */
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
