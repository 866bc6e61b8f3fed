const MINUTE_MS = 60_000;
const QUARTER_HOUR_MS = 15 * MINUTE_MS;
const DAY_MS = 86_400_000;

/** `YYMMDDhhmmss`, tenths of a second, quarter hours from UTC, and the direction: `+`, `-`, or `R` for relative. */
const FORM = /^(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d)(\d{2})([+\-R])$/;

/** Reads a time of SMPP: null if it is empty, undefined if it is wrong. A relative one counts from `now`. */
export function readSmppTime(written: string, now: number): number | null | undefined {
  if (written === "") return null;
  const match = FORM.exec(written);
  if (!match) return undefined;
  const [years = 0, months = 0, days = 0, hours = 0, minutes = 0, seconds = 0, tenths = 0, quarters = 0] = match
    .slice(1, 9)
    .map(Number);
  if (match[9] === "R") {
    const end = new Date(now);
    end.setUTCFullYear(end.getUTCFullYear() + years, end.getUTCMonth() + months, end.getUTCDate() + days);
    return end.getTime() + ((hours * 60 + minutes) * 60 + seconds) * 1000;
  }
  const localMs = Date.UTC(2000 + years, months - 1, days, hours, minutes, seconds, tenths * 100);
  const local = new Date(localMs);
  // An impossible month, day or hour moves the date; minutes, seconds and the offset need checks of their own.
  const isPossible = local.getUTCMonth() === months - 1 && local.getUTCDate() === days && local.getUTCHours() === hours;
  if (!isPossible || minutes > 59 || seconds > 59 || quarters > 48) return undefined;
  return localMs - (match[9] === "-" ? -quarters : quarters) * QUARTER_HOUR_MS;
}

/** The absolute form, in UTC. */
export function writeSmppTime(at: number): string {
  const digits = digitsOf(at);
  const tenths = Math.floor((((at % DAY_MS) + DAY_MS) % 1000) / 100);
  return `${digits}${tenths}00+`;
}

/** The dates in the text of a receipt: `YYMMDDhhmm` in UTC. */
export const writeReceiptDate = (at: number): string => digitsOf(at).slice(0, 10);

/** `YYMMDDhhmmss` in UTC. */
const digitsOf = (at: number): string => new Date(at).toISOString().replaceAll(/[-:T]/g, "").slice(2, 14);
