import type { Channel, RouteClass, State } from "./message.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * How long the stretches are that are counted by. Each event is counted once in each of them, so that a year is read from
 * as few rows as a day.
 */
export const GRAINS = { "10m": 10 * MINUTE_MS, hour: HOUR_MS, day: 24 * HOUR_MS } as const;
export type Grain = keyof typeof GRAINS;

/** The states whose entering is counted; those in between are nobody's question. */
const COUNTED_STATES = ["delivered", "read", "undelivered", "expired", "rejected", "cancelled", "unknown"] as const;

/**
 * What is counted. `submitted` is the first time that a carrier is known to have a message; the two that begin with `until`
 * are messages by how long it took, whose code is the place of a bound in `LATENCY_BOUNDS_MS`.
 */
export type Counted =
  | "accepted"
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

/** Ends that are failures, each with its code. */
export const FAILED_STATES = ["undelivered", "expired", "rejected", "cancelled"] as const satisfies readonly State[];

export const isCounted = (state: State): state is (typeof COUNTED_STATES)[number] =>
  (COUNTED_STATES as readonly State[]).includes(state);

/** The code under which those are counted that come after many others of the same day. */
export const OTHER_CODES = "other";

/** How often something happened within ten minutes, to be added to what is known already. */
export interface Figure {
  accountId: number;
  /** When its ten minutes begin. */
  at: number;
  /** Empty where it is no message's. */
  channel: Channel | "";
  routeClass: RouteClass | "";
  what: Counted;
  /** Why it failed, or how long it took; empty of everything else. */
  code: string;
  count: number;
}

/** Upper bounds of the classes of time, each some half as long again as the one before; the last class has none. */
export const LATENCY_BOUNDS_MS: readonly number[] = [
  5, 10, 20, 35, 50, 75, 100, 150, 250, 500, 750, 1000, 1500, 2500, 5000, 10_000, 20_000, 30_000,
  MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS,
]; // prettier-ignore

/** The class of a span of time. */
export function latencyClass(ms: number): number {
  const place = LATENCY_BOUNDS_MS.findIndex((bound) => ms <= bound);
  return place === -1 ? LATENCY_BOUNDS_MS.length : place;
}

/**
 * The time within which a share of all came, read from how many lie in each class and taking those in one as evenly spread.
 * Null where there are none; of those beyond the last bound, that bound is all that is known.
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
