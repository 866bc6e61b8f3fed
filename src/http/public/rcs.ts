import { rcsBody } from "../../channels/rcs/body.ts";
import { readRcs, type RcsDraft } from "../../channels/rcs/read.ts";
import { prepareRcs } from "../../pipeline/accept/prepare-rcs.ts";
import { DEFAULT_SMS_LIMITS } from "../../model/message.ts";
import type { SendRoute } from "../route.ts";
import {
  SEND_DESCRIPTION,
  SEND_HEADERS,
  SEND_PROBLEMS,
  SendResponse,
  sendThrough,
  sentExample,
  type ChannelEndpoint,
} from "./send.ts";

const PATH = "/v1/rcs";

/** `POST /v1/rcs`: a stored template with values or other images. Next: src/channels/rcs/read.ts */
export const rcsEndpoint: ChannelEndpoint<RcsDraft> = {
  path: PATH,
  read: ({ smsRules, clock }, { body, caller }) =>
    readRcs(body, { recipientsMax: smsRules.recipientsMax, now: clock.now() }, caller.account.settings),
  prepare: ({ prepareDeps }, request) => prepareRcs(prepareDeps, request),
  echo: ({ recipients }) => ({
    recipients: recipients.map(({ number, failure }) => (failure === null ? `+${number}` : number)),
  }),
};

const postRcs = sendThrough(rcsEndpoint);

const example = { number: "+15550100100", botId: "heliograph", type: "TRANS" };

export const sendRcs: SendRoute = {
  fastPath: true,
  method: "POST",
  path: PATH,
  family: "send",
  scope: "rcs",
  testKeys: "rcs",
  group: "RCS",
  summary: "Send an RCS message",
  description:
    "Accepts a message for one or many recipients; its kind is the stored template's with the shape of `content`. The answer comes once the messages are on disk. " +
    SEND_DESCRIPTION,
  headers: SEND_HEADERS,
  problems: [
    ...SEND_PROBLEMS,
    "TOO_MANY_RECIPIENTS",
    "BOT_NOT_FOUND",
    "MEDIA_NOT_FOUND",
    "MEDIA_TYPE_UNSUPPORTED",
    "TEMPLATE_KIND_MISMATCH",
    "TEXT_TEMPLATE_MISMATCH",
  ],
  body: rcsBody(DEFAULT_SMS_LIMITS),
  bodyFor: rcsBody,
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
    "each recipient with values of its own": {
      botId: example.botId,
      type: "PROMO",
      templateName: "order-shipped",
      campaignName: "autumn",
      recipients: [
        { number: "+15550100100", content: [{ params: ["Ada", "4711"] }] },
        { number: "+15550100101", content: [{ params: ["Grace", "4712"] }] },
      ],
    },
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
