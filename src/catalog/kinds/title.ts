import { nullable } from "../../lib/nullable.ts";
import { isPlainText } from "../../lib/plain-text.ts";
import { Type, type Schema } from "../../lib/schema.ts";
import type { Fault } from "../../model/problem.ts";

const TITLE_MAX = 100;

/** What phones show of a sender whose name is for machines. */
export const title: Schema = nullable(
  Type.String({ minLength: 1, maxLength: TITLE_MAX }),
  "Who phones show it is from; null, which it is unless given, shows its name.",
);

/** The title as it was given; what is wrong with it goes to `faults`. */
export function readTitle(given: string | null, faults: Fault[]): string | null {
  if (given === null || (isPlainText(given) && given.trim() !== "" && given.length <= TITLE_MAX)) return given;
  const message = `title is plain text of 1 to ${TITLE_MAX} characters and not only spaces, or null.`;
  faults.push({ parameter: "title", message });
  return given;
}
