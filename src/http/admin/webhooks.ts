import { webhook } from "../../records/types/webhook.ts";
import { oneOf } from "../../records/types/shared-fields.ts";
import { Type } from "../../lib/schema.ts";
import { WEBHOOK_CHANNELS } from "../../model/callback.ts";
import { webhooks } from "../../records/record-types.ts";
import { endpointRoutes, endpointView } from "./endpoints.ts";
import type { RecordDocs } from "./record-shapes.ts";

export const webhookDocs: RecordDocs = {
  type: webhooks,
  group: "Webhooks",
  about:
    "URLs that receive the events of a channel: inbound messages, status of RCS and chat-app messages, clicks on short links, delivery reports of text messages, verifications. One webhook may follow several channels. Secrets are shown only once.",
  definitions: [
    {
      definition: webhook,
      title: "Webhook",
      responseFields: {
        channel: oneOf(WEBHOOK_CHANNELS, "The first of its channels."),
        channels: Type.Array(
          oneOf(WEBHOOK_CHANNELS, "Channel of the events; verify for one-time passwords, system for alerts."),
          {
            description: "Channels of the events.",
          },
        ),
        ...endpointView,
      },
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
    "all channels, with a header": {
      name: "Everything",
      url: "https://shop.example/events",
      channels: ["sms", "rcs", "chatapp", "verify"],
      events: ["delivery_report", "message_status", "user_message", "link_click", "verification_status"],
      constantHeaders: [{ name: "Authorization", value: "Bearer 3f9a17c2" }],
    },
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
    alerts: {
      channel: "system",
      name: "Alerts",
      url: "https://ops.example/alerts",
      events: ["alert_status"],
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
