import { isSupportedCountry } from "libphonenumber-js/max";
import { nullable, Type } from "../../lib/schema.ts";
import { isPlainText } from "../../lib/text.ts";
import { defineRecord } from "../record-type.ts";
import { isPrefix, oneOf } from "./shared-fields.ts";

const NAME_RULE =
  "name must be the first 1 to 15 digits of international numbers, without plus, such as 99890, or a two-letter country code in capitals, such as UZ.";
const NOTE_MAX = 200;

export const verifyRule = defineRecord({
  kind: "verifyRule",
  name: {
    schema: Type.String({
      minLength: 1,
      maxLength: 15,
      description:
        "Numbers that the rule is about: their first digits, without plus, or a two-letter country code in capitals.",
      check: (name) => (isPrefix(name) || isSupportedCountry(name) ? null : NAME_RULE),
    }),
  },
  fields: {
    action: oneOf(
      ["block", "allow"],
      "block: no codes are sent to the numbers (403 `RECIPIENT_BLOCKED`). allow: the protection against SMS pumping does not count codes to the numbers and never blocks them.",
    ),
    note: Type.Default(
      nullable(
        Type.String({
          maxLength: NOTE_MAX,
          check: (note) => (isPlainText(note) ? null : "note must be plain text."),
        }),
        "Reason, for your reference.",
      ),
      null,
    ),
  },
  read: ({ fields: { action, note } }) => ({ action, note }),
});
