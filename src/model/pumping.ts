/**
 * The guard against SMS pumping: fraudsters request codes for premium numbers and share in the revenue. Their codes are
 * never typed in. Therefore every sent code is a debt of its prefix, and used codes pay debts off.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, type VerificationState } from "./verification.ts";

/** The thresholds of an account, above which it assumes pumping. */
export interface PumpingGuard {
  /** The largest debt of a prefix, which is a block of 10,000 numbers. */
  prefixUnused: number;
  /** The largest debt of a country within one hour; null for no limit. */
  countryPerHour: number | null;
  /** The most sends of the account per day; null for no limit. */
  sendsPerDay: number | null;
  /** The required conversion: at 20 %, a used code pays for five. */
  conversionPercent: number;
  /** The length of a first block; it doubles with each further block, up to a week. */
  blockHours: number;
}

export const DEFAULT_GUARD: PumpingGuard = {
  prefixUnused: 20,
  countryPerHour: 2000,
  sendsPerDay: 100_000,
  conversionPercent: 20,
  blockHours: 12,
};

/** A block of 10,000 numbers, the unit in which fraudsters rent numbers. */
export const prefixOf = (number: string): string => number.slice(0, -4);

/** The number of codes that one used code pays for, including itself. */
export const paysFor = ({ conversionPercent }: PumpingGuard): number => Math.ceil(100 / conversionPercent);

export const BUCKET_MS = 10 * MINUTE_MS;
const BUCKETS_PER_HOUR = HOUR_MS / BUCKET_MS;

/** Sends within ten minutes, and how many of them have been verified since. */
export interface Bucket {
  bucket: number;
  sends: number;
  verified: number;
}

export const bucketOf = (at: number): number => Math.floor(at / BUCKET_MS);
export const dayOf = (at: number): number => Math.floor(at / DAY_MS);
/** The oldest bucket of the hourly limit of a country. */
export const oldestBucket = (now: number): number => bucketOf(now) - BUCKETS_PER_HOUR;

/** The debt of these buckets. */
export const owedOf = (buckets: readonly Omit<Bucket, "bucket">[], guard: PumpingGuard): number =>
  buckets.reduce((owed, { sends, verified }) => owed + sends - paysFor(guard) * verified, 0);

/** A block of a prefix, with the counts that caused it. */
export interface PrefixBlock {
  blockedAt: number;
  until: number;
  /** Consecutive blocks. */
  strikes: number;
  sends: number;
  verified: number;
}

/** The ledger of a prefix. It has no time window: slow pumping does not escape, because debts last until they are paid. */
export interface PrefixLedger {
  /** Sent codes less paid ones; negative when users have paid in advance. */
  owed: number;
  /** The slot of five minutes of the last send (slots since the epoch), its sends, and those of the slot before. */
  slot: number;
  slotSends: number;
  beforeSends: number;
  /** Sends and verified sends since the last block or the last time without debt. */
  sends: number;
  verified: number;
  sentAt: number;
  blockedAt: number;
  /** 0 when it was never blocked. */
  blockedUntil: number;
  strikes: number;
}

export const NEW_LEDGER: PrefixLedger = {
  owed: 0,
  slot: 0,
  slotSends: 0,
  beforeSends: 0,
  sends: 0,
  verified: 0,
  sentAt: 0,
  blockedAt: 0,
  blockedUntil: 0,
  strikes: 0,
};

/** A code counts as debt only after its user has had the time to type it. */
const SLOT_MS = 5 * MINUTE_MS;
const BLOCK_MAX_MS = 7 * DAY_MS;
/** Codes that are allowed after a block, to probe the prefix. */
const PROBE = 3;

const slotOf = (at: number): number => Math.floor(at / SLOT_MS);

export interface PrefixDecision {
  /** The broken limit and its end; null when the send is allowed. */
  refusal: { limit: "otp prefix block" | "otp prefix speed"; until: number } | null;
  /** A block that starts with this decision. */
  newBlock: PrefixBlock | null;
}

