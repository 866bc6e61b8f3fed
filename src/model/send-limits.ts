import {
  BUCKET_MS,
  bucketOf,
  dayOf,
  judgePrefix,
  oldestBucket,
  owedOf,
  type Bucket,
  type PrefixBlock,
  type PrefixJudgement,
  type PrefixLedger,
  type PumpingGuard,
} from "./pumping.ts";
import { allowedAgainAt, DAY_MS, MINUTE_MS, momentAt, type MomentLog, type SendCaps } from "./verification.ts";

/** All that decides about one send, as it is before the send. */
export interface Traffic {
  /** Earlier sends to the number. */
  sends: MomentLog;
  /** When a code was last used there; 0 when none ever was. */
  verifiedAt: number;
  prefix: PrefixLedger;
  country: readonly Bucket[];
  /** Sends of the account today. */
  today: number;
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

const PASSES: PrefixJudgement = { refusal: null, newBlock: null };

/** So many codes pass a block to a number that has used one before, until it uses one again: nobody earns by that. */
const KNOWN_SENDS = 3;

/** Whether somebody real is there. Whoever has others' numbers blocked does not keep out those who were there before. */
const isKnown = ({ sends, verifiedAt }: Traffic): boolean =>
  verifiedAt > 0 && momentAt(sends, KNOWN_SENDS) <= verifiedAt;

/** Every limit that one more send would break. The store asks inside its transactions, so both engines decide alike. */
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

  const { refusal, newBlock } = isKnown(traffic) ? PASSES : judgePrefix(traffic.prefix, guard, now);
  if (refusal) refusals.push(refusal);
  const hour = traffic.country.filter(({ bucket }) => bucket >= oldestBucket(now));
  if (guard.countryPerHour !== null && owedOf(hour, guard) >= guard.countryPerHour)
    refusals.push({ limit: "otp country speed", until: (bucketOf(now) + 1) * BUCKET_MS });
  if (guard.sendsPerDay !== null && traffic.today >= guard.sendsPerDay)
    refusals.push({ limit: "otp daily cap", until: (dayOf(now) + 1) * DAY_MS });
  return { refusals, newBlock };
}
