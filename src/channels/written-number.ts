import { isPossiblePhoneNumber, parsePhoneNumberFromString, type CountryCode } from "libphonenumber-js/max";
import type { AccountSettings } from "../model/account.ts";
import { readNumber } from "../model/number.ts";

/** What an account has to say about how its recipients are written. */
export type Numbers = Pick<AccountSettings, "numbers" | "defaultRegion">;

const SHOWN_MAX = 30;

/** The number in what was written, as the account lets it be written; null when there is none. */
export function numberOf(written: string, { numbers, defaultRegion }: Numbers): string | null {
  const national = defaultRegion !== null && !written.trimStart().startsWith("+");
  const parsed = national ? parsePhoneNumberFromString(written, defaultRegion as CountryCode) : undefined;
  const number = parsed?.isPossible() ? parsed.number.slice(1) : readNumber(written);
  if (number === null || numbers === "lenient") return number;
  return isPossiblePhoneNumber(`+${number}`) ? number : null;
}

/** Whether the number was written in full, whatever stands between its digits. */
export const isSpeltOut = (written: string, number: string): boolean =>
  written === number || written.replaceAll(/\D/g, "") === number;

/** What was written is kept for the record, cut short and without what could break a page or a log. */
export const printable = (written: string): string =>
  written
    .replaceAll(/\p{Cc}/gu, " ")
    .trim()
    .slice(0, SHOWN_MAX)
    .toWellFormed();
