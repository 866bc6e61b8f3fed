import { parseIsoTime } from "../lib/iso-time.ts";
import type { Fault } from "../model/problem.ts";

export const LIMIT_DEFAULT = 50;
export const LIMIT_MAX = 200;

type Query = Readonly<Record<string, string | undefined>>;

/** Page size from `limit`. */
export function readLimit(query: Query, faults: Fault[]): number {
  if (query.limit === undefined) return LIMIT_DEFAULT;
  const limit = /^\d{1,6}$/.test(query.limit) ? Number(query.limit) : 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  faults.push({ parameter: "limit", message: `limit is a whole number from 1 to ${LIMIT_MAX}.` });
  return LIMIT_DEFAULT;
}

/** A time as epoch milliseconds or ISO 8601. */
export function readTime(query: Query, parameter: string, faults: Fault[]): number | undefined {
  const value = query[parameter];
  return value === undefined ? undefined : readMoment(value, parameter, faults);
}

/** The same from a body; 0 with an entry in `faults` if it is invalid. */
export function readMoment(value: string | number, parameter: string, faults: Fault[]): number {
  const time = /^\d{1,15}$/.test(String(value)) ? Number(value) : parseIsoTime(String(value));
  if (Number.isFinite(time)) return time;
  faults.push({ parameter, message: `${parameter} is a time: epoch milliseconds, or like 2026-01-31T18:00:00Z.` });
  return 0;
}
