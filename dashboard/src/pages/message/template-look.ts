import { get, type Page } from "../../api.ts";
import type { Message, PhoneMessage, Template } from "../../api-types.ts";
import { previewOf } from "../compose/preview.ts";
import { draftOf, kindFor } from "../templates/sendable.ts";

/** The look of a message by its stored template, with the message's own text. Null if the template is gone. */
export async function templateLook(message: Message): Promise<PhoneMessage | null> {
  const { channel, templateName, text, sender, recipient, messageId, createdAt } = message;
  const { data } = await get<Page<Template>>("/api/templates", { channel, q: templateName ?? "", limit: 200 });
  const template = data.find(({ name }) => name === templateName);
  if (!template) return null;
  const look = previewOf(kindFor(template), draftOf(template, []), template, createdAt);
  // The sample file of a draft is not the template's.
  const link = template.channel === "chatapp" ? (template.header?.link ?? null) : null;
  const header = look.header ? { ...look.header, link } : null;
  return { ...look, header, id: messageId, messageId, sender, to: recipient, ...(text === "" ? {} : { text }) };
}
