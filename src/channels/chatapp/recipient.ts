import type { SoleRecipient } from "../draft.ts";
import { isSpeltOut, numberOf, printable, type Numbers } from "../written-number.ts";

/** Finds a recipient's number in what was written, as the account lets it be written; null when there is none. */
export function readRecipient(written: string, numbers: Numbers): SoleRecipient[0] | null {
  const number = numberOf(written, numbers);
  if (number === null) return null;
  return { number, written: isSpeltOut(written, number) ? null : printable(written), failure: null };
}
