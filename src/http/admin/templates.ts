import { chatTemplate } from "../../records/types/chat-template.ts";
import { rcsTemplate } from "../../records/types/rcs-template.ts";
import { smsTemplate } from "../../records/types/sms-template.ts";
import { templates } from "../../records/record-types.ts";
import { CARD, VERSION_FIELDS } from "../../records/types/chat-template-version.ts";
import { nullable, Type, withoutDefault } from "../../lib/schema.ts";
import type { RecordDocs, DocumentedType } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

const variables = Type.Integer({ description: "Number of variables." });
const learnedWords = nullable(Type.String(), "Text with its variables; null while only their number is known.");

const sms: DocumentedType<"template"> = {
  definition: smsTemplate,
  title: "SmsTemplate",
  responseFields: { text: learnedWords, variables },
  example: {
    name: "order-shipped",
    content: {
      channel: "sms",
      text: "Hello {#var#}, your order {#var#} is on its way.",
      variables: 2,
      dltContentId: "1107161234567890123",
      dltEntityId: "1101987654321098765",
    },
  },
};

const names = Type.Optional(
  Type.Array(Type.String(), { description: "Names of the variables in their order; absent if they have numbers." }),
);

const versionFields = {
  body: learnedWords,
  variables,
  names,
  cards: Type.Array(Type.Object({ ...CARD.properties, variables, names }), {
    description: "Cards of a carousel; empty if it is none.",
  }),
  platform: nullable(
    Type.Object({
      id: Type.Optional(Type.String({ description: "ID at the platform." })),
      status: Type.String({ description: "Status at the platform, such as APPROVED, PENDING or REJECTED." }),
      reason: nullable(Type.String(), "Why it was rejected, paused or disabled. Null if there is no reason."),
      quality: nullable(Type.String(), "Quality: GREEN, YELLOW or RED. Null while it is unknown."),
    }),
    "The platform's words about the template. Null while the platform does not have it.",
  ),
};

const chat: DocumentedType<"chatTemplate"> = {
  definition: chatTemplate,
  title: "ChatTemplate",
  responseFields: {
    ...versionFields,
    languages: Type.Array(
      Type.Object({
        language: Type.String({ description: "Language code at the platform." }),
        ...Object.fromEntries(Object.entries(VERSION_FIELDS).map(([name, field]) => [name, withoutDefault(field)])),
        ...versionFields,
      }),
      { description: "The same template in other languages." },
    ),
  },
  example: {
    name: "order_status",
    content: {
      language: "en",
      category: "utility",
      status: "approved",
      header: { type: "text", text: "Order {{1}}" },
      body: "Hello {{1}}, your order is {{2}}.",
      variables: 2,
      footer: "Reply STOP to hear no more",
      buttons: [{ type: "url", text: "Track", url: "https://shop.example/track" }],
    },
  },
};

const rcs: DocumentedType<"rcsTemplate"> = {
  definition: rcsTemplate,
  title: "RcsTemplate",
  responseFields: { variables },
  example: {
    name: "rate-us",
    content: {
      kind: "rich",
      text: "Hello {{1}}, how did we do?",
      variables: 1,
      suggestions: [
        { type: "reply", text: "Well", data: "well" },
        { type: "url", text: "Our shop", data: "Our shop", url: "https://shop.example/" },
      ],
      cards: [],
      status: "approved",
    },
  },
};

export const templateDocs: RecordDocs = {
  testKeysRead: true,
  type: templates,
  about:
    "Message templates that requests refer to by `templateId` or `templateName`: texts with variables, chat-app messages and RCS cards. Names are unique per channel.",
  definitions: [sms, chat, rcs],
  sharedFields: {
    name: Type.String({
      minLength: 1,
      maxLength: 512,
      description:
        "`templateId` of SMS requests, or `templateName` of other channels: at most 100 characters; on the chat app at most 512 lowercase letters, digits and underscores.",
    }),
    cards: Type.Array(Type.Record(Type.Unknown()), {
      description: "Cards: on rcs of the kinds card and carousel, on chatapp of a carousel. Their fields differ.",
    }),
    text: nullable(
      Type.String({ minLength: 1, maxLength: 3072 }),
      "Text on sms and rcs: with `{#var#}` per variable on sms, or `{{1}}`, `{{2}}` on both. Null on rcs if cards contain the text.",
    ),
  },
  createExamples: {
    sms: { name: "order-shipped", text: "Hello {#var#}, your order {#var#} is on its way." },
    "sms, registered in India": {
      name: "otp-login",
      text: "{#var#} is your code for {#var#}.",
      dltContentId: "1107161234567890123",
      dltEntityId: "1101987654321098765",
    },
    "chat app": {
      channel: "chatapp",
      name: "parcel_arrived",
      header: { type: "image", link: "https://shop.example/parcel.jpg" },
      body: "Hello {{1}}, your parcel is at {{2}}.",
      footer: "Open from 9 to 18",
      buttons: [{ type: "call", text: "Call us", number: "+15550100199" }],
    },
    "chat app, in two languages": {
      channel: "chatapp",
      name: "order_sent",
      language: "en",
      body: "Hello {{1}}, your order {{2}} has been shipped.",
      languages: [{ language: "pt_BR", body: "Olá {{1}}, o seu pedido {{2}} foi enviado." }],
    },
    "chat app, limited-time offer": {
      channel: "chatapp",
      name: "autumn_offer",
      category: "marketing",
      header: { type: "image" },
      offer: { text: "Ends soon" },
      body: "Hello {{1}}, a fifth off every coat.",
      buttons: [
        { type: "copyCode", text: "Copy offer code" },
        { type: "url", text: "Shop", url: "https://shop.example/{{1}}" },
      ],
    },
    "chat app, carousel": {
      channel: "chatapp",
      name: "new_coats",
      category: "marketing",
      body: "New coats for you, {{1}}.",
      cards: ["wool", "rain"].map((coat) => ({
        header: { type: "image" },
        body: `Our ${coat} coat.`,
        buttons: [{ type: "url", text: "Look", url: `https://shop.example/${coat}` }],
      })),
    },
    "rcs text": { channel: "rcs", name: "parcel-arrived", kind: "text", text: "Hello {{1}}, your parcel is here." },
    "rcs card": {
      channel: "rcs",
      name: "spring-sale",
      kind: "card",
      cards: [
        {
          title: "Spring sale",
          description: "Everything that blooms.",
          fileUrl: "https://shop.example/spring.jpg",
          suggestions: [{ type: "url", text: "Look", url: "https://shop.example/spring" }],
        },
      ],
    },
  },
  updateExamples: { "another text": { text: "Dear {#var#}, order {#var#} is on its way." } },
};

export const templateRoutes = recordRoutes(templateDocs);
