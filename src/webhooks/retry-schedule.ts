const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Pauses between attempts; three days in all. */
const PAUSES_MS = [
  0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR,
]; // prettier-ignore

/** Jitter, against a thundering herd. */
const JITTER = 0.2;

/** Shortest pause after a busy answer. */
const BUSY_PAUSE_MS = MINUTE;
const BUSY_STATUSES = new Set([429, 502, 503, 504]);

interface Tries {
  /** Attempts made. */
  attempts: number;
  now: number;
  /** Retry-After of the last response, from `readRetryAfter`. */
  retryAfterMs: number | null;
  /** True if the endpoint was overloaded, from `isBusy`. */
  busy: boolean;
  /** Uniform in [0, 1). */
  random: () => number;
}

/** Time of the next attempt; null when all attempts are used. */
export function nextTryAt({ attempts, now, retryAfterMs, busy, random }: Tries): number | null {
  const planned = PAUSES_MS[attempts];
  if (planned === undefined) return null;
  const floor = busy ? BUSY_PAUSE_MS : 0;
  const pause = Math.max(planned, floor);
  const longest = pause * (1 + JITTER);
  const shortest = Math.max(pause * (1 - JITTER), floor);
  if (retryAfterMs === null) return now + Math.round(shortest + (longest - shortest) * random());
  // Retry-After is honoured up to twice the scheduled pause.
  const asked = Math.max(pause, retryAfterMs) * (1 + JITTER * random());
  return now + Math.round(Math.min(asked, 2 * pause));
}

interface Failure {
  /** Null without a response. */
  status: number | null;
  timedOut: boolean;
}

/** True for responses, or a time-out, that mean overload. */
export const isBusy = ({ status, timedOut }: Failure): boolean =>
  timedOut || (status !== null && BUSY_STATUSES.has(status));

const SECONDS = /^[0-9]+$/;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
// The HTTP date and its two obsolete forms (RFC 9110, 5.6.7).
const DATES = [
  /^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/,
];
const FAR_MS = 100 * 365 * 24 * HOUR;

/** Pause from a `Retry-After` header, in seconds or until a date; null if it is missing or invalid. */
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

/** Two-digit years more than fifty years ahead belong to the last century (RFC 9110). */
function fullYear(year: string, now: number): string {
  if (year.length === 4) return year;
  const thisYear = new Date(now).getUTCFullYear();
  const guess = Math.floor(thisYear / 100) * 100 + Number(year);
  return String(guess > thisYear + 50 ? guess - 100 : guess);
}
