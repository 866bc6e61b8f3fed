import { timeOf } from "../lib/ids.ts";
import type { PumpingGuard } from "../model/pumping.ts";
import { MINUTE_MS, MOMENT_DIGITS, stateAt, type FailureCaps, type VerificationState } from "../model/verification.ts";
import type { VerificationRow } from "./tables.ts";
import type { AcceptResult } from "./store.ts";
import type { Admission, CheckResult, NewVerification } from "./verify-store.ts";

/** What is said of a request by what limits said of its code. */
export function acceptResultOf(admission: Admission): AcceptResult {
  const { refused, noted } = admission;
  if (refused.length > 0) return { kind: "held back", admission };
  return noted.length > 0 ? { kind: "stored", noted } : { kind: "stored" };
}

/** What a try that changed nothing is told, by what the row is now. */
export function refusedCheck(
  row: Pick<VerificationRow, "state" | "expires_at">,
  blockedUntil: number | null,
  at: number,
): CheckResult {
  const state = stateAt(row.state as VerificationState, row.expires_at, at);
  if (state !== "pending") return { kind: "ended", state, expiresAt: row.expires_at };
  return { kind: "blocked", until: blockedUntil ?? at };
}

export const failureCapsOf = (row: Pick<VerificationRow, "failures_per_hour" | "failures_per_day">): FailureCaps => ({
  failuresPerHour: row.failures_per_hour,
  failuresPerDay: row.failures_per_day,
});

/** The moment in this place of a log, counted from the newest, as SQL reads it; empty when there is none. */
export const momentIn = (log: string, place: string): string =>
  `substr(${log}, ${MOMENT_DIGITS} * (${place} - 1) + 1, ${MOMENT_DIGITS})`;

/** Where sends are counted, each for itself: what limits refuse by, what they are only noted by, and what test keys send. */
type Book = "real" | "noted" | "test";

/** The book that a code is counted in; empty where it is not, because it is fixed. */
export const bookOf = ({ fixed, mode, bound }: Pick<NewVerification, "fixed" | "mode" | "bound">): Book | "" =>
  fixed ? "" : mode === "test" ? "test" : bound ? "real" : "noted";

/** What a send is owed by against pumping; null where nothing is: where nobody can earn by it. */
export const owedUnder = ({ fixed, mode, bound, guard }: NewVerification): PumpingGuard | null =>
  bound && mode === "live" && !fixed ? guard : null;

/** When there is first something to do with a new code; never after its end, with which its plan has to go. */
export const firstDueAt = ({ next, followed, expiresAt }: NewVerification): number | null =>
  next ? Math.min(next.at, expiresAt) : followed ? expiresAt : null;

/** No code is good for longer. */
const LONGEST_LIFE_MS = 10 * MINUTE_MS;

/**
 * Makes a verification the latest of its number under a configuration, and gives the one that was. Those that are too old
 * to be pending are left out, so that a number under ever new names does not fill its row.
 */
export function takePlace(latest: string, config: string, id: string): { before: string | null; latest: string } {
  if (latest === "{}") return { before: null, latest: JSON.stringify({ [config]: id }) };
  const known = Object.entries(JSON.parse(latest) as Record<string, string>);
  const byConfig = new Map(known.filter(([, each]) => timeOf(each) >= timeOf(id) - LONGEST_LIFE_MS));
  const before = byConfig.get(config) ?? null;
  return { before, latest: JSON.stringify(Object.fromEntries(byConfig.set(config, id))) };
}
