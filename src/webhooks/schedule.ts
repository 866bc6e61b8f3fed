const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long after the try before it each try comes; three days in all. */
const PAUSES_MS = [
  0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR,
]; // prettier-ignore

/** What everybody waits for would come at once, so each takes up to so much less or more. */
const JITTER = 0.2;

/** Whoever has too much to do is not helped by a second try within a minute. */
const BUSY_PAUSE_MS = MINUTE;
const BUSY_STATUSES = new Set([429, 502, 503, 504]);

interface Tries {
  /** Tries that were made. */
  attempts: number;
  now: number;
  /** What the last answer asked for, as `readRetryAfter` reads it. */
  retryAfterMs: number | null;
  /** Whether the last try met an endpoint that was too busy, as `isBusy` tells. */
  busy: boolean;
  /** Gives 0 (included) to 1 (excluded). */
  random: () => number;
}

/** When a push is tried next; null when it has been tried often enough. */
export function nextTryAt({ attempts, now, retryAfterMs, busy, random }: Tries): number | null {
  const planned = PAUSES_MS[attempts];
  if (planned === undefined) return null;
  const floor = busy ? BUSY_PAUSE_MS : 0;
  const pause = Math.max(planned, floor);
  const longest = pause * (1 + JITTER);
  const shortest = Math.max(pause * (1 - JITTER), floor);
  if (retryAfterMs === null) return now + Math.round(shortest + (longest - shortest) * random());
  // What was asked for is a time not to come before; but nobody can put a push off for more than twice its pause.
  const asked = Math.max(pause, retryAfterMs) * (1 + JITTER * random());
  return now + Math.round(Math.min(asked, 2 * pause));
}

interface Failure {
  /** Null when there was no answer. */
  status: number | null;
  timedOut: boolean;
}

/** Whether an endpoint that answered so, or not in time, has more to do than it can. */
export const isBusy = ({ status, timedOut }: Failure): boolean =>
  timedOut || (status !== null && BUSY_STATUSES.has(status));

const SECONDS = /^[0-9]+$/;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
// The date of HTTP, and its two old forms that are still to be understood.
const DATES = [
  /^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/,
];
const FAR_MS = 100 * 365 * 24 * HOUR;

/** The pause that a `Retry-After` asks for, in seconds or until a date; null where it asks for none that can be read. */
export function readRetryAfter(header: string | null, now: number): number | null {
  const written = header?.trim() ?? "";
  if (SECONDS.test(written)) return Math.min(Number(written) * SECOND, FAR_MS);
  const date = readDate(written, now);
  return date === null ? null : Math.max(0, date - now);
}

function readDate(written: string, now: number): number | null {
  const parts = DATES.map((form) => form.exec(written)?.groups).find((groups) => groups !== undefined);
  const { day = "", month = "", year = "", time = "" } = parts ?? {};
  const place = MONTHS.indexOf(month);
  if (place === -1) return null;
  const iso = `${fullYear(year, now)}-${String(place + 1).padStart(2, "0")}-${day.replace(" ", "0")}T${time}Z`;
  const date = Date.parse(iso);
  return Number.isNaN(date) ? null : date;
}

/** Two digits are a year of this century, unless that is more than fifty years ahead: then of the last. */
function fullYear(year: string, now: number): string {
  if (year.length === 4) return year;
  const thisYear = new Date(now).getUTCFullYear();
  const guess = Math.floor(thisYear / 100) * 100 + Number(year);
  return String(guess > thisYear + 50 ? guess - 100 : guess);
}
