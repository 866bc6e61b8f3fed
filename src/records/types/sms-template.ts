import { readTemplateText } from "../../channels/template.ts";
import { isShowable } from "../../lib/text.ts";
import { Type } from "../../lib/schema.ts";
import { defineRecord, plainName } from "../record-type.ts";
import { registerId } from "./shared-fields.ts";

const TEXT_MAX = 1600;
const LENGTH_RULE = `text must have 1 to ${TEXT_MAX} characters, not only spaces.`;

export const smsTemplate = defineRecord({
  kind: "template",
  channel: "sms",
  name: plainName("`templateId` of requests."),
  fields: {
    text: Type.String({
      minLength: 1,
      maxLength: TEXT_MAX,
      description: "Text, with `{#var#}` for each variable in order, or `{{1}}`, `{{2}}` by number.",
      error: { minLength: LENGTH_RULE, maxLength: LENGTH_RULE },
      check: textFault,
    }),
    dltContentId: Type.Default(registerId("DLT template ID registered with Indian operators."), null),
    dltEntityId: Type.Default(registerId("DLT entity ID registered with Indian operators."), null),
  },
  read: ({ fields: { text, dltContentId, dltEntityId }, faults }) => {
    if (text === null)
      faults.push({ parameter: "text", message: "text is required: so far only the number of variables is known." });
    const read = text === null ? null : readTemplateText(text);
    const variables = read && "variables" in read ? read.variables : 0;
    return { channel: "sms", text, variables, dltContentId, dltEntityId };
  },
});

function textFault(text: string): string | null {
  if (text.trim() === "" || text.length > TEXT_MAX) return LENGTH_RULE;
  if (!isShowable(text)) return "text must not contain a lone surrogate or a NUL character.";
  const read = readTemplateText(text);
  return "fault" in read ? read.fault : null;
}
