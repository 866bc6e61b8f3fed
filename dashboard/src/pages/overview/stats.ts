import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { get } from "../../api.ts";
import { locale } from "../../i18n/language.ts";
import { CHANNELS, type Channel } from "../../parts/channel.tsx";
import type { Failure } from "../../parts/failure-reason.tsx";
import type { TimeRange } from "../../parts/time-range.tsx";

const REFRESH_MS = 10_000;
const MINUTE_MS = 60_000;
const STEP_MS = { minute: MINUTE_MS, "10m": 10 * MINUTE_MS, hour: 60 * MINUTE_MS, day: 1440 * MINUTE_MS };

export interface Compared {
  count: number;
  before: number;
  change: number | null;
}

export interface Latency {
  p50: number | null;
  p95: number | null;
  p99: number | null;
  buckets: { upToMs: number | null; count: number }[];
}

const MEASURES = ["accepted", "sent", "delivered", "failed", "read"] as const;
export type Measure = (typeof MEASURES)[number];

interface Point extends Record<Measure, number> {
  at: number;
  channel: Channel;
}

/** Response of `GET /api/stats`. */
export interface Stats {
  from: number;
  to: number;
  step: keyof typeof STEP_MS;
  /** True if the counts of the previous period are complete. */
  comparable: boolean;
  totals: Record<Measure, Compared>;
  series: Point[];
  funnel: ({ channel: Channel | null } & Record<"accepted" | "sent" | "delivered" | "read", number>)[];
  failures: Failure[];
  latency: { sent: Latency; delivered: Latency };
  otp: { sent: number; verified: number; refused: number; conversion: number | null; conversionBefore: number | null };
  callbacks: {
    delivered: number;
    failedAttempts: number;
    givenUp: number;
    dropped: number;
    success: number | null;
    successBefore: number | null;
  };
}

export type Dimension = "carrier" | "country";

export interface Group {
  /** Null for messages that failed before any carrier had them. */
  name: string | null;
  sent: number;
  delivered: number;
  failed: number;
  deliveryRate: number | null;
  failures: Failure[];
}

/** Response of `GET /api/stats/breakdown`. */
export interface Breakdown extends Pick<Stats, "from" | "to" | "step"> {
  groups: Group[];
  series: ({ at: number; name: string | null } & Record<Measure, number>)[];
}

/** Counts of a time range, polled every ten seconds. */
function useCounts<T>(path: string, range: TimeRange, more: Record<string, string> = {}) {
  return useQuery({
    queryKey: [path, range.key, more],
    queryFn: ({ signal }) => get<T>(path, { ...range.query(), ...more }, signal),
    enabled: range.query() !== null,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

export const useStats = (range: TimeRange) => useCounts<Stats>("/api/stats", range);

export const useBreakdown = (range: TimeRange, by: Dimension) =>
  useCounts<Breakdown>("/api/stats/breakdown", range, { by });

const FORMATS = {
  minute: new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" }),
  "10m": new Intl.DateTimeFormat(locale, { weekday: "short", hour: "2-digit", minute: "2-digit" }),
  hour: new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", hour: "2-digit" }),
  day: new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone: "UTC" }),
};

type Counts = Pick<Stats, "from" | "to" | "step">;

/** Counts per time step and series, including steps without events. */
function pointsOf({ from, to, step }: Counts, keys: readonly string[], countAt: (at: number, key: string) => number) {
  return Array.from({ length: Math.round((to - from) / STEP_MS[step]) }, (_, index) => {
    const at = from + index * STEP_MS[step];
    return { at, name: FORMATS[step].format(at), ...Object.fromEntries(keys.map((key) => [key, countAt(at, key)])) };
  });
}

/** Points of one series of counts. The steps between its first and last one that have none are zero. */
export function stepPoints(step: Stats["step"], points: readonly ({ at: number } & Record<Measure, number>)[]) {
  const from = points[0]?.at ?? 0;
  const to = (points.at(-1)?.at ?? from) + STEP_MS[step];
  const byTime = new Map(points.map((point) => [point.at, point]));
  return pointsOf({ from, to, step }, MEASURES, (at, key) => byTime.get(at)?.[key as Measure] ?? 0);
}

export const percentText = (share: number | null): string =>
  share === null ? "–" : `${Math.round(share * 1000) / 10} %`;

export function channelPoints(stats: Stats, measure: Measure) {
  const counts = new Map(stats.series.map((point) => [`${point.at} ${point.channel}`, point[measure]]));
  const channels = CHANNELS.map(({ value }) => value);
  return pointsOf(stats, channels, (at, channel) => counts.get(`${at} ${channel}`) ?? 0);
}

/** A key of a group's counts. Its name could be `at` or `name`, which other fields of a point have. */
export const groupKey = (place: number): string => `group${place}`;

export function groupPoints(breakdown: Breakdown, groups: readonly Group[], measure: Measure) {
  const keys = new Map(groups.map(({ name }, place) => [name, groupKey(place)]));
  const counts = new Map(
    breakdown.series.map((point) => [`${point.at} ${keys.get(point.name) ?? ""}`, point[measure]]),
  );
  return pointsOf(breakdown, [...keys.values()], (at, key) => counts.get(`${at} ${key}`) ?? 0);
}

/** True if there were no events, in the range or before it. */
export const isQuiet = ({ totals }: Stats): boolean =>
  Object.values(totals).every(({ count, before }) => count === 0 && before === 0);
