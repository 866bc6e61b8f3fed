import { Type } from "../../lib/schema.ts";
import { isShowable } from "../../lib/text.ts";
import { defineRecord, plainName } from "../record-type.ts";

const TEXT_MAX = 1600;

export const cannedReply = defineRecord({
  kind: "cannedReply",
  name: plainName("Name for your reference, as the inbox lists it."),
  fields: {
    text: Type.String({
      minLength: 1,
      maxLength: TEXT_MAX,
      description: "Text that the inbox inserts into a reply.",
      check: (text) =>
        text.trim() !== "" && isShowable(text) ? null : `text has 1 to ${TEXT_MAX} characters, not only spaces.`,
    }),
  },
  read: ({ fields: { text } }) => ({ text }),
});
