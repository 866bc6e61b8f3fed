import { DAY_MS, HOUR_MS, MINUTE_MS } from "./verification.ts";

/** Sends to a country within one hour, which is named by how many went before it, and how many of them were verified. */
export interface CountryHour {
  country: string;
  hour: number;
  sends: number;
  verified: number;
}

/** A country in which fewer codes are used than should be. */
export interface CountryAlert {
  country: string;
  /** Codes within the last day, and how many of them were used. */
  sent: number;
  verified: number;
  conversion: number;
  /** The share that was used in the seven days before, in percent; null when too few were sent to tell. */
  usual: number | null;
  /** The hour from which on it is so. */
  since: number;
}

/** Fewer than these say nothing about a country. */
const LEAST_SENDS = 50;
/** Less than this part of what is usual is worth a look. */
const PART_OF_USUAL = 0.6;
/** A code counts once its owner has had the time to type it. */
const RIPE_MS = 5 * MINUTE_MS;
const USUAL_DAYS = 7;

/** The time of which the hours are wanted: the last day and the week before it, without codes that may yet be used. */
export const watchedTime = (now: number): { from: number; until: number } => ({
  from: now - (USUAL_DAYS + 1) * DAY_MS,
  until: now - RIPE_MS,
});

/** Countries whose conversion is below what must be, or well below their own. */
export function countryAlerts(hours: readonly CountryHour[], leastPercent: number, now: number): CountryAlert[] {
  const alerts = [...Map.groupBy(hours, ({ country }) => country)].map(([country, all]) =>
    alertOf(country, all, leastPercent, now),
  );
  return alerts.filter((alert) => alert !== null).toSorted((a, b) => b.sent - a.sent);
}

function alertOf(
  country: string,
  hours: readonly CountryHour[],
  leastPercent: number,
  now: number,
): CountryAlert | null {
  const dayAgo = Math.floor((now - DAY_MS) / HOUR_MS);
  const { sends: sent, verified } = sumOf(hours.filter(({ hour }) => hour > dayAgo));
  if (sent < LEAST_SENDS) return null;
  const before = sumOf(hours.filter(({ hour }) => hour <= dayAgo));
  const usual = before.sends < LEAST_SENDS ? null : before.verified / before.sends;
  const bound = Math.max(leastPercent / 100, (usual ?? 0) * PART_OF_USUAL);
  if (verified / sent >= bound) return null;
  return {
    country,
    sent,
    verified,
    conversion: percent(verified / sent),
    usual: usual === null ? null : percent(usual),
    since: onset(hours, bound) * HOUR_MS,
  };
}

const percent = (share: number): number => Math.round(share * 100);

const sumOf = (hours: readonly CountryHour[]): { sends: number; verified: number } => ({
  sends: hours.reduce((sum, { sends }) => sum + sends, 0),
  verified: hours.reduce((sum, { verified }) => sum + verified, 0),
});

/** The hour from which on the most used codes are missing. */
function onset(hours: readonly CountryHour[], bound: number): number {
  let missing = 0;
  let most = { missing: 0, hour: 0 };
  for (const { hour, sends, verified } of hours.toSorted((a, b) => b.hour - a.hour)) {
    missing += sends * bound - verified;
    if (missing > most.missing) most = { missing, hour };
  }
  return most.hour;
}
