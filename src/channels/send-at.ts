import { ISO_TIME, parseIsoTime } from "../lib/iso-time.ts";
import { Type } from "../lib/schema.ts";
import type { Fault } from "../model/problem.ts";

const SEND_AHEAD_MAX_MS = 30 * 86_400_000;

const SEND_AT_RULE =
  "sendAt is a time within the next 30 days: epoch milliseconds, or like 2026-01-31T18:00:00Z with its zone.";

/** The `sendAt` of a request, on every channel. */
export const sendAt = Type.Optional(
  Type.Union([Type.Integer(), Type.String({ format: "date-time" })], {
    description: "When to send, within the next 30 days: epoch milliseconds, or ISO 8601 with its zone.",
    error: SEND_AT_RULE,
    check: (time) => (typeof time === "number" || ISO_TIME.test(time) ? null : SEND_AT_RULE),
  }),
);

/** Epoch milliseconds; null means now. */
export const timeOf = (written: string | number | undefined): number | null =>
  typeof written === "string" ? parseIsoTime(written) : (written ?? null);

/** The fault of a time that is past or too far ahead. */
export function sendAtFaults(written: string | number | undefined, now: number): Fault[] {
  const time = timeOf(written);
  if (time === null || (time > now && time <= now + SEND_AHEAD_MAX_MS)) return [];
  return [{ parameter: "sendAt", message: SEND_AT_RULE }];
}
