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
  if (written === undefined) return undefined;
  const time = /^\d{1,15}$/.test(written) ? Number(written) : Date.parse(written);
  if (Number.isFinite(time)) return time;
  faults.push({ parameter, message: `${parameter} is a time: epoch milliseconds, or like 2026-01-31T18:00:00Z.` });
  return undefined;
}

export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults });
}
