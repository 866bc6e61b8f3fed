import type { Random } from "./random.ts";

export type RouteClass = "OTP" | "TRANS" | "PROMO";

/** One send request that the ledger client means to make. */
export interface Intent {
  /** Its Idempotency-Key, and the campaign name that its messages carry. */
  key: string;
  type: RouteClass;
  to: readonly string[];
  /** False for a request that the server has to refuse. */
  valid: boolean;
}

/** What has to become of a message to a number; decided by its last four digits. */
export type Fate = "delivered" | "undelivered" | "expired" | "refused" | "unreported" | "malformed";

/** Tells the ledger client's messages from what a test sends beside it. */
export const SENDER = "LEDGER";

const SCRIPTED: Record<string, Fate> = {
  "9001": "undelivered",
  "9002": "expired",
  "9003": "refused",
  "9004": "unreported",
  "9006": "delivered",
  "9007": "delivered",
  "9008": "delivered",
};
const ENDINGS = Object.keys(SCRIPTED);

export const fateOf = (number: string): Fate =>
  number.length < 7 ? "malformed" : (SCRIPTED[number.slice(-4)] ?? "delivered");

const BULK_MAX = 20;

/** Makes requests as a busy customer's day has them: mostly single, some bulk, a few wrong, all kinds of numbers. */
export function createTraffic(random: Random, name: string): { next(): Intent } {
  let count = 0;
  const numberOf = (): string => {
    const line = String(random.between(0, 999_999)).padStart(6, "0");
    const ending = random.chance(0.25) ? random.pick(ENDINGS) : String(random.between(1000, 8999));
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

/** The same intent always makes the same body: a replay must not differ from what it repeats. */
export const bodyOf = ({ key, type, to, valid }: Intent): string =>
  JSON.stringify({
    sender: SENDER,
    to: to.length === 1 ? to[0] : to,
    text: `Message of ${key}`,
    type: valid ? type : "NONE",
    campaignName: key,
  });
