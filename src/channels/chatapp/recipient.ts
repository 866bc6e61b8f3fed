import { isSpeltOut, numberOf, printable, type Numbers } from "../written-number.ts";

export interface ChatRecipient {
  /** Digits without plus. */
  number: string;
  /** As it was written, where that was something else. */
  written: string | null;
}

/** Finds a recipient's number in what was written, as the account lets it be written; null when there is none. */
export function readRecipient(written: string, numbers: Numbers): ChatRecipient | null {
  const number = numberOf(written, numbers);
  if (number === null) return null;
  return { number, written: isSpeltOut(written, number) ? null : printable(written) };
}
