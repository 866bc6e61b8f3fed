import { chatTemplate } from "../../catalog/kinds/chat-template.ts";
import { rcsTemplate } from "../../catalog/kinds/rcs-template.ts";
import { smsTemplate } from "../../catalog/kinds/sms-template.ts";
import { templates } from "../../catalog/shelves.ts";
import { nullable } from "../../lib/nullable.ts";
import { Type } from "../../lib/schema.ts";
import type { Telling, ToldKind } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

const variables = Type.Integer({ description: "How many values it takes." });
const learnedWords = nullable(Type.String(), "The words with their variables; null while only their number is known.");

const sms: ToldKind<"template"> = {
  kind: smsTemplate,
  title: "SmsTemplate",
  shown: { text: learnedWords, variables },
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

const chat: ToldKind<"chatTemplate"> = {
  kind: chatTemplate,
  title: "ChatTemplate",
  shown: { body: learnedWords, variables },
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

const rcs: ToldKind<"rcsTemplate"> = {
  kind: rcsTemplate,
  title: "RcsTemplate",
  shown: { variables },
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

/** What requests name by `templateId` or `templateName`. */
export const templateTelling: Telling = {
  shelf: templates,
  about:
    "What requests name by `templateId` or `templateName`: texts with variables, chat-app messages and RCS cards. Each channel has names of its own.",
  kinds: [sms, chat, rcs],
  common: {
    name: Type.String({
      minLength: 1,
      maxLength: 512,
      description:
        "The `templateId` of SMS requests, or the `templateName` of others: at most 100 characters; on the chat app lowercase letters, digits and underscores, at most 512.",
    }),
    text: nullable(
      Type.String({ minLength: 1, maxLength: 3072 }),
      "On sms and rcs the words: with `{#var#}` for each variable on sms, or `{{1}}`, `{{2}}` on both. On rcs null where cards hold the words.",
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
  changeExamples: { "another text": { text: "Dear {#var#}, order {#var#} is on its way." } },
};

export const templateRoutes = recordRoutes(templateTelling);
