import { webhook } from "../../catalog/kinds/webhook.ts";
import { webhooks } from "../../catalog/shelves.ts";
import { endpointRoutes, endpointShown } from "./endpoints.ts";
import type { Telling } from "./record-shapes.ts";

/** Where the events of a channel are told. */
export const webhookTelling: Telling = {
  shelf: webhooks,
  group: "Webhooks",
  about:
    "Addresses that are told what happens on a channel: what users send, how RCS and chat-app messages fare, who follows links in texts. The secrets are never shown again.",
  kinds: [
    {
      kind: webhook,
      title: "Webhook",
      shown: endpointShown,
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
    "everything on RCS": {
      channel: "rcs",
      name: "RCS events",
      url: "https://shop.example/rcs",
      events: ["user_message", "message_status"],
    },
    "what users write to the chat app": {
      channel: "chatapp",
      name: "Answers",
      method: "POST",
      url: "https://shop.example/chat",
      events: ["user_message"],
      secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    },
    "texts that come in, and clicks": {
      channel: "sms",
      name: "Texts",
      url: "https://shop.example/texts",
      events: ["user_message", "link_click"],
    },
    "who was verified": {
      channel: "verify",
      name: "Sign-ins",
      url: "https://shop.example/sign-ins",
      events: ["verification_status"],
    },
  },
  changeExamples: { "on again": { enabled: true }, "another address": { url: "https://shop.example/new" } },
};

export const webhookRoutes = endpointRoutes(webhookTelling);
