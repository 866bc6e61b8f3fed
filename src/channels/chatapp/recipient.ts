import { isPossiblePhoneNumber, parsePhoneNumberFromString, type CountryCode } from "libphonenumber-js/max";
import type { AccountSettings } from "../../model/account.ts";
import { readNumber } from "../../model/number.ts";

/** What an account has to say about how its recipients are written. */
export type Numbers = Pick<AccountSettings, "numbers" | "defaultRegion">;

export interface ChatRecipient {
  /** Digits without plus. */
  number: string;
  /** As it was written, where that was something else. */
  written: string | null;
}

const WRITTEN_SHOWN_MAX = 30;

/** Finds a recipient's number in what was written, as the account lets it be written; null when there is none. */
export function readRecipient(written: string, numbers: Numbers): ChatRecipient | null {
  const number = numberOf(written, numbers);
  if (number === null) return null;
  return { number, written: written.replaceAll(/\D/g, "") === number ? null : printable(written) };
}

function numberOf(written: string, { numbers, defaultRegion }: Numbers): string | null {
  const national = defaultRegion !== null && !written.trimStart().startsWith("+");
  const parsed = national ? parsePhoneNumberFromString(written, defaultRegion as CountryCode) : undefined;
  const number = parsed?.isPossible() ? parsed.number.slice(1) : readNumber(written);
  if (number === null || numbers === "lenient") return number;
  return isPossiblePhoneNumber(`+${number}`) ? number : null;
}

/** For the record, cut short and without what could break a page or a log. */
const printable = (written: string): string =>
  written
    .replaceAll(/\p{Cc}/gu, " ")
    .trim()
    .slice(0, WRITTEN_SHOWN_MAX)
    .toWellFormed();
