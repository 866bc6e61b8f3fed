import type { Channel, RouteClass, State } from "./message.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Bucket sizes of statistics. Each event is counted once per size, so that a year is read from as few rows as a day. */
export const GRAINS = { minute: MINUTE_MS, "10m": 10 * MINUTE_MS, hour: HOUR_MS, day: 24 * HOUR_MS } as const;
export type Grain = keyof typeof GRAINS;

/** Retention of the buckets of one minute; the others are kept as long as messages. */
export const MINUTES_KEPT_MS = 24 * HOUR_MS;

/** Dimensions by which messages are counted separately. */
export const DIMENSIONS = ["carrier", "country"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** The messages of one carrier, or to one country. */
export interface StatsGroup {
  dimension: Dimension;
  /** A carrier's name, empty for failures before any carrier had the message; or an ISO country code, or `unknown`. */
  name: string;
}

/** The messages of test keys, or all others, under a campaign name. */
export interface CampaignName {
  name: string;
  test: boolean;
}

interface CampaignGroup extends CampaignName {
  /** Empty before any carrier has the message. */
  carrier: string;
}

/** The states whose entry is counted. */
const COUNTED_STATES = ["delivered", "read", "undelivered", "expired", "rejected", "cancelled", "unknown"] as const;

/**
 * Counted events. `submitted` is the first proof that a carrier has the message. The two that begin with `until` are
 * latency histograms, whose code is an index in `LATENCY_BOUNDS_MS`.
 */
export type Counted =
  | "accepted"
  /** A message from a user. */
  | "received"
  | "submitted"
  | (typeof COUNTED_STATES)[number]
  | "until submitted"
  | "until delivered"
  | "otp sent"
  | "otp verified"
  | "otp refused"
  | "callback delivered"
  | "callback waiting"
  | "callback exhausted"
  | "callback dropped";

/** Final states that are failures, counted by code. */
export const FAILED_STATES = ["undelivered", "expired", "rejected", "cancelled"] as const satisfies readonly State[];

export const isCounted = (state: State): state is (typeof COUNTED_STATES)[number] =>
  (COUNTED_STATES as readonly State[]).includes(state);

/** The overflow code, which limits the number of distinct codes per day. */
export const OTHER_CODES = "other";

/** An increment of a counter of one minute. */
export interface StatsRow {
  accountId: number;
  /** The start of the minute. */
  at: number;
  /** Empty for events without a message. */
  channel: Channel | "";
  routeClass: RouteClass | "";
  what: Counted;
  /** The failure code or latency bucket; otherwise empty. */
  code: string;
  count: number;
  /** Absent for the counter of all messages. */
  group?: StatsGroup;
  /** Instead of a group: the messages under a campaign name. */
  campaign?: CampaignGroup;
}

/** A carrier's text for one of its error codes. */
export interface CodeText {
  accountId: number;
  /** The carrier's name. */
  carrier: string;
  code: string;
  text: string;
}

/** Upper bounds of the latency buckets, growing by about half; the last bucket has none. */
export const LATENCY_BOUNDS_MS: readonly number[] = [
  5, 10, 20, 35, 50, 75, 100, 150, 250, 500, 750, 1000, 1500, 2500, 5000, 10_000, 20_000, 30_000,
  MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS,
]; // prettier-ignore

/** The latency bucket of a duration. */
export function latencyClass(ms: number): number {
  const place = LATENCY_BOUNDS_MS.findIndex((bound) => ms <= bound);
  return place === -1 ? LATENCY_BOUNDS_MS.length : place;
}

/**
 * A percentile, interpolated linearly within its bucket. Null without samples; the last bound for samples beyond it.
 */
export function percentile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = total * share;
  for (const [place, count] of counts.entries()) {
    if (left <= count && count > 0) {
      const lower = LATENCY_BOUNDS_MS[place - 1] ?? 0;
      const upper = LATENCY_BOUNDS_MS[place] ?? lower;
      return Math.round(lower + (upper - lower) * (left / count));
    }
    left -= count;
  }
  return LATENCY_BOUNDS_MS.at(-1) ?? null;
}
