import { readChat, type ChatDraft } from "../../channels/chatapp/read.ts";
import { Type } from "../../lib/schema.ts";
import { prepareChat } from "../../messages/prepare-chat.ts";
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

const PATH = "/v1/chatapp";

/** `POST /v1/chatapp`: a template, or an answer to who has just written. Next: src/channels/chatapp/read.ts */
export const chatDoor: Door<ChatDraft> = {
  path: PATH,
  read: (_services, { body, caller }) => readChat(body, caller.account.settings),
  prepare: ({ preparing }, request) => prepareChat(preparing, request),
  echo: ({ recipients: [{ number }] }) => ({ recipients: [number] }),
};

const postChat = sendThrough(chatDoor);

const media = (kind: string, formats: string) =>
  Type.Optional(
    Type.Object(
      {
        link: Type.String({ maxLength: 2000, description: `An http:// or https:// address of a ${kind}: ${formats}.` }),
      },
      { description: `Required when type is ${kind}, and only then.` },
    ),
  );

const ChatRequest = Type.Object(
  {
    from: Type.String({
      description: "The business number, with country code and plus: `+<country code><number>`.",
    }),
    to: Type.String({ description: "The recipient: country code first, 7 to 15 digits, plus optional." }),
    type: Type.Union([Type.Literal("template"), Type.Literal("text")], {
      description: "`template`, or `text` for an answer within 24 hours of the recipient's own last message.",
    }),
    templateName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 512,
        pattern: "^[a-z0-9_]+$",
        description: "The template: lowercase letters, digits and underscores. Required when type is template.",
      }),
    ),
    components: Type.Optional(
      Type.Object(
        {
          body: Type.Object(
            {
              params: Type.Array(Type.String({ maxLength: 1024 }), {
                maxItems: 50,
                description: "One value per placeholder of the template, in order; empty if it has none. Never null.",
              }),
            },
            { description: "The template's body." },
          ),
          header: Type.Optional(
            Type.Object(
              {
                type: Type.Union(
                  [Type.Literal("text"), Type.Literal("image"), Type.Literal("video"), Type.Literal("document")],
                  { description: "What the header shows; the template has to have the same kind." },
                ),
                text: Type.Optional(
                  Type.String({
                    minLength: 1,
                    maxLength: 60,
                    description: "Required when type is text, and only then.",
                  }),
                ),
                image: media("image", "jpg, jpeg or png of at most 5 MB"),
                video: media("video", "mp4 or 3gp of at most 16 MB"),
                document: media("document", "pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB"),
              },
              { description: "The template's header; left out when it has none." },
            ),
          ),
        },
        { description: "Values and header; left out when the template has neither variables nor a header." },
      ),
    ),
    text: Type.Optional(
      Type.Object(
        { body: Type.String({ minLength: 1, maxLength: 4096, description: "The words." }) },
        { description: "Required when type is text, and only then." },
      ),
    ),
    campaignName: CampaignName,
  },
  { title: "ChatRequest" },
);

const example = { from: "+15550100199", to: "15550100100", type: "template" };

export const sendChat: SendRoute = {
  express: true,
  method: "POST",
  path: PATH,
  family: "send",
  scope: "chatapp",
  group: "Chat app",
  summary: "Send a chat-app message",
  description:
    "Accepts a template message for one recipient; its kind is the shape of `components`. The answer comes once the message is on disk. " +
    "A media link is looked at before the answer if that takes less than a second; what turns out unfit later fails the message before it is sent. " +
    SEND_DESCRIPTION,
  headers: SEND_HEADERS,
  problems: [
    ...SEND_PROBLEMS,
    "UNSUPPORTED_TYPE",
    "SESSION_CLOSED",
    "TEMPLATE_KIND_MISMATCH",
    "MEDIA_TYPE_UNSUPPORTED",
    "MEDIA_TOO_LARGE",
  ],
  body: ChatRequest,
  checkBody: false,
  requestExamples: {
    "no variables": { ...example, templateName: "store_opening" },
    variables: { ...example, templateName: "order_shipped", components: { body: { params: ["Ada", "4711"] } } },
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
