import { Problem, type Fault } from "../model/problem.ts";

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

type Query = Readonly<Record<string, string | undefined>>;

/** How many records a listing gives, from `limit`. */
export function readLimit(query: Query, faults: Fault[]): number {
  if (query.limit === undefined) return LIMIT_DEFAULT;
  const limit = /^\d{1,6}$/.test(query.limit) ? Number(query.limit) : 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  faults.push({ parameter: "limit", message: `limit is a whole number from 1 to ${LIMIT_MAX}.` });
  return LIMIT_DEFAULT;
}

/** A moment as epoch milliseconds or as ISO 8601. */
export function readTime(query: Query, parameter: string, faults: Fault[]): number | undefined {
  const written = query[parameter];
  return written === undefined ? undefined : readMoment(written, parameter, faults);
}

/** The same where it is given in a body; 0 when it is none, which goes to `faults`. */
export function readMoment(written: string | number, parameter: string, faults: Fault[]): number {
  const time = /^\d{1,15}$/.test(String(written)) ? Number(written) : Date.parse(String(written));
  if (Number.isFinite(time)) return time;
  faults.push({ parameter, message: `${parameter} is a time: epoch milliseconds, or like 2026-01-31T18:00:00Z.` });
  return 0;
}

export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults });
}
