import Type from "typebox";
import { readTemplateText } from "../../channels/sms/template.ts";
import type { TemplateContent } from "../../model/catalog.ts";
import type { Fault } from "../../model/problem.ts";
import { nullable, recordRoutes } from "./records.ts";

type TemplateFields = Omit<TemplateContent, "variables">;

const TEXT_MAX = 1600;

/** Ids in the registers of operators are digits in India; others have letters too. */
export const registerId = (description: string) =>
  nullable(Type.String({ minLength: 1, maxLength: 50, pattern: "^[0-9A-Za-z_-]+$" }), description);

const text = Type.String({
  minLength: 1,
  maxLength: TEXT_MAX,
  description: "The text, with `{#var#}` for each variable in order, or `{{1}}`, `{{2}}` by number.",
});

/** The number of variables in a text; what is wrong with it goes to `faults`. */
function countVariables(written: string | null, faults: Fault[]): number {
  const fault = (message: string): number => {
    faults.push({ parameter: "text", message });
    return 0;
  };
  if (written === null) return fault("Give the text: so far only the number of its variables is known.");
  if (written.trim() === "" || written.length > TEXT_MAX)
    return fault(`The text has 1 to ${TEXT_MAX} characters, and not only spaces.`);
  if (!written.isWellFormed() || written.includes("\0"))
    return fault("The text holds half a character (a lone surrogate) or a NUL, which no phone can show.");
  const read = readTemplateText(written);
  return "fault" in read ? fault(read.fault) : read.variables;
}

/** Texts that requests name by `templateId`. */
export const templateRoutes = recordRoutes<"template", TemplateFields>({
  kind: "template",
  about:
    "Texts with variables. A request names one with `templateId` and gives the values in `custom`, or the finished text, which must then match.",
  name: { meaning: "The `templateId` of requests.", example: "order-shipped" },
  fields: {
    channel: Type.Literal("sms", { description: "sms, which it is unless given." }),
    text,
    dltContentId: registerId("The id under which the operators of India know the text."),
    dltEntityId: registerId("The id under which the operators of India know who sends it."),
  },
  defaults: { channel: "sms", dltContentId: null, dltEntityId: null },
  shown: {
    text: nullable(Type.String(), "The text with its variables; null while only their number is known."),
    variables: Type.Integer({ description: "How many values it takes." }),
  },
  contentExample: {
    channel: "sms",
    text: "Hello {#var#}, your order {#var#} is on its way.",
    variables: 2,
    dltContentId: "1107161234567890123",
    dltEntityId: "1101987654321098765",
  },
  createExamples: {
    "an order": { name: "order-shipped", text: "Hello {#var#}, your order {#var#} is on its way." },
    "registered in India": {
      name: "otp-login",
      text: "{#var#} is your code for {#var#}.",
      dltContentId: "1107161234567890123",
      dltEntityId: "1101987654321098765",
    },
  },
  changeExamples: { "another text": { text: "Dear {#var#}, order {#var#} is on its way." } },
  read: ({ fields, faults }) => {
    const { channel, text: written, dltContentId, dltEntityId } = fields;
    return { channel, text: written, variables: countVariables(written, faults), dltContentId, dltEntityId };
  },
});
