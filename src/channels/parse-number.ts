import { isPossiblePhoneNumber, parsePhoneNumberFromString, type CountryCode } from "libphonenumber-js/max";
import type { AccountSettings } from "../model/account.ts";
import { readNumber } from "../model/number.ts";
import type { SoleRecipient } from "./draft.ts";

/** The account settings for parsing phone numbers. */
export type NumberSettings = Pick<AccountSettings, "numbers" | "defaultRegion">;

const SHOWN_MAX = 30;

/** Parses a phone number by the account's settings; null when it is malformed. */
export function numberOf(written: string, { numbers, defaultRegion }: NumberSettings): string | null {
  const national = defaultRegion !== null && !written.trimStart().startsWith("+");
  const parsed = national ? parsePhoneNumberFromString(written, defaultRegion as CountryCode) : undefined;
  const number = parsed?.isPossible() ? parsed.number.slice(1) : readNumber(written);
  if (number === null || numbers === "lenient") return number;
  return isPossiblePhoneNumber(`+${number}`) ? number : null;
}

/** True when the text has all digits of the international number, whatever separates them. */
export const isInternational = (written: string, number: string): boolean =>
  written === number || written.replaceAll(/\D/g, "") === number;

/** The number as written, for display: shortened, and without characters that could break a page or a log. */
export const printable = (written: string): string =>
  written
    .replaceAll(/\p{Cc}/gu, " ")
    .trim()
    .slice(0, SHOWN_MAX)
    .toWellFormed();

/** Parses the recipient's number by the account's settings; null when it is malformed. */
export function readRecipient(written: string, numbers: NumberSettings): SoleRecipient[0] | null {
  const number = numberOf(written, numbers);
  if (number === null) return null;
  return { number, written: isInternational(written, number) ? null : printable(written), failure: null };
}
