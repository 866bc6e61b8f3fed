import { webhook } from "../../records/types/webhook.ts";
import { webhooks } from "../../records/record-types.ts";
import { endpointRoutes, endpointView } from "./endpoints.ts";
import type { RecordDocs } from "./record-shapes.ts";

export const webhookDocs: RecordDocs = {
  type: webhooks,
  group: "Webhooks",
  about:
    "URLs that receive the events of a channel: inbound messages, status of RCS and chat-app messages, clicks on short links, verifications. Secrets are shown only once.",
  definitions: [
    {
      definition: webhook,
      title: "Webhook",
      responseFields: endpointView,
      example: {
        name: "RCS events",
        content: {
          channel: "rcs",
          method: "POST",
          url: "https://shop.example/rcs",
          events: ["user_message", "message_status"],
          enabled: true,
          disabledReason: null,
          secrets: [],
        },
      },
    },
  ],
  createExamples: {
    "all RCS events": {
      channel: "rcs",
      name: "RCS events",
      url: "https://shop.example/rcs",
      events: ["user_message", "message_status"],
    },
    "chat-app replies": {
      channel: "chatapp",
      name: "Answers",
      method: "POST",
      url: "https://shop.example/chat",
      events: ["user_message"],
      secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    },
    "inbound SMS and clicks": {
      channel: "sms",
      name: "Texts",
      url: "https://shop.example/texts",
      events: ["user_message", "link_click"],
    },
    verifications: {
      channel: "verify",
      name: "Sign-ins",
      url: "https://shop.example/sign-ins",
      events: ["verification_status"],
    },
  },
  updateExamples: { enable: { enabled: true }, "new URL": { url: "https://shop.example/new" } },
};

export const webhookRoutes = endpointRoutes(webhookDocs);
