import type { Random } from "./random.ts";

export type RouteClass = "OTP" | "TRANS" | "PROMO";

/** A send request of the ledger client. */
export interface Intent {
  /** The Idempotency-Key, also used as the campaign name of its messages. */
  key: string;
  type: RouteClass;
  to: readonly string[];
  /** False if the server must refuse the request. */
  valid: boolean;
}

/** Scripted outcome of a message, chosen by the last four digits of its number. */
export type ScriptedOutcome = "delivered" | "undelivered" | "expired" | "refused" | "unreported" | "malformed";

/** Distinguishes the ledger client's messages from other messages of a test. */
export const SENDER = "LEDGER";

const SCRIPTED: Record<string, ScriptedOutcome> = {
  "9001": "undelivered",
  "9002": "expired",
  "9003": "refused",
  "9004": "unreported",
  "9006": "delivered",
  "9007": "delivered",
  "9008": "delivered",
};
const ENDINGS = Object.keys(SCRIPTED);
/** The carrier throttles the first submit to such a number. */
const THROTTLED = "9008";

export const outcomeOf = (number: string): ScriptedOutcome =>
  number.length < 7 ? "malformed" : (SCRIPTED[number.slice(-4)] ?? "delivered");

const BULK_MAX = 20;

/** Generates the requests of a busy customer: mostly single, some bulk, a few invalid, with all scripted numbers. */
export function createTraffic(random: Random, name: string, isThrottled = true): { next(): Intent } {
  const endings = ENDINGS.filter((ending) => isThrottled || ending !== THROTTLED);
  let count = 0;
  const numberOf = (): string => {
    const line = String(random.between(0, 999_999)).padStart(6, "0");
    const ending = random.chance(0.25) ? random.pick(endings) : String(random.between(1000, 8999));
    return `44${line}${ending}`;
  };
  const recipients = (): string[] => {
    const size = random.chance(0.15) ? random.between(2, BULK_MAX) : 1;
    const numbers = new Set(Array.from({ length: size }, numberOf));
    if (size > 1 && random.chance(0.1)) numbers.add(String(random.between(100, 999)));
    return [...numbers];
  };
  return {
    next: () => ({
      key: `${name}-${(count += 1)}`,
      type: random.pick(["OTP", "TRANS", "TRANS", "PROMO"] as const),
      to: recipients(),
      valid: !random.chance(0.02),
    }),
  };
}

/** Deterministic: a replay must have the same body as the original request. */
export const bodyOf = ({ key, type, to, valid }: Intent): string =>
  JSON.stringify({
    sender: SENDER,
    to: to.length === 1 ? to[0] : to,
    text: `Message of ${key}`,
    type: valid ? type : "NONE",
    campaignName: key,
  });
