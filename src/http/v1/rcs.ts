import { readRcs, type RcsDraft } from "../../channels/rcs/read.ts";
import { Type } from "../../lib/schema.ts";
import { prepareRcs } from "../../messages/prepare-rcs.ts";
import type { SendRoute } from "../route.ts";
import {
  CampaignName,
  SEND_DESCRIPTION,
  SEND_HEADERS,
  SEND_PROBLEMS,
  SendResponse,
  sendThrough,
  sentExample,
  type Door,
} from "./send.ts";

const PATH = "/v1/rcs";

/** `POST /v1/rcs`: a stored template, filled in or with other images. Next: src/channels/rcs/read.ts */
export const rcsDoor: Door<RcsDraft> = {
  path: PATH,
  read: (_services, { body, caller }) => readRcs(body, caller.account.settings),
  prepare: ({ preparing }, request) => prepareRcs(preparing, request),
  echo: ({ recipients: [{ number }] }) => ({ recipients: [`+${number}`] }),
};

const postRcs = sendThrough(rcsDoor);

const Fallback = Type.Object(
  {
    type: Type.Literal("sms", { description: "sms." }),
    sender: Type.String({ minLength: 1, maxLength: 20, description: "Originator or alphanumeric sender id." }),
    text: Type.Optional(Type.String({ description: "The text, unless a template is filled in." })),
    templateId: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: "An SMS template." })),
    custom: Type.Optional(
      Type.Array(Type.Union([Type.String({ maxLength: 1600 }), Type.Number()]), {
        maxItems: 50,
        description: "One value per variable of that template.",
      }),
    ),
    afterSeconds: Type.Optional(
      Type.Integer({
        minimum: 10,
        maximum: 86_400,
        description: "How long to wait for a delivery, 60 unless given. A number that is not on RCS is not waited for.",
      }),
    ),
  },
  {
    description:
      "The text that is sent instead when the number is not on RCS or no delivery came in time: the same `messageId`, one charge, that of the dearer way.",
  },
);

const RcsRequest = Type.Object(
  {
    number: Type.Optional(
      Type.String({ description: "The recipient, internationally and with its plus. Required, here or as `from`." }),
    ),
    from: Type.Optional(
      Type.String({ description: "Another name of `number`; both must agree where both are given." }),
    ),
    templateName: Type.String({ minLength: 1, maxLength: 100, description: "The template to send." }),
    botId: Type.String({ minLength: 1, maxLength: 100, description: "The bot that sends." }),
    type: Type.Union([Type.Literal("TRANS"), Type.Literal("PROMO")], { description: "Route type." }),
    campaignName: CampaignName,
    content: Type.Optional(
      Type.Array(
        Type.Object({
          params: Type.Optional(
            Type.Array(Type.String({ maxLength: 3072 }), {
              maxItems: 50,
              description: "One value per placeholder of the text, in order; empty if it has none. Never null.",
            }),
          ),
          fileUrl: Type.Optional(
            Type.String({
              maxLength: 2000,
              description: "Public http:// or https:// address of a card's image or video.",
            }),
          ),
        }),
        {
          maxItems: 10,
          description:
            "One item with `params` for a text with variables, or one item with `fileUrl` per card; left out, the template is sent as it is.",
        },
      ),
    ),
    fallback: Type.Optional(Fallback),
  },
  { title: "RcsRequest" },
);

const example = { number: "+15550100100", botId: "heliograph", type: "TRANS" };

export const sendRcs: SendRoute = {
  express: true,
  method: "POST",
  path: PATH,
  family: "send",
  scope: "rcs",
  group: "RCS",
  summary: "Send an RCS message",
  description:
    "Accepts a message for one recipient; its kind is the stored template's with the shape of `content`. The answer comes once the message is on disk. " +
    SEND_DESCRIPTION,
  headers: SEND_HEADERS,
  problems: [...SEND_PROBLEMS, "BOT_NOT_FOUND", "TEMPLATE_KIND_MISMATCH", "TEXT_TEMPLATE_MISMATCH"],
  body: RcsRequest,
  checkBody: false,
  requestExamples: {
    "plain text": { ...example, templateName: "store-opening" },
    "rich text": { ...example, templateName: "rate-us" },
    variables: { ...example, templateName: "order-shipped", content: [{ params: ["Ada", "4711"] }] },
    "card as it is": { ...example, templateName: "autumn-sale", type: "PROMO", campaignName: "autumn" },
    "card with another image": {
      ...example,
      templateName: "autumn-sale",
      type: "PROMO",
      content: [{ fileUrl: "https://shop.example/coat.jpg" }],
    },
    "carousel with other images": {
      ...example,
      templateName: "new-arrivals",
      type: "PROMO",
      content: [{ fileUrl: "https://shop.example/coat.jpg" }, { fileUrl: "https://shop.example/boots.jpg" }],
    },
    "carousel as it is": { ...example, templateName: "new-arrivals", type: "PROMO" },
    "text message as fallback": {
      ...example,
      templateName: "order-shipped",
      content: [{ params: ["Ada", "4711"] }],
      fallback: { type: "sms", sender: "HELIOG", text: "Ada, your order 4711 is on its way.", afterSeconds: 120 },
    },
  },
  response: SendResponse,
  responseExample: sentExample(example.number),
  handle: postRcs,
};
