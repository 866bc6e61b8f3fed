import type { NumberContent } from "../../model/catalog.ts";
import { readNumber } from "../../model/number.ts";
import type { RecordKind } from "../record-kind.ts";
import { readTitle, title } from "./title.ts";

/** A business number as requests have it once they are read: a plus and its digits; null when it is none. */
export function readBusinessNumber(written: string): string | null {
  const digits = written.includes("+") ? readNumber(written) : null;
  return digits === null ? null : `+${digits}`;
}

/** Who sends on the chat app. */
export const number: RecordKind<"number", NumberContent> = {
  kind: "number",
  name: {
    meaning: "The `from` of requests, with its plus; spaces, dashes and brackets are dropped.",
    read: readBusinessNumber,
    rule: "name is a business number: a plus, the country code, 7 to 15 digits in all, like +15550100199.",
  },
  fields: { title },
  defaults: { title: null },
  read: ({ fields, faults }) => ({ title: readTitle(fields.title, faults) }),
};
