import type { Caller } from "../accounts/caller.ts";
import type { Seal } from "../lib/seal.ts";
import { maskNumber } from "../model/verification.ts";

/**
 * What looks like a phone number in any text: with a plus and perhaps in groups, or 7 to 15 digits that stand alone, also
 * behind a line break or another character that JSON or an address has written in letters. Ids are matched first and kept,
 * because a part of one may be all digits.
 */
const ID = String.raw`[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}`;
const NUMBERS = new RegExp(
  String.raw`(?<id>${ID})|(?:\+|%2B)\d(?:[ ().-]{0,2}\d){6,14}(?!\d)|(?:(?<![\w.])|(?<=\\[nrt])|(?<=%[0-9a-f]{2}))\d{7,15}(?![\w])`,
  "gi",
);

/** Only the last four digits stay to be seen. */
export const maskText = (text: string): string =>
  text.replaceAll(NUMBERS, (found, id: string | undefined) => {
    if (id !== undefined) return found;
    const digits = found.replace(/^%2B/i, "").replaceAll(/\D/g, "");
    return (found.startsWith("+") ? "+" : "") + maskNumber(digits);
  });

/** Whether somebody sees numbers only in part: who looks on has no need to call anybody. */
export const seesLess = (caller: Caller | null): boolean => caller?.role === "viewer";

/**
 * An answer as a viewer sees it, without a whole phone number anywhere in it. Where the place to go on from is a number, it
 * goes out sealed, and comes back through `openCursor`.
 */
export function hideNumbers(answer: unknown, seal: Seal | null): unknown {
  if (typeof answer === "string") return maskText(answer);
  if (typeof answer !== "object" || answer === null) return answer;
  if (Array.isArray(answer)) return answer.map((item) => hideNumbers(item, seal));
  // A stream or raw bytes cannot be looked through here, and must not slip by.
  if (Object.getPrototypeOf(answer) !== Object.prototype)
    throw new TypeError("an answer of this kind cannot be shown to viewers");
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [
      maskText(name),
      seal && name === "nextCursor" && typeof value === "string" ? sealedCursor(value, seal) : hideNumbers(value, seal),
    ]),
  );
}

const sealedCursor = (cursor: string, seal: Seal): string => (maskText(cursor) === cursor ? cursor : seal.seal(cursor));

/** A cursor as its listing knows it; what is none stays as it is and is refused there. */
export function openCursor(cursor: string | undefined, seal: Seal): string | undefined {
  if (cursor?.startsWith("v1.") !== true) return cursor;
  try {
    return seal.open(cursor);
  } catch {
    // Not sealed here: the listing says what is wrong with it.
    return cursor;
  }
}
