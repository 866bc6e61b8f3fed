/**
 * Some numbers earn for whoever is called on them, and forms that send codes are how they are fed. What gives it away is
 * that nobody types the codes in, so every code that is sent is owed by its prefix until used ones have paid for it.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from "./verification.ts";

/** What an account allows before it believes that somebody asks for codes to earn with their delivery. */
export interface PumpingGuard {
  /** Codes that one block of 10,000 numbers may owe. */
  prefixUnused: number;
  /** Codes of one hour that one country may owe; null for any number. */
  countryPerHour: number | null;
  /** All sends of the account; null for any number. */
  sendsPerDay: number | null;
  /** The share of codes that must be used: at 20 % a used one pays for five. */
  conversionPercent: number;
  /** For so long a prefix is blocked, and twice as long each time again, up to a week. */
  blockHours: number;
}

export const DEFAULT_GUARD: PumpingGuard = {
  prefixUnused: 20,
  countryPerHour: 2000,
  sendsPerDay: 100_000,
  conversionPercent: 20,
  blockHours: 12,
};

/** A block of 10,000 numbers: what pumping is bought by. */
export const prefixOf = (number: string): string => number.slice(0, -4);

/** For how many codes one that is used pays, itself among them. */
export const paysFor = ({ conversionPercent }: PumpingGuard): number => Math.ceil(100 / conversionPercent);

export const BUCKET_MS = 10 * MINUTE_MS;
const BUCKETS_PER_HOUR = HOUR_MS / BUCKET_MS;

/** Sends of ten minutes, and how many of them were verified at any time since. */
export interface Bucket {
  bucket: number;
  sends: number;
  verified: number;
}

export const bucketOf = (at: number): number => Math.floor(at / BUCKET_MS);
export const dayOf = (at: number): number => Math.floor(at / DAY_MS);
/** The oldest bucket that the speed of a country is judged by. */
export const oldestBucket = (now: number): number => bucketOf(now) - BUCKETS_PER_HOUR;

/** What is owed of what these count. */
export const owedOf = (buckets: readonly Omit<Bucket, "bucket">[], guard: PumpingGuard): number =>
  buckets.reduce((owed, { sends, verified }) => owed + sends - paysFor(guard) * verified, 0);

/** What a prefix was blocked for, and how often. */
export interface PrefixBlock {
  blockedAt: number;
  until: number;
  /** How often in a row. */
  strikes: number;
  sends: number;
  verified: number;
}

/** What is known of one prefix. It has no window: a debt is remembered until it is paid, so pacing does not help. */
export interface PrefixLedger {
  /** Codes that were sent less those that are paid for; below zero where users have paid ahead. */
  owed: number;
  /** The five minutes of the last send, named by how many went before, with the sends in them and in the five before. */
  slot: number;
  slotSends: number;
  beforeSends: number;
  /** Sends, and used ones among them, since the prefix owed nothing or was blocked. */
  sends: number;
  verified: number;
  sentAt: number;
  blockedAt: number;
  /** 0 when it never was. */
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

/** A code is not held against its prefix before its owner has had the time to type it. */
const SLOT_MS = 5 * MINUTE_MS;
const BLOCK_MAX_MS = 7 * DAY_MS;
/** After a block so many codes find out whether anything has changed. */
const PROBE = 3;

const slotOf = (at: number): number => Math.floor(at / SLOT_MS);

export interface PrefixJudgement {
  /** Why nothing is sent, and until when; null when it is. */
  refusal: { limit: "otp prefix block" | "otp prefix speed"; until: number } | null;
  /** A block that begins now. */
  newBlock: PrefixBlock | null;
}

/** Whether a prefix may be sent one more code. */
export function judgePrefix(ledger: PrefixLedger, guard: PumpingGuard, now: number): PrefixJudgement {
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

/** The ledger with its slots as they are now. */
function turnedTo(ledger: PrefixLedger, now: number): PrefixLedger {
  const slot = slotOf(now);
  const { slotSends } = ledger;
  if (slot <= ledger.slot) return ledger;
  return { ...ledger, slot, slotSends: 0, beforeSends: slot === ledger.slot + 1 ? slotSends : 0 };
}

/** The ledger after one more send. What users have paid ahead counts as far as a prefix may owe, and no further. */
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

/** The ledger with a block that begins. The debt stays, but for a few codes that may be sent when the block is over. */
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
