import { chatBody } from "../../channels/chatapp/body.ts";
import { readChat, type ChatDraft } from "../../channels/chatapp/read.ts";
import { prepareChat } from "../../pipeline/accept/prepare-chat.ts";
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

const PATH = "/v1/chatapp";

/** `POST /v1/chatapp`: a template, or a reply within the session window. Next: src/channels/chatapp/read.ts */
export const chatEndpoint: ChannelEndpoint<ChatDraft> = {
  path: PATH,
  read: ({ smsRules, clock }, { body, caller }) =>
    readChat(body, { recipientsMax: smsRules.recipientsMax, now: clock.now() }, caller.account.settings),
  prepare: ({ prepareDeps }, request) => prepareChat(prepareDeps, request),
  echo: ({ recipients }) => ({ recipients: recipients.map(({ number }) => number) }),
};

const postChat = sendThrough(chatEndpoint);

const example = { from: "+15550100199", to: "15550100100", type: "template" };

export const sendChat: SendRoute = {
  fastPath: true,
  method: "POST",
  path: PATH,
  family: "send",
  scope: "chatapp",
  testKeys: "chatapp",
  group: "Chat app",
  summary: "Send a chat-app message",
  description:
    "Accepts a template message for one or many recipients; its kind is the shape of `components`. Within 24 hours of the user's own message it also accepts messages without a template; their kind is `type`. The answer comes once the messages are on disk. " +
    "A media link is looked at before the answer if that takes less than a second; what turns out unfit later fails the message before it is sent. " +
    SEND_DESCRIPTION,
  headers: SEND_HEADERS,
  problems: [
    ...SEND_PROBLEMS,
    "TOO_MANY_RECIPIENTS",
    "UNSUPPORTED_TYPE",
    "SESSION_CLOSED",
    "TEMPLATE_KIND_MISMATCH",
    "MEDIA_NOT_FOUND",
    "MEDIA_TYPE_UNSUPPORTED",
    "MEDIA_TOO_LARGE",
  ],
  body: chatBody(DEFAULT_SMS_LIMITS),
  bodyFor: chatBody,
  checkBody: false,
  requestExamples: {
    "no variables": { ...example, templateName: "store_opening" },
    variables: { ...example, templateName: "order_shipped", components: { body: { params: ["Ada", "4711"] } } },
    "each recipient with values of its own": {
      from: example.from,
      type: example.type,
      templateName: "order_shipped",
      campaignName: "autumn",
      recipients: [
        { to: "15550100100", components: { body: { params: ["Ada", "4711"] } } },
        { to: "15550100101", components: { body: { params: ["Grace", "4712"] } } },
      ],
    },
    "text header": {
      ...example,
      templateName: "order_status",
      components: { header: { type: "text", text: "Order 4711" }, body: { params: ["Ada", "on its way"] } },
    },
    "image header": {
      ...example,
      templateName: "autumn_sale",
      campaignName: "autumn",
      components: {
        header: { type: "image", image: { link: "https://shop.example/autumn.jpg" } },
        body: { params: ["Ada", "20%"] },
      },
    },
    "video header": {
      ...example,
      templateName: "how_to_assemble",
      components: {
        header: { type: "video", video: { link: "https://shop.example/shelf.mp4" } },
        body: { params: ["Ada"] },
      },
    },
    "location header, in the recipient's language": {
      ...example,
      templateName: "parcel_arrived",
      language: "pt_BR",
      components: {
        header: {
          type: "location",
          location: { latitude: 51.4545, longitude: -2.5879, name: "The Shop", address: "Harbour Street 1" },
        },
        body: { params: ["Ada"] },
      },
    },
    "limited-time offer": {
      ...example,
      templateName: "autumn_offer",
      components: {
        header: { type: "image", image: { link: "https://shop.example/autumn.jpg" } },
        body: { params: ["Ada"] },
        offer: { expiresAt: "2099-10-31T18:00:00Z" },
        buttons: [
          { index: 0, code: "AUTUMN20" },
          { index: 1, text: "autumn" },
        ],
      },
    },
    carousel: {
      ...example,
      templateName: "new_coats",
      components: {
        body: { params: ["Ada"] },
        cards: ["wool", "rain"].map((coat) => ({
          header: { type: "image", image: { link: `https://shop.example/${coat}.jpg` } },
        })),
      },
    },
    "values of buttons": {
      ...example,
      templateName: "order_shipped",
      components: { body: { params: ["Ada", "4711"] }, buttons: [{ index: 1, payload: "later-4711" }] },
    },
    "reply buttons within a session": {
      from: example.from,
      to: example.to,
      type: "interactive",
      interactive: {
        type: "button",
        body: { text: "Shall we come tomorrow?" },
        action: {
          buttons: [
            { type: "reply", reply: { id: "yes-4711", title: "Yes, please" } },
            { type: "reply", reply: { id: "no-4711", title: "Another day" } },
          ],
        },
      },
    },
    "image within a session": {
      from: example.from,
      to: example.to,
      type: "image",
      image: { link: "https://shop.example/autumn.jpg", caption: "Is it this one?" },
    },
    "document header": {
      ...example,
      templateName: "invoice",
      components: {
        header: { type: "document", document: { link: "https://shop.example/invoice-4711.pdf" } },
        body: { params: ["Ada", "4711"] },
      },
    },
  },
  response: SendResponse,
  responseExample: sentExample(example.to),
  handle: postChat,
};
