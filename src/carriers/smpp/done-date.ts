import { findTimeZone } from "../../lib/time-zone.ts";

const ABSURD_MS = 86_400_000;
const QUARTER_HOUR_MS = 900_000;

/**
 * Parses the done date of a receipt. Carriers use a dozen formats, mostly without a zone, so of all readings the one
 * nearest to the time of receipt is taken. Readings more than a day off are ignored in favour of the time of receipt.
 */
export function readDoneDate(written: string | undefined, zone: string, receivedAt: number): number {
  let best = receivedAt;
  let bestDistance = ABSURD_MS;
  for (const moment of written === undefined ? [] : memoizedReadings(written, zone)) {
    const distance = Math.abs(moment - receivedAt);
    if (distance > bestDistance || Number.isNaN(distance)) continue;
    best = moment;
    bestDistance = distance;
  }
  return best;
}

let last: { written: string; zone: string; moments: readonly number[] } = { written: "", zone: "", moments: [] };

/** Most carriers write minutes, so consecutive receipts repeat the same value. */
function memoizedReadings(written: string, zone: string): readonly number[] {
  if (last.written !== written || last.zone !== zone)
    last = { written, zone, moments: readingsOf(written.trim(), zone) };
  return last.moments;
}

function readingsOf(written: string, zone: string): number[] {
  // Digits only, as nearly every carrier writes.
  if (/^\d+$/.test(written)) return readingsOfDigits(written, zone);
  // Absolute time format of SMPP: tenths of a second, and the offset in quarters of an hour.
  const own = /^(\d{12})\d(\d{2})([+-])$/.exec(written);
  if (own) return [localTimeOf(own[1] ?? "", 2) - Number(own[2]) * (own[3] === "-" ? -1 : 1) * QUARTER_HOUR_MS];
  if (/\d(?:Z|[+-]\d{2}:?\d{2})$/i.test(written) && /[T ]/.test(written))
    return [Date.parse(written.replace(" ", "T"))];

  // Up to the first character that is not part of a date: the last field has no delimiter.
  const [date = ""] = /^[\d\s:/T-]*/.exec(written) ?? [];
  return readingsOfDigits(date.replaceAll(/\D/g, ""), zone);
}

function readingsOfDigits(digits: string, zone: string): number[] {
  const local = (yearDigits: 2 | 4): number => {
    const localMs = localTimeOf(digits, yearDigits);
    // An unknown zone reads as UTC: a receipt with a wrong time is better than a lost one.
    return Number.isNaN(localMs) ? localMs : (findTimeZone(zone)?.toUtc(localMs) ?? localMs);
  };
  if (digits.length === 10) return [local(2), Number(digits) * 1000];
  if (digits.length === 12) return [local(2), local(4)];
  if (digits.length === 13) return [Number(digits)];
  return digits.length === 14 ? [local(4)] : [];
}

/** Local time read as UTC; NaN for invalid months, days or hours. */
function localTimeOf(digits: string, yearDigits: 2 | 4): number {
  const pair = (at: number): number => Number(digits.slice(yearDigits + at, yearDigits + at + 2));
  const year = Number(digits.slice(0, yearDigits)) + (yearDigits === 2 ? 2000 : 0);
  const [month, day, hour, minute, second] = [pair(0), pair(2), pair(4), pair(6), pair(8)];
  const localMs = Date.UTC(year, month - 1, day, hour, minute, second);
  const same = new Date(localMs);
  // An invalid hour changes the day; minutes and seconds need a check of their own.
  const holds = same.getUTCMonth() === month - 1 && same.getUTCDate() === day && minute < 60 && second < 60;
  return holds ? localMs : Number.NaN;
}
