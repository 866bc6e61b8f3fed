/**
 * A one-time password on its way from a phone back to whoever asked for it, and the limits that make guessing and pumping
 * hopeless. Everything here is pure: the store asks these rules inside its transactions, so both engines decide alike.
 */

/** As the store keeps them; one that nobody used in time is `expired` without anybody writing it down. */
export const VERIFICATION_STATES = ["pending", "verified", "expired", "exhausted", "superseded"] as const;
export type VerificationState = (typeof VERIFICATION_STATES)[number];

export interface Verification {
  accountId: number;
  /** Also the id of the request that sent the code first. */
  id: string;
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

/** So often within so long, and no more. */
export interface Rate {
  max: number;
  withinMs: number;
}

/** When the next one is allowed by every rate; null when that is now. */
export function allowedAgainAt(log: MomentLog, rates: readonly Rate[], now: number): number | null {
  const freeAt = rates.map(({ max, withinMs }) => {
    const moment = log.slice(MOMENT_DIGITS * (max - 1), MOMENT_DIGITS * max);
    return moment === "" ? 0 : Number(moment) + withinMs;
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

/**
 * What an account allows before it believes that somebody asks for codes to earn with their delivery. Sends that were
 * verified do not count towards the speeds: real users make room for more of their kind, and pumped numbers never do.
 */
export interface PumpingGuard {
  /** Unverified sends to one block of 10,000 numbers. */
  prefixPer10Minutes: number;
  prefixPerHour: number;
  /** Unverified sends to one country; null for any number. */
  countryPerHour: number | null;
  /** All sends of the account; null for any number. */
  sendsPerDay: number | null;
  /** So many sends to a prefix within the hour show whether they are worth it. */
  judgedFrom: number;
  /** Fewer verified than this share, and the prefix is blocked. */
  conversionPercent: number;
  /** For so long, and twice as long each time again, up to a week. */
  blockHours: number;
}

export const DEFAULT_GUARD: PumpingGuard = {
  prefixPer10Minutes: 20,
  prefixPerHour: 50,
  countryPerHour: 2000,
  sendsPerDay: 100_000,
  judgedFrom: 20,
  conversionPercent: 20,
  blockHours: 12,
};

/** A block of 10,000 numbers: what pumping is bought by. */
export const prefixOf = (number: string): string => number.slice(0, -4);

export const BUCKET_MS = 10 * MINUTE_MS;
const BLOCK_MAX_MS = 7 * DAY_MS;
/** A code is not held against its prefix before its owner has had the time to type it. */
const RIPE_MS = 5 * MINUTE_MS;
const BUCKETS_PER_HOUR = HOUR_MS / BUCKET_MS;

/** Sends of ten minutes, and how many of them were verified at any time since. */
export interface Bucket {
  bucket: number;
  sends: number;
  verified: number;
}

export const bucketOf = (at: number): number => Math.floor(at / BUCKET_MS);
export const dayOf = (at: number): number => Math.floor(at / DAY_MS);
/** The oldest bucket that any rule looks at. */
export const oldestBucket = (now: number): number => bucketOf(now) - BUCKETS_PER_HOUR - 1;

/** What a prefix was blocked for, and how often. */
export interface PrefixBlock {
  blockedAt: number;
  until: number;
  /** How often in a row. */
  strikes: number;
  sends: number;
  verified: number;
}

/** All that decides about one send, as it is before the send. */
export interface Traffic {
  /** Earlier sends to the number. */
  sends: MomentLog;
  prefix: readonly Bucket[];
  country: readonly Bucket[];
  /** Sends of the account today. */
  today: number;
  block: PrefixBlock | null;
}

export type SendLimit =
  | "otp cooldown"
  | "otp sends"
  | "otp prefix block"
  | "otp prefix speed"
  | "otp country speed"
  | "otp daily cap";

export interface SendRefusal {
  limit: SendLimit;
  /** When it may be tried again. */
  until: number;
}

export interface SendJudgement {
  refusals: readonly SendRefusal[];
  /** A block that begins with this send. */
  newBlock: PrefixBlock | null;
}

/** Every limit that one more send would break. */
export function judgeSend(traffic: Traffic, caps: SendCaps, guard: PumpingGuard | null, now: number): SendJudgement {
  const refusals: SendRefusal[] = [];
  const cooldown = allowedAgainAt(traffic.sends, [{ max: 1, withinMs: caps.cooldownSeconds * 1000 }], now);
  if (cooldown !== null) refusals.push({ limit: "otp cooldown", until: cooldown });
  const rates = [
    { max: caps.sendsPer10Minutes, withinMs: 10 * MINUTE_MS },
    { max: caps.sendsPerDay, withinMs: DAY_MS },
  ];
  const sends = allowedAgainAt(traffic.sends, rates, now);
  if (sends !== null) refusals.push({ limit: "otp sends", until: sends });
  if (!guard) return { refusals, newBlock: null };

  const standing = traffic.block && traffic.block.until > now ? traffic.block : null;
  const newBlock = standing ? null : blockFor(traffic, guard, now);
  const block = standing ?? newBlock;
  if (block) refusals.push({ limit: "otp prefix block", until: block.until });
  const nextBucketAt = (bucketOf(now) + 1) * BUCKET_MS;
  const isFast =
    unverified(traffic.prefix, bucketOf(now) - 1) >= guard.prefixPer10Minutes ||
    unverified(traffic.prefix, bucketOf(now) - BUCKETS_PER_HOUR) >= guard.prefixPerHour;
  if (isFast) refusals.push({ limit: "otp prefix speed", until: nextBucketAt });
  const countrySends = unverified(traffic.country, bucketOf(now) - BUCKETS_PER_HOUR);
  if (guard.countryPerHour !== null && countrySends >= guard.countryPerHour)
    refusals.push({ limit: "otp country speed", until: nextBucketAt });
  if (guard.sendsPerDay !== null && traffic.today >= guard.sendsPerDay)
    refusals.push({ limit: "otp daily cap", until: (dayOf(now) + 1) * DAY_MS });
  return { refusals, newBlock };
}

/** The block that a prefix has earned with what was sent to it long enough ago to be judged. */
function blockFor({ prefix, block }: Traffic, guard: PumpingGuard, now: number): PrefixBlock | null {
  const ripe = prefix.filter(({ bucket }) => (bucket + 1) * BUCKET_MS + RIPE_MS <= now && bucket >= oldestBucket(now));
  const sends = sum(ripe, "sends");
  const verified = sum(ripe, "verified");
  if (sends < guard.judgedFrom || verified * 100 >= sends * guard.conversionPercent) return null;
  const isAgain = block !== null && now - block.until < BLOCK_MAX_MS;
  const strikes = isAgain ? block.strikes + 1 : 1;
  const lengthMs = Math.min(guard.blockHours * HOUR_MS * 2 ** Math.min(strikes - 1, 20), BLOCK_MAX_MS);
  return { blockedAt: now, until: now + lengthMs, strikes, sends, verified };
}

const sum = (buckets: readonly Bucket[], field: "sends" | "verified"): number =>
  buckets.reduce((total, bucket) => total + bucket[field], 0);

const unverified = (buckets: readonly Bucket[], from: number): number =>
  buckets.reduce((total, { bucket, sends, verified }) => (bucket >= from ? total + sends - verified : total), 0);
