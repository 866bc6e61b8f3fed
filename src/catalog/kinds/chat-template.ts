import { CHAT_TEMPLATE_MAX, checkChatTemplate, type GivenChatTemplate } from "../../channels/chatapp/check-template.ts";
import { nullable } from "../../lib/nullable.ts";
import { Type, type Schema } from "../../lib/schema.ts";
import {
  CHAT_CATEGORIES,
  DEFAULT_LANGUAGE,
  HEADER_TEXT_MAX,
  HEADER_TYPES,
  isTemplateName,
} from "../../model/chatapp.ts";
import type { RecordKind } from "../record-kind.ts";
import { oneOf, status } from "./words.ts";

const header = Type.Object({
  type: oneOf(HEADER_TYPES, "What it shows; requests have to bring the same."),
  text: Type.Optional(
    nullable(
      Type.String({ minLength: 1, maxLength: HEADER_TEXT_MAX }),
      "An example of the text, with `{{1}}` for its variable if it has one. Required when type is text, and only then.",
    ),
  ),
  link: Type.Optional(
    nullable(
      Type.String({ maxLength: 2000 }),
      "An example of the file: an http:// or https:// address. For image, video and document; may be left out.",
    ),
  ),
});

const button = Type.Object({
  type: oneOf(["reply", "url", "call"], "What a tap does: answers with the text, opens a page, or calls a number."),
  text: Type.String({ minLength: 1, maxLength: CHAT_TEMPLATE_MAX.buttonText, description: "What it says." }),
  url: Type.Optional(
    Type.String({ maxLength: 2000, description: "An http:// or https:// address. Required when type is url." }),
  ),
  number: Type.Optional(Type.String({ description: "An international phone number. Required when type is call." })),
});

const fields: Readonly<Record<keyof GivenChatTemplate, Schema>> = {
  language: Type.String({
    pattern: "^[a-z]{2,3}(_[A-Z]{2})?$",
    description: `Its language as the platform writes it, like pt_BR; ${DEFAULT_LANGUAGE} unless given.`,
  }),
  category: oneOf(
    CHAT_CATEGORIES,
    "What it is for; utility unless given. Messages of marketing obey the opt-out list and go last, those of authentication go first.",
  ),
  status,
  header: nullable(
    header,
    "What stands above the body; null, which it is unless given, for nothing. What is shown comes with each request.",
  ),
  body: Type.String({
    minLength: 1,
    maxLength: CHAT_TEMPLATE_MAX.body,
    description: "The words, with `{{1}}`, `{{2}}` for the variables.",
  }),
  footer: nullable(
    Type.String({ minLength: 1, maxLength: CHAT_TEMPLATE_MAX.footer }),
    "A line under the body, without variables; null, which it is unless given, for none.",
  ),
  buttons: Type.Array(button, {
    maxItems: CHAT_TEMPLATE_MAX.buttons,
    description: "What can be tapped, at most two of type url and one of type call; none unless given.",
  }),
};

/** What chat-app requests name by `templateName`. */
export const chatTemplate: RecordKind<"chatTemplate", GivenChatTemplate> = {
  kind: "chatTemplate",
  channel: "chatapp",
  name: {
    meaning: "The `templateName` of requests.",
    max: 512,
    pattern: "^[a-z0-9_]+$",
    read: (written) => (isTemplateName(written) ? written : null),
    rule: "name has 1 to 512 lowercase letters of a to z, digits and underscores, as the chat app asks.",
  },
  fields,
  defaults: {
    language: DEFAULT_LANGUAGE,
    category: "utility",
    status: "approved",
    header: null,
    footer: null,
    buttons: [],
  },
  read: (given) => checkChatTemplate(given.fields, given.faults),
  // Whoever changes its words does not make it another platform's.
  complete: (content, before) =>
    before?.businessAccountId === undefined ? content : { ...content, businessAccountId: before.businessAccountId },
  show: (content) => {
    const { businessAccountId: _, ...shown } = content;
    return shown;
  },
};
