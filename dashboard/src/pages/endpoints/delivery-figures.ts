import type { Callback } from "../../api-types.ts";
import { locale } from "../../i18n/language.ts";
import { t } from "../../i18n/t.ts";

/** A pending delivery without a failed attempt has no outcome yet. */
const isSettled = ({ state, lastAttempt }: Callback): boolean =>
  state !== "waiting" || (lastAttempt?.reason ?? null) !== null;

const isDelivered = ({ state }: Callback): boolean => state === "delivered";

/** The latest response time of each callback that has one, shortest first. */
const timesOf = (callbacks: readonly Callback[]): number[] =>
  callbacks.flatMap(({ lastAttempt }) => (lastAttempt ? [lastAttempt.ms] : [])).toSorted((a, b) => a - b);

export function figuresOf(callbacks: readonly Callback[]): {
  successPercent: number | null;
  failed: number;
  medianMs: number | null;
} {
  const settled = callbacks.filter(isSettled);
  const delivered = settled.filter(isDelivered).length;
  const times = timesOf(callbacks);
  return {
    // Rounded down, so that 100 % means no failure.
    successPercent: settled.length === 0 ? null : Math.floor((delivered / settled.length) * 100),
    failed: settled.length - delivered,
    medianMs: times[Math.floor(times.length / 2)] ?? null,
  };
}

const STEPS = 12;
const clock = new Intl.DateTimeFormat(locale, { dateStyle: "short", timeStyle: "short" });

/** Deliveries in equal time steps, oldest first. */
export function outcomesOverTime(
  callbacks: readonly Callback[],
): { name: string; delivered: number; failed: number }[] {
  const settled = callbacks.filter(isSettled);
  const times = settled.map(({ happenedAt }) => happenedAt);
  const from = Math.min(...times);
  const stepMs = Math.max(60_000, Math.ceil((Math.max(...times) - from + 1) / STEPS));
  const steps = Math.max(1, Math.ceil((Math.max(...times) - from + 1) / stepMs));
  return Array.from({ length: settled.length === 0 ? 0 : steps }, (_, step) => {
    const within = settled.filter(({ happenedAt }) => Math.floor((happenedAt - from) / stepMs) === step);
    const delivered = within.filter(isDelivered).length;
    return { name: clock.format(from + step * stepMs), delivered, failed: within.length - delivered };
  });
}

const EDGES_MS = [50, 100, 250, 500, 1000, 5000];

/** Response times in buckets with round limits. */
export function latencyGroups(callbacks: readonly Callback[]): { name: string; count: number }[] {
  const times = timesOf(callbacks);
  const groups = EDGES_MS.map((edge, index) => ({
    name: t("under {edge} ms", { edge }),
    count: times.filter((ms) => ms < edge && ms >= (EDGES_MS[index - 1] ?? 0)).length,
  }));
  const last = EDGES_MS.at(-1) ?? 0;
  return [...groups, { name: t("{last} ms or more", { last }), count: times.filter((ms) => ms >= last).length }];
}
