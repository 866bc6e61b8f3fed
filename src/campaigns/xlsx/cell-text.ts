const DAY_MS = 86_400_000;
/** Day 0 of spreadsheets: 1900 counts as a leap year there, so all later days are one off. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
/** Spreadsheets show this many digits. */
const DIGITS_MAX = 15;
const LAST_DAY = 2_958_465;

export interface DateFormat {
  hasDate: boolean;
  hasTime: boolean;
}

const BUILT_IN: readonly (readonly [from: number, to: number, DateFormat])[] = [
  [14, 17, { hasDate: true, hasTime: false }],
  [18, 21, { hasDate: false, hasTime: true }],
  [22, 22, { hasDate: true, hasTime: true }],
  [27, 31, { hasDate: true, hasTime: false }],
  [32, 33, { hasDate: false, hasTime: true }],
  [34, 36, { hasDate: true, hasTime: false }],
  [45, 47, { hasDate: false, hasTime: true }],
  [50, 58, { hasDate: true, hasTime: false }],
];

/** The date format of a number format, or null for a number. */
export function dateFormatOf(id: number, code: string | undefined): DateFormat | null {
  if (code === undefined) return BUILT_IN.find(([from, to]) => id >= from && id <= to)?.[2] ?? null;
  const [first = ""] = code.split(";");
  // Without texts, escaped characters, colours and conditions. Elapsed times, such as [h], are times.
  const letters = first
    .replaceAll(/"[^"]*"|\\.|_.|\*./g, "")
    .replaceAll(/\[(h+|m+|s+)\]/gi, "$1")
    .replaceAll(/\[[^\]]*\]/g, "")
    .toLowerCase();
  if (letters.includes("general")) return null;
  const hasTime = /[hs]/.test(letters);
  const hasDate = /[dy]/.test(letters) || (letters.includes("m") && !hasTime);
  return hasDate || hasTime ? { hasDate, hasTime } : null;
}

/** A date as people in every country read it: `2026-01-31`, `18:00` or both. */
export function dateText(serial: number, { hasDate, hasTime }: DateFormat, is1904: boolean): string | null {
  if (serial < 0 || serial > LAST_DAY) return null;
  const at = new Date((is1904 ? EPOCH_1904 : EPOCH_1900) + Math.round(serial * DAY_MS));
  const [date = "", time = ""] = at.toISOString().split("T");
  const clock = at.getUTCSeconds() === 0 ? time.slice(0, 5) : time.slice(0, 8);
  if (!hasDate) return clock;
  return hasTime ? `${date} ${clock}` : date;
}

/** A number without an exponent: `9.198765E+11` is a phone number. */
export function numberText(written: string): string {
  if (/^-?\d{1,15}$/.test(written)) return written;
  const number = Number(written);
  if (!Number.isFinite(number)) return written;
  const rounded = Number(number.toPrecision(DIGITS_MAX));
  if (Number.isInteger(rounded)) return BigInt(rounded).toString();
  const text = String(rounded);
  return text.includes("e") ? rounded.toFixed(20).replace(/\.?0+$/, "") : text;
}
