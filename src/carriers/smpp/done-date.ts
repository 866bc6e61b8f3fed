import { momentIn } from "./zone-time.ts";

const ABSURD_MS = 86_400_000;
const QUARTER_HOUR_MS = 900_000;

/**
 * When it happened, by a receipt's done date. Carriers write it in a dozen ways, mostly without a zone; of what the digits
 * may mean the time next to the receipt's coming counts. More than a day off, nothing does but that coming itself.
 */
export function readDoneDate(written: string | undefined, zone: string, receivedAt: number): number {
  let best = receivedAt;
  let bestOff = ABSURD_MS;
  for (const moment of written === undefined ? [] : recalledMeanings(written, zone)) {
    const off = Math.abs(moment - receivedAt);
    if (off > bestOff || Number.isNaN(off)) continue;
    best = moment;
    bestOff = off;
  }
  return best;
}

let last: { written: string; zone: string; moments: readonly number[] } = { written: "", zone: "", moments: [] };

/** Most carriers tell the minute, and all receipts of one minute say the same. */
function recalledMeanings(written: string, zone: string): readonly number[] {
  if (last.written !== written || last.zone !== zone)
    last = { written, zone, moments: meaningsOf(written.trim(), zone) };
  return last.moments;
}

function meaningsOf(written: string, zone: string): number[] {
  // Nearly every carrier writes digits alone.
  if (/^\d+$/.test(written)) return meaningsOfDigits(written, zone);
  // SMPP's own absolute form: tenths of a second, and the zone in quarters of an hour.
  const own = /^(\d{12})\d(\d{2})([+-])$/.exec(written);
  if (own) return [wallOf(own[1] ?? "", 2) - Number(own[2]) * (own[3] === "-" ? -1 : 1) * QUARTER_HOUR_MS];
  if (/\d(?:Z|[+-]\d{2}:?\d{2})$/i.test(written) && /[T ]/.test(written))
    return [Date.parse(written.replace(" ", "T"))];

  // Up to the first sign that no date has: what follows the last field of a text is not part of it.
  const [date = ""] = /^[\d\s:/T-]*/.exec(written) ?? [];
  return meaningsOfDigits(date.replaceAll(/\D/g, ""), zone);
}

function meaningsOfDigits(digits: string, zone: string): number[] {
  const local = (yearDigits: 2 | 4): number => {
    const wall = wallOf(digits, yearDigits);
    return Number.isNaN(wall) ? wall : momentIn(zone, wall);
  };
  if (digits.length === 10) return [local(2), Number(digits) * 1000];
  if (digits.length === 12) return [local(2), local(4)];
  if (digits.length === 13) return [Number(digits)];
  return digits.length === 14 ? [local(4)] : [];
}

/** The wall's time as if it were UTC; NaN where a month, a day or an hour cannot be. */
function wallOf(digits: string, yearDigits: 2 | 4): number {
  const pair = (at: number): number => Number(digits.slice(yearDigits + at, yearDigits + at + 2));
  const year = Number(digits.slice(0, yearDigits)) + (yearDigits === 2 ? 2000 : 0);
  const [month, day, hour, minute, second] = [pair(0), pair(2), pair(4), pair(6), pair(8)];
  const wall = Date.UTC(year, month - 1, day, hour, minute, second);
  const same = new Date(wall);
  // An hour that cannot be makes another day of it; a minute or a second may not.
  const holds = same.getUTCMonth() === month - 1 && same.getUTCDate() === day && minute < 60 && second < 60;
  return holds ? wall : Number.NaN;
}
