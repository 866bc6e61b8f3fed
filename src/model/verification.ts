import type { KeyMode } from "./api-key.ts";

/**
 * A one-time password on its way from a phone back to whoever asked for it, and the limits that make guessing hopeless.
 * Everything here is pure: the store asks these rules inside its transactions, so both engines decide alike.
 */

/** As the store keeps them; one that nobody used in time is `expired` without anybody writing it down. */
export const VERIFICATION_STATES = ["pending", "verified", "expired", "exhausted", "superseded"] as const;
export type VerificationState = (typeof VERIFICATION_STATES)[number];

export interface Verification {
  accountId: number;
  /** Also the id of the request that sent the code first. */
  id: string;
  /** Of the key that asked for it; keys of the other mode do not know it. */
  mode: KeyMode;
  /** Name of its configuration. */
  config: string;
  /** Digits without plus. */
  number: string;
  country: string;
  state: VerificationState;
  /** What its code is recognised by. */
  digest: string;
  checks: number;
  checksMax: number;
  test: boolean;
  createdAt: number;
  expiresAt: number;
  /** When it was verified, used up or superseded; null while it is not. */
  doneAt: number | null;
}

/** The state that counts now. */
export const stateAt = (state: VerificationState, expiresAt: number, now: number): VerificationState =>
  state === "pending" && expiresAt <= now ? "expired" : state;

/** Enough of a number to know it again, and not enough to call it. */
export const maskNumber = (number: string): string => "*".repeat(Math.max(0, number.length - 4)) + number.slice(-4);

/**
 * Moments as one text, newest first, each with the same number of digits: SQL can ask for the tenth newest with a plain
 * `substr`, the same on both engines, and so knows exactly how many there were in any stretch of time.
 */
export type MomentLog = string;

export const MOMENT_DIGITS = 13;

/** No limit counts further back. */
export const MOMENTS_KEPT = 100;

export const momentText = (at: number): string => String(Math.max(0, at)).padStart(MOMENT_DIGITS, "0");

export const addMoment = (log: MomentLog, at: number): MomentLog =>
  (momentText(at) + log).slice(0, MOMENT_DIGITS * MOMENTS_KEPT);

/** The moment in this place of a log, counted from the newest; 0 when there were fewer. */
export const momentAt = (log: MomentLog, place: number): number =>
  Number(log.slice(MOMENT_DIGITS * (place - 1), MOMENT_DIGITS * place));

/** So often within so long, and no more. */
export interface Rate {
  max: number;
  withinMs: number;
}

/** When the next one is allowed by every rate; null when that is now. */
export function allowedAgainAt(log: MomentLog, rates: readonly Rate[], now: number): number | null {
  const freeAt = rates.map(({ max, withinMs }) => {
    const moment = momentAt(log, max);
    return moment === 0 ? 0 : moment + withinMs;
  });
  const latest = Math.max(0, ...freeAt);
  return latest > now ? latest : null;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** What one number may be sent. */
export interface SendCaps {
  cooldownSeconds: number;
  sendsPer10Minutes: number;
  sendsPerDay: number;
}

/** How often guesses at the codes of one number may be wrong, over all its verifications. */
export interface FailureCaps {
  failuresPerHour: number;
  failuresPerDay: number;
}

export const failureRates = ({ failuresPerHour, failuresPerDay }: FailureCaps): readonly Rate[] => [
  { max: failuresPerHour, withinMs: HOUR_MS },
  { max: failuresPerDay, withinMs: DAY_MS },
];