/** Decides whether a prefix may receive one more code. */
export function decidePrefix(ledger: PrefixLedger, guard: PumpingGuard, now: number): PrefixDecision {
  const { owed, slot, blockedUntil } = ledger;
  if (blockedUntil > now) return { refusal: { limit: "otp prefix block", until: blockedUntil }, newBlock: null };
  if (owed < guard.prefixUnused) return { refusal: null, newBlock: null };
  const { slotSends, beforeSends } = turnedTo(ledger, now);
  if (owed - slotSends - beforeSends < guard.prefixUnused)
    return { refusal: { limit: "otp prefix speed", until: (slot + 2) * SLOT_MS }, newBlock: null };
  const newBlock = blockOf(ledger, guard, now);
  return { refusal: { limit: "otp prefix block", until: newBlock.until }, newBlock };
}

function blockOf({ strikes, blockedUntil, sends, verified }: PrefixLedger, guard: PumpingGuard, now: number) {
  const isAgain = strikes > 0 && now - blockedUntil < BLOCK_MAX_MS;
  const next = isAgain ? strikes + 1 : 1;
  const lengthMs = Math.min(guard.blockHours * HOUR_MS * 2 ** Math.min(next - 1, 20), BLOCK_MAX_MS);
  return { blockedAt: now, until: now + lengthMs, strikes: next, sends, verified };
}

/** Advances the ledger to the current slot. */
function turnedTo(ledger: PrefixLedger, now: number): PrefixLedger {
  const slot = slotOf(now);
  const { slotSends } = ledger;
  if (slot <= ledger.slot) return ledger;
  return { ...ledger, slot, slotSends: 0, beforeSends: slot === ledger.slot + 1 ? slotSends : 0 };
}

/** The ledger after one more send. Payments in advance count at most as much as the largest debt. */
export function ledgerAfterSend(ledger: PrefixLedger, { prefixUnused: most }: PumpingGuard, now: number): PrefixLedger {
  const turned = turnedTo(ledger, now);
  const isAnew = ledger.owed <= 0 || ledger.blockedAt >= ledger.sentAt;
  return {
    ...turned,
    owed: Math.max(ledger.owed, -most) + 1,
    slotSends: turned.slotSends + 1,
    sends: (isAnew ? 0 : ledger.sends) + 1,
    verified: isAnew ? 0 : ledger.verified,
    sentAt: now,
  };
}

/** The time after which a user who got no code has asked for another. */
const RESEND_MS = 3 * MINUTE_MS;

/** The time to settle a code that no product reports on: before it counts as old debt, and at the latest when it expires. */
export const settleTimeOf = ({ createdAt, expiresAt }: { createdAt: number; expiresAt: number }): number =>
  Math.min(createdAt + RESEND_MS, expiresAt);

/**
 * The outcome of a code that no product reports on. A code that was delivered and not followed by another pays for itself, and
 * for no other: an attacker's phone gets its codes too. It proves no user, so it exempts neither its number nor its prefix.
 */
export const paysForItself = ({ state, delivered }: { state: VerificationState; delivered: boolean }): boolean =>
  delivered && (state === "pending" || state === "expired");

/** The most codes of a prefix that pay for themselves in a day: with more, slow pumping would never owe anything. */
export const paidUnreportedPerDay = ({ prefixUnused }: PumpingGuard): number => prefixUnused;

/** The ledger at the start of a block. The debt is reduced by a few codes, which probe the prefix after the block. */
export const ledgerAfterBlock = (
  ledger: PrefixLedger,
  { blockedAt, until, strikes }: PrefixBlock,
  { prefixUnused }: PumpingGuard,
): PrefixLedger => ({
  ...ledger,
  owed: Math.max(0, prefixUnused - PROBE),
  slotSends: 0,
  beforeSends: 0,
  blockedAt,
  blockedUntil: until,
  strikes,
});
