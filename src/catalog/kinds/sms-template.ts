import { readTemplateText } from "../../channels/template.ts";
import { isShowable } from "../../lib/plain-text.ts";
import { Type } from "../../lib/schema.ts";
import type { TemplateContent } from "../../model/catalog.ts";
import type { Fault } from "../../model/problem.ts";
import type { RecordKind } from "../record-kind.ts";
import { registerId } from "./register-id.ts";

const TEXT_MAX = 1600;

/** Texts that SMS requests name by `templateId`. */
export const smsTemplate: RecordKind<"template", Omit<TemplateContent, "channel" | "variables">> = {
  kind: "template",
  channel: "sms",
  name: { meaning: "The `templateId` of requests." },
  fields: {
    text: Type.String({
      minLength: 1,
      maxLength: TEXT_MAX,
      description: "The text, with `{#var#}` for each variable in order, or `{{1}}`, `{{2}}` by number.",
    }),
    dltContentId: registerId("The id under which the operators of India know the text."),
    dltEntityId: registerId("The id under which the operators of India know who sends it."),
  },
  defaults: { dltContentId: null, dltEntityId: null },
  read: ({ fields: { text, dltContentId, dltEntityId }, faults }) => ({
    channel: "sms",
    text,
    variables: countVariables(text, faults),
    dltContentId,
    dltEntityId,
  }),
};

/** The number of variables in a text; what is wrong with it goes to `faults`. */
function countVariables(text: string | null, faults: Fault[]): number {
  const fault = (message: string): number => {
    faults.push({ parameter: "text", message });
    return 0;
  };
  if (text === null) return fault("Give the text: so far only the number of its variables is known.");
  if (text.trim() === "" || text.length > TEXT_MAX)
    return fault(`The text has 1 to ${TEXT_MAX} characters, and not only spaces.`);
  if (!isShowable(text))
    return fault("The text holds half a character (a lone surrogate) or a NUL, which no phone can show.");
  const read = readTemplateText(text);
  return "fault" in read ? fault(read.fault) : read.variables;
}
