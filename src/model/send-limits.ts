import {
  BUCKET_MS,
  bucketOf,
  dayOf,
  decidePrefix,
  oldestBucket,
  owedOf,
  type Bucket,
  type PrefixBlock,
  type PrefixDecision,
  type PrefixLedger,
  type PumpingGuard,
} from "./pumping.ts";
import { allowedAgainAt, DAY_MS, MINUTE_MS, momentAt, type MomentLog, type SendCaps } from "./verification.ts";

/** The state before a send on which the decision is based. */
export interface Traffic {
  /** Earlier sends to the number. */
  sends: MomentLog;
  /** Earlier sends to the e-mail address; null on other channels. */
  addressSends: MomentLog | null;
  /** The last use of a code at the number; 0 when there was none. */
  verifiedAt: number;
  prefix: PrefixLedger;
  country: readonly Bucket[];
  /** Sends of the account today. */
  today: number;
}

export type SendLimit =
  | "otp cooldown"
  | "otp sends"
  | "otp address sends"
  | "otp prefix block"
  | "otp prefix speed"
  | "otp country speed"
  | "otp daily cap";

export interface SendRefusal {
  limit: SendLimit;
  /** The time at which a retry is allowed. */
  until: number;
}

export interface SendDecision {
  refusals: readonly SendRefusal[];
  /** A block that starts with this send. */
  newBlock: PrefixBlock | null;
}

const PASSES: PrefixDecision = { refusal: null, newBlock: null };

/** Codes that a block lets through to a number with a used code, until it uses one again. Pumping gains nothing by this. */
const KNOWN_SENDS = 3;

/** True for numbers of real users. An attacker who causes a block must not lock out existing users. */
const isKnown = ({ sends, verifiedAt }: Traffic): boolean =>
  verifiedAt > 0 && momentAt(sends, KNOWN_SENDS) <= verifiedAt;

/** All limits that one more send would break. Both store engines call it inside their transactions. */
export function decideSend(traffic: Traffic, caps: SendCaps, guard: PumpingGuard | null, now: number): SendDecision {
  const refusals: SendRefusal[] = [];
  const cooldown = allowedAgainAt(traffic.sends, [{ max: 1, withinMs: caps.cooldownSeconds * 1000 }], now);
  if (cooldown !== null) refusals.push({ limit: "otp cooldown", until: cooldown });
  const rates = [
    { max: caps.sendsPer10Minutes, withinMs: 10 * MINUTE_MS },
    { max: caps.sendsPerDay, withinMs: DAY_MS },
  ];
  const sends = allowedAgainAt(traffic.sends, rates, now);
  if (sends !== null) refusals.push({ limit: "otp sends", until: sends });
  const cooldownRate = { max: 1, withinMs: caps.cooldownSeconds * 1000 };
  const address = traffic.addressSends && allowedAgainAt(traffic.addressSends, [cooldownRate, ...rates], now);
  if (address) refusals.push({ limit: "otp address sends", until: address });
  if (!guard) return { refusals, newBlock: null };

  const { refusal, newBlock } = isKnown(traffic) ? PASSES : decidePrefix(traffic.prefix, guard, now);
  if (refusal) refusals.push(refusal);
  const hour = traffic.country.filter(({ bucket }) => bucket >= oldestBucket(now));
  if (guard.countryPerHour !== null && owedOf(hour, guard) >= guard.countryPerHour)
    refusals.push({ limit: "otp country speed", until: (bucketOf(now) + 1) * BUCKET_MS });
  if (guard.sendsPerDay !== null && traffic.today >= guard.sendsPerDay)
    refusals.push({ limit: "otp daily cap", until: (dayOf(now) + 1) * DAY_MS });
  return { refusals, newBlock };
}
