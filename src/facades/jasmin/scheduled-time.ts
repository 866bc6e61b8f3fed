import { parseIsoTime } from "../../lib/iso-time.ts";

const QUARTER_MS = 900_000;
const ABSOLUTE = /^(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d)(\d{2})([+-])$/;
const RELATIVE = /^(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})\d{3}R$/;
const DAY_MS = 86_400_000;

/** Reads SMPP's form of a time, absolute or relative to `now`; null if it is none. */
export function readScheduledTime(written: string, now: number): number | null {
  const relative = RELATIVE.exec(written)?.slice(1).map(Number);
  if (relative) {
    const [years = 0, months = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = relative;
    return now + ((years * 365 + months * 30 + days) * 24 + hours) * 3_600_000 + minutes * 60_000 + seconds * 1000;
  }
  const [, year, month, day, hour, minute, second, tenth, quarters, sign] = ABSOLUTE.exec(written) ?? [];
  const local = parseIsoTime(`20${year}-${month}-${day}T${hour}:${minute}:${second}.${tenth}00Z`);
  if (Number.isNaN(local)) return null;
  return local - Number(quarters) * QUARTER_MS * (sign === "+" ? 1 : -1);
}

/** Reads `schedule_at` of a batch: `2026-01-31 18:00:00` in UTC, or `3600s` from now; null if it is neither. */
export function readScheduleAt(written: string, now: number): number | null {
  const seconds = /^(\d{1,8})s$/.exec(written)?.[1];
  if (seconds !== undefined) return Number(seconds) * 1000 <= 365 * DAY_MS ? now + Number(seconds) * 1000 : null;
  if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(written)) return null;
  const time = parseIsoTime(`${written.replace(" ", "T")}Z`);
  return Number.isNaN(time) ? null : time;
}
