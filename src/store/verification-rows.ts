import { timeOf } from "../lib/ids.ts";
import { settleTimeOf, type PumpingGuard } from "../model/pumping.ts";
import { MINUTE_MS, MOMENT_DIGITS, stateAt, type FailureCaps, type VerificationState } from "../model/verification.ts";
import type { VerificationRow } from "./tables.ts";
import type { AcceptResult } from "./store.ts";
import type { Admission, CheckResult, NewVerification } from "./verifications.ts";

/** The accept result that follows from the limits of its code. */
export function acceptResultOf(admission: Admission): AcceptResult {
  const { refused, noted } = admission;
  if (refused.length > 0) return { kind: "held back", admission };
  return noted.length > 0 ? { kind: "stored", noted } : { kind: "stored" };
}

/** The result of an attempt that changed nothing, from the current row. */
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

/** SQL for the n-th newest moment of a log; empty when there is none. */
export const momentIn = (log: string, place: string): string =>
  `substr(${log}, ${MOMENT_DIGITS} * (${place} - 1) + 1, ${MOMENT_DIGITS})`;

/** Separate counts of sends: for limits that bind, for limits that are only noted, and for test keys. */
type Book = "real" | "noted" | "test";

/** The book that counts a code; empty for fixed codes, which are not counted. */
export const bookOf = ({ fixed, mode, bound }: Pick<NewVerification, "fixed" | "mode" | "bound">): Book | "" =>
  fixed ? "" : mode === "test" ? "test" : bound ? "real" : "noted";

/** The pumping guard of a send; null for test keys, for fixed codes and where limits do not bind. */
export const owedUnder = ({ fixed, mode, bound, guard }: NewVerification): PumpingGuard | null =>
  bound && mode === "live" && !fixed ? guard : null;

/** The first due time of a new code. It is never after its expiry, when its plan must be removed. */
export function firstDueAt({ next, followed, source, expiresAt }: NewVerification, createdAt: number): number | null {
  if (next) return Math.min(next.at, expiresAt);
  if (source?.unreported) return settleTimeOf({ createdAt, expiresAt });
  return followed ? expiresAt : null;
}

/** No code is valid for longer. */
const LONGEST_LIFE_MS = 10 * MINUTE_MS;

/**
 * Makes a verification the latest of its number under a configuration, and returns the previous one. Entries too old to be
 * pending are dropped, so that ever new names do not fill the row.
 */
export function takePlace(latest: string, config: string, id: string): { before: string | null; latest: string } {
  if (latest === "{}") return { before: null, latest: JSON.stringify({ [config]: id }) };
  const known = Object.entries(JSON.parse(latest) as Record<string, string>);
  const byConfig = new Map(known.filter(([, each]) => timeOf(each) >= timeOf(id) - LONGEST_LIFE_MS));
  const before = byConfig.get(config) ?? null;
  return { before, latest: JSON.stringify(Object.fromEntries(byConfig.set(config, id))) };
}
