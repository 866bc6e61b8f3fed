import { DAY_MS, HOUR_MS, MINUTE_MS } from "./verification.ts";

/** Codes sent to a country within one hour (hours since the epoch), and how many of them were verified. */
export interface CountryHour {
  country: string;
  hour: number;
  sends: number;
  verified: number;
}

/** A country with a low conversion: too few of its codes are used. */
export interface CountryAlert {
  country: string;
  /** Codes within the last day, and how many of them were used. */
  sent: number;
  verified: number;
  conversion: number;
  /** The conversion of the seven days before, in percent; null when too few codes were sent. */
  usual: number | null;
  /** The hour in which the drop began. */
  since: number;
}

/** The smallest sample that is significant. */
const LEAST_SENDS = 50;
/** An alert is raised below this share of the usual conversion. */
const PART_OF_USUAL = 0.6;
/** A code counts only after its user has had the time to type it. */
const RIPE_MS = 5 * MINUTE_MS;
const USUAL_DAYS = 7;

/** The range of hours to read: the last day and the week before, without codes that may still be used. */
export const watchedTime = (now: number): { from: number; until: number } => ({
  from: now - (USUAL_DAYS + 1) * DAY_MS,
  until: now - RIPE_MS,
});

/** Countries whose conversion is below the required share, or far below their usual one. */
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

/** The hour since which the most used codes are missing. */
function onset(hours: readonly CountryHour[], bound: number): number {
  let missing = 0;
  let most = { missing: 0, hour: 0 };
  for (const { hour, sends, verified } of hours.toSorted((a, b) => b.hour - a.hour)) {
    missing += sends * bound - verified;
    if (missing > most.missing) most = { missing, hour };
  }
  return most.hour;
}
