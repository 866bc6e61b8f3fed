import { nullable, Type } from "../../lib/schema.ts";
import { readNumber } from "../../model/number.ts";
import { isWhatsappId } from "../../model/whatsapp-connection.ts";
import { defineRecord, NAME_MAX } from "../record-type.ts";
import { title } from "./shared-fields.ts";

/** Normalizes a business number to a plus and digits; null if invalid. */
export function readBusinessNumber(written: string): string | null {
  const digits = written.includes("+") ? readNumber(written) : null;
  return digits === null ? null : `+${digits}`;
}

const NAME_RULE =
  "name must be a business number: a plus, the country code, 7 to 15 digits in total, such as +15550100199.";
const ID_MAX = 64;
const ID_RULE = `phoneNumberId must be the platform's ID of the number, 1 to ${ID_MAX} digits, not the number itself; or null.`;

export const number = defineRecord({
  kind: "number",
  name: {
    schema: Type.String({
      minLength: 1,
      maxLength: NAME_MAX,
      description: "`from` of requests, with plus; spaces, dashes and brackets are removed.",
      check: (name) => (readBusinessNumber(name) === null ? NAME_RULE : null),
    }),
    normalize: readBusinessNumber,
  },
  fields: {
    title: Type.Default(title, null),
    phoneNumberId: Type.Default(
      nullable(
        Type.String({
          minLength: 1,
          maxLength: ID_MAX,
          error: ID_RULE,
          check: (id) => (isWhatsappId(id) ? null : ID_RULE),
        }),
        "phone_number_id of the number at the platform. Defaults to null, which uses the carrier's.",
      ),
      null,
    ),
  },
  read: ({ fields: { title: shown, phoneNumberId = null } }) => ({ title: shown, phoneNumberId }),
  show: ({ title: shown, phoneNumberId = null }) => ({ title: shown, phoneNumberId }),
});
