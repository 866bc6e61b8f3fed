import type { Caller } from "../accounts/caller.ts";
import type { Encryption } from "../lib/encryption.ts";
import { maskNumber } from "../model/verification.ts";

/** Ids are matched first and kept, because a part of one may be all digits. */
const ID = String.raw`(?<id>[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})`;

/** Possible start of a number: after a non-word character, or after an escape of JSON or of a URL. */
const startAfter = (others: string): string => String.raw`(?:(?<![\w.%]${others})|(?<=\\[nrt])|(?<=%[0-9a-f]{2}))`;

const TIME = String.raw`\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?[+-]\d\d:?\d\d)?`;
const DAY = "(?:0?[1-9]|[12]\\d|3[01])";
const YEAR = String.raw`(?:19|2[01])\d\d`;
const DATE = [
  String.raw`${YEAR}-${DAY}-${DAY}(?:(?:T| |%20)${TIME})?`,
  String.raw`${YEAR}\.${DAY}\.${DAY}`,
  String.raw`${DAY}-${DAY}-${YEAR}`,
  String.raw`${DAY}\.${DAY}\.${YEAR}`,
  `${YEAR}-${YEAR}`,
].join("|");
const BYTE = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`;
const ADDRESS = String.raw`(?:${BYTE}\.){3}${BYTE}`;
const DECIMAL = String.raw`\d{1,8}\.\d\d`;
const CURRENCY = "(?:[$€£¥₹]|(?:USD|EUR|GBP|INR|CHF|JPY|PLN|SEK|NOK|DKK|CZK|HUF)\\b)";
const THOUSANDS = String.raw`[1-9]\d{0,2}(?:[ .\u00a0\u202f]\d{3}){1,4}`;
const PRICE = [
  DECIMAL,
  String.raw`${THOUSANDS}[.,]\d\d`,
  String.raw`${THOUSANDS}(?=[ \u00a0\u202f]?${CURRENCY})`,
  String.raw`(?<=${CURRENCY}[ \u00a0\u202f]?)${THOUSANDS}`,
  String.raw`[1-9]\d?(?:\.\d{3}){2}`,
].join("|");
/** Grouped digits that are not a phone number. */
const OTHER = String.raw`(?:${DATE}|${ADDRESS}|${PRICE})(?![\d-]|\.\d)`;

const SEPARATOR = String.raw`(?:[ ().\u00a0\u202f\u2010-\u2015-]|%20|%28|%29)`;
const WITH_PLUS = String.raw`(?:\+|%2B)(?:${SEPARATOR}{0,2}\d){7,15}(?!\d)`;
/** Groups of at least two digits, the first of any length; after a leading zero also of one digit (06 1 234 5678). */
const GROUPED = String.raw`(?:\(\d{1,5}\)|0\d{0,3}[ -]\d(?!\d)|\d+)(?:${SEPARATOR}{1,3}(?<! (?=${OTHER}))\d{2,})+(?![\da-wyz_])`;

const GROUPED_NUMBERS = new RegExp(
  `${ID}|${startAfter("")}(?<other>${OTHER})|(?<plus>${WITH_PLUS})|${startAfter(String.raw`|\d-`)}(?<grouped>${GROUPED})`,
  "gi",
);
const UNGROUPED = new RegExp(
  String.raw`${ID}|${startAfter("")}(?:(?<price>${DECIMAL}(?![\d-]|\.\d))|\d{7,15}(?!\w))`,
  "gi",
);

/** Grouped digits with the length and grouping of a phone number: 555-0100, but not 48.8566 or 12 34567. */
function isGroupedNumber(found: string): boolean {
  const groups = found.replaceAll(/%2\d/g, " ").match(/\d+/g) ?? [];
  if (groups.join("").length < 7) return false;
  if (groups.length > 2) return true;
  const [first = ""] = groups;
  return !/^\d+\.\d+$/.test(found) && (first.length > 2 || first.startsWith("0") || found.startsWith("("));
}

/**
 * Masks phone numbers in a text except for their last four digits: numbers with a plus, digits in groups separated by spaces,
 * dashes, dots or brackets, and 7 to 15 digits in a row. Ids, dates, prices and IP addresses stay. In doubt digits are masked.
 */
export const maskText = (text: string): string =>
  text
    .replaceAll(GROUPED_NUMBERS, (found: string, ...rest) => {
      const { plus, grouped } = rest.at(-1) as Record<"plus" | "grouped", string | undefined>;
      if (plus !== undefined) return (found.startsWith("+") ? "+" : "") + maskDigits(found.replace(/^%2B/i, ""));
      return grouped !== undefined && isGroupedNumber(found) ? maskDigits(found) : found;
    })
    .replaceAll(UNGROUPED, (found: string, ...rest) => {
      const { id, price } = rest.at(-1) as Record<"id" | "price", string | undefined>;
      return id === undefined && price === undefined ? maskDigits(found) : found;
    });

const maskDigits = (found: string): string => maskNumber(found.replaceAll(/%2\d/g, "").replaceAll(/\D/g, ""));

/** Possible one-time passwords: one word of capitals and digits, or digits in two groups. */
const CODES = /\b(?:\d{3,4}[ -]\d{3,4}|[0-9A-Z]{4,10})\b/g;

export const maskCodes = (text: string): string => text.replaceAll(CODES, (found) => "*".repeat(found.length));

/** Masks one-time passwords in every text of a simulated phone's view. */
export function hideCodes(view: unknown): unknown {
  if (typeof view === "string") return maskCodes(view);
  if (typeof view !== "object" || view === null) return view;
  if (Array.isArray(view)) return view.map(hideCodes);
  return Object.fromEntries(Object.entries(view).map(([name, value]) => [name, hideCodes(value)]));
}

const MASKED = "***";

/** Masks secrets that would let a viewer act as another party: valid signatures and codes. */
function hideSecret(name: string, value: unknown, { type }: { type?: unknown }): unknown {
  if (name.toLowerCase() === "webhook-signature") return MASKED;
  if (name === "text" && type === "OTP" && typeof value === "string") return maskCodes(value);
  if (name === "testNumbers" && Array.isArray(value)) return value.map((each: object) => ({ ...each, code: MASKED }));
  return value;
}

/** Viewers see phone numbers masked. */
export const seesMasked = (caller: Caller | null): boolean => caller?.role === "viewer";

/**
 * Masks a response for a viewer: no whole phone number, valid signature or code. A cursor that contains a phone number is
 * encrypted; `openCursor` decrypts it.
 */
export function hideNumbers(value: unknown, encryption: Encryption | null): unknown {
  if (typeof value === "string") return maskText(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => hideNumbers(item, encryption));
  // Streams and raw bytes cannot be masked, so they are refused.
  if (Object.getPrototypeOf(value) !== Object.prototype)
    throw new TypeError("this type of response cannot be masked for viewers");
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      maskText(name),
      encryption && name === "nextCursor" && typeof field === "string"
        ? encryptedCursor(field, encryption)
        : hideNumbers(hideSecret(name, field, value), encryption),
    ]),
  );
}

const encryptedCursor = (cursor: string, encryption: Encryption): string =>
  maskText(cursor) === cursor ? cursor : encryption.encrypt(cursor);

/** Decrypts a cursor of `hideNumbers`. Any other cursor is returned unchanged, for the list to check. */
export function openCursor(cursor: string | undefined, encryption: Encryption): string | undefined {
  if (cursor?.startsWith("v1.") !== true) return cursor;
  try {
    return encryption.decrypt(cursor);
  } catch {
    // Not one of ours: the list reports the fault.
    return cursor;
  }
}
