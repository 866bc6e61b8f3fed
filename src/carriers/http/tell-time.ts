const SECOND_MS = 1000;
/** Clocks differ by less than this. */
const AHEAD_MAX_MS = 86_400_000;
const LONGEST_AGO_MS = 30 * 86_400_000;
const SECONDS = /^\d{10}$/;
const MILLISECONDS = /^\d{13}$/;
const WITHOUT_ZONE = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;
const WITH_SPACES = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:?\d\d)$/;

/**
 * The moment that a provider wrote, in seconds or milliseconds since 1970 or as a date, which is one of UTC where it does
 * not say; null for what is none, or lies so far ahead or back that it cannot be meant.
 */
export function readTime(written: string, now: number): number | null {
  const ms = Math.trunc(momentOf(written.trim()));
  return Number.isNaN(ms) || ms > now + AHEAD_MAX_MS || now - ms > LONGEST_AGO_MS ? null : ms;
}

function momentOf(written: string): number {
  if (SECONDS.test(written)) return Number(written) * SECOND_MS;
  if (MILLISECONDS.test(written)) return Number(written);
  if (written.length > 40) return Number.NaN;
  if (WITHOUT_ZONE.test(written)) return Date.parse(`${written.replace(" ", "T")}Z`);
  const [, date, time, zone] = WITH_SPACES.exec(written) ?? [];
  return Date.parse(date ? `${date}T${time}${zone}` : written);
}
