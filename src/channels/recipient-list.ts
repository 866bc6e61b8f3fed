import { countOf } from "../lib/text.ts";
import { Problem, type Fault } from "../model/problem.ts";
import type { DraftRecipient } from "./draft.ts";
import { printable, readRecipient, type NumberSettings } from "./parse-number.ts";

/** Rules that every channel has for a request with several recipients. */

/** The limit on recipients, and the clock that `sendAt` is compared with. */
export interface ListRules {
  recipientsMax: number;
  now: number;
}

export const NUMBER_RULE =
  "Write the number internationally: country code first, 7 to 15 digits, with or without a plus.";

/** Checked before the shape: a list that is too long is a problem of its own. */
export function refuseTooMany(parameter: string, list: unknown, max: number): void {
  if (!Array.isArray(list) || list.length <= max) return;
  throw new Problem("TOO_MANY_RECIPIENTS", {
    faults: [{ parameter, message: `${countOf(list.length, "recipient")}; a request takes at most ${max}.` }],
  });
}

/** The recipient of a number; a malformed one becomes a message that fails, so that the others are sent. */
export const recipientOrFailure = (written: string, numbers: NumberSettings): DraftRecipient =>
  readRecipient(written, numbers) ?? malformed(written);

export const malformed = (written: string): DraftRecipient => ({
  number: printable(written),
  written: null,
  failure: "INVALID_RECIPIENT",
});

/** A number is listed once, unless it has values of its own that differ. */
export function uniqueRecipients<R extends DraftRecipient>(
  recipients: readonly R[],
  ownValues: (recipient: R) => unknown,
): readonly R[] {
  if (recipients.length === 1) return recipients;
  const seen = new Map<string, R>();
  for (const recipient of recipients) {
    const { number, failure } = recipient;
    const own = ownValues(recipient);
    // A malformed number may be shown like a good one, and must not take its place.
    const same = failure === null ? number : `malformed ${number}`;
    const key = own === null ? same : `${same} ${JSON.stringify(own)}`;
    if (!seen.has(key)) seen.set(key, recipient);
  }
  return [...seen.values()];
}

/** A request fails for its numbers only when all of them are malformed. */
export function allMalformed(recipients: readonly DraftRecipient[], field: string, rule: string): Fault[] {
  if (recipients.some(({ failure }) => failure === null)) return [];
  return recipients.map((_, index) => ({ parameter: `recipients[${index}].${field}`, message: rule }));
}

/** Leaves out fields that are null, which single forms of a send ignore. */
export function withoutNulls(given: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
  if (!fields.some((field) => given[field] === null)) return given;
  return Object.fromEntries(
    Object.entries(given).filter(([field, value]) => value !== null || !fields.includes(field)),
  );
}
