import type { KeyMode } from "./api-key.ts";

/**
 * Verifications by one-time password, and the limits against guessing (brute force). The rules are pure functions: both
 * store engines call them inside their transactions.
 */

/** Stored states. A pending verification past its time counts as `expired` without a write. */
export const VERIFICATION_STATES = ["pending", "verified", "expired", "exhausted", "superseded", "cancelled"] as const;
export type VerificationState = (typeof VERIFICATION_STATES)[number];

export interface Verification {
  accountId: number;
  /** Also the id of the request that sent the code first. */
  id: string;
  /** The mode of the key that requested it; keys of the other mode cannot see it. */
  mode: KeyMode;
  /** Name of its configuration. */
  config: string;
  /** Digits without plus. */
  number: string;
  country: string;
  state: VerificationState;
  /** The digest of its code. */
  digest: string;
  checks: number;
  checksMax: number;
  test: boolean;
  createdAt: number;
  expiresAt: number;
  /** The time at which it was verified, exhausted or superseded; null before. */
  doneAt: number | null;
}

export interface SourcedVerification extends Verification {
  /** The product that made the code; null if Heliograph did. */
  source: CodeSource | null;
}

/** A code that came with its request. */
export interface CodeSource {
  /** The identity product, or the name that a request gave. */
  name: string;
  /** The product checks the code itself. */
  deliverOnly: boolean;
}

/** The source of a code in a request that names none. */
export const API_SOURCE = "api";

/** The form of a source's name. */
export const SOURCE_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** A product may report the use of a code that it checks itself until so long after `expiresAt`: some keep codes for an hour. */
export const LATE_REPORT_MS = 60 * 60_000;

/** The state at a time. */
export const stateAt = (state: VerificationState, expiresAt: number, now: number): VerificationState =>
  state === "pending" && expiresAt <= now ? "expired" : state;

/** A masked number: recognisable, but not callable. */
export const maskNumber = (number: string): string => "*".repeat(Math.max(0, number.length - 4)) + number.slice(-4);

/**
 * Timestamps as one string of equal digits, newest first. SQL reads the tenth newest with `substr`, alike on both engines,
 * so sliding windows are exact.
 */
export type MomentLog = string;

export const MOMENT_DIGITS = 13;

/** The longest window of all limits. */
export const MOMENTS_KEPT = 100;

export const momentText = (at: number): string => String(Math.max(0, at)).padStart(MOMENT_DIGITS, "0");

export const addMoment = (log: MomentLog, at: number): MomentLog =>
  (momentText(at) + log).slice(0, MOMENT_DIGITS * MOMENTS_KEPT);

/** The n-th newest timestamp of a log; 0 when there are fewer. */
export const momentAt = (log: MomentLog, place: number): number =>
  Number(log.slice(MOMENT_DIGITS * (place - 1), MOMENT_DIGITS * place));

/** The most events within a sliding window. */
export interface Rate {
  max: number;
  withinMs: number;
}

/** The time at which all rates allow the next event; null for now. */
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

/** Send limits per number. */
export interface SendCaps {
  cooldownSeconds: number;
  sendsPer10Minutes: number;
  sendsPerDay: number;
}

/** Limits of wrong guesses per number, over all its verifications. */
export interface FailureCaps {
  failuresPerHour: number;
  failuresPerDay: number;
}

export const failureRates = ({ failuresPerHour, failuresPerDay }: FailureCaps): readonly Rate[] => [
  { max: failuresPerHour, withinMs: HOUR_MS },
  { max: failuresPerDay, withinMs: DAY_MS },
];
