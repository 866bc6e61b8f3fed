import type { RouteClass } from "../../model/message.ts";

const DAY_S = 86_400;
const LONGEST_S = 30 * DAY_S;

/**
 * Relative validity_period in SMPP format, `YYMMDDhhmmss000R`. At least one second, because an empty value means the SMSC
 * default. At most thirty days, because a month has no fixed length.
 */
export function relativeValidity(ms: number): string {
  const seconds = Math.min(LONGEST_S, Math.max(1, Math.floor(ms / 1000)));
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  return `0000${two(seconds / DAY_S)}${two((seconds % DAY_S) / 3600)}${two((seconds % 3600) / 60)}${two(seconds % 60)}000R`;
}

/** priority_flag by class, 0 to 3. */
type Priorities = Readonly<Record<RouteClass, number>>;

/** Not 3, which some networks reserve for emergencies. */
export const DEFAULT_PRIORITIES: Priorities = { OTP: 2, TRANS: 1, PROMO: 0 };

export interface ReceiptRequest {
  /** Final states that the carrier reports. */
  receipts: "all" | "failures" | "none";
  /** True to request intermediate notifications too. */
  intermediate: boolean;
}

const WISHES = { none: 0, all: 1, failures: 2 };

/** Value of registered_delivery. */
export const registeredDelivery = ({ receipts, intermediate }: ReceiptRequest): number =>
  WISHES[receipts] | (intermediate ? 0x10 : 0);
