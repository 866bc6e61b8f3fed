import { nullable } from "../../lib/nullable.ts";
import { Type, type Schema } from "../../lib/schema.ts";
import type { NumberContent } from "../../model/catalog.ts";
import { readNumber } from "../../model/number.ts";
import type { Fault } from "../../model/problem.ts";
import { isWhatsappId } from "../../model/whatsapp-line.ts";
import type { RecordKind } from "../record-kind.ts";
import { readTitle, title } from "./title.ts";

/** A business number as requests have it once they are read: a plus and its digits; null when it is none. */
export function readBusinessNumber(written: string): string | null {
  const digits = written.includes("+") ? readNumber(written) : null;
  return digits === null ? null : `+${digits}`;
}

const ID_MAX = 64;

const phoneNumberId: Schema = nullable(
  Type.String({ minLength: 1, maxLength: ID_MAX }),
  "What the chat app's platform calls it, its phone_number_id; null, which it is unless given, takes the carrier's.",
);

/** Who sends on the chat app. */
export const number: RecordKind<"number", NumberContent> = {
  kind: "number",
  name: {
    meaning: "The `from` of requests, with its plus; spaces, dashes and brackets are dropped.",
    read: readBusinessNumber,
    rule: "name is a business number: a plus, the country code, 7 to 15 digits in all, like +15550100199.",
  },
  fields: { title, phoneNumberId },
  defaults: { title: null, phoneNumberId: null },
  read: ({ fields, faults }) => ({
    title: readTitle(fields.title, faults),
    phoneNumberId: readPhoneNumberId(fields.phoneNumberId ?? null, faults),
  }),
  show: ({ title: shown, phoneNumberId: id = null }) => ({ title: shown, phoneNumberId: id }),
};

function readPhoneNumberId(given: string | null, faults: Fault[]): string | null {
  if (given === null || isWhatsappId(given)) return given;
  const message = `phoneNumberId is what the platform calls the number, 1 to ${ID_MAX} digits, not the number itself; or null.`;
  faults.push({ parameter: "phoneNumberId", message });
  return given;
}
