import type { Schema } from "../../lib/schema.ts";
import type { Operation, ParameterObject, PathItem } from "./document.ts";
import { publishSchema, type SharedSchemas } from "./publish-schema.ts";
import {
  ALERT_EXAMPLES,
  answerExamples,
  CLICK_EXAMPLES,
  EVENT_ID,
  REPORT_EVENT_EXAMPLES,
  SENT_EXAMPLES,
  smsReport,
  smsReportExamples,
  statusExamples,
  VERIFICATION_EXAMPLES,
} from "./webhook-examples.ts";
import {
  ChatMessageSent,
  messageStatusShape,
  SMS_REPORT_FIELDS,
  SmsDeliveryReport,
  SmsDeliveryReportEvent,
  SmsLinkClick,
  SystemAlertStatus,
  VerifyVerificationStatus,
  userMessageShape,
} from "./webhook-shapes.ts";

/** Tag of all callbacks. */
export const CALLBACKS = "Callbacks";

/** Describes the callbacks as `webhooks` of the document. */
export function describeWebhooks(schemas: SharedSchemas): Record<string, PathItem> {
  const report =
    "A text message was delivered, failed, or its outcome is unknown. Without headers in its configuration the report has the eight default fields; with headers, exactly the fields of their placeholders; with `fields`, exactly those.";
  const told = smsReport();
  const byGet = Object.entries(SMS_REPORT_FIELDS).map(([name, schema]) =>
    queryField(name, schema, told[name], schemas),
  );
  const post = (
    name: string,
    [summary, description]: readonly [string, string],
    schema: Schema,
    examples: Record<string, object>,
  ): PathItem => ({
    post: {
      ...webhook(`post${name}`, summary, description),
      requestBody: jsonBody(schema, examples, schemas),
    },
  });
  return {
    smsDeliveryReport: {
      ...post(
        "SmsDeliveryReport",
        ["SMS delivery report", `${report} The fields are sent as a JSON body.`],
        SmsDeliveryReport,
        smsReportExamples(),
      ),
      get: withParameters(
        webhook(
          "getSmsDeliveryReport",
          "SMS delivery report by GET",
          `${report} The fields are appended to the query of the URL. The signature covers the complete query as sent.`,
        ),
        byGet,
      ),
    },
    smsDeliveryReportEvent: post(
      "SmsDeliveryReportEvent",
      [
        "SMS delivery report as an event",
        "A text message was delivered, failed, or its outcome is unknown, as webhooks with the event `delivery_report` receive it.",
      ],
      SmsDeliveryReportEvent,
      REPORT_EVENT_EXAMPLES,
    ),
    smsUserMessage: post(
      "SmsUserMessage",
      ["SMS user message", "A user wrote to a sender."],
      userMessageShape("sms"),
      answerExamples("sms"),
    ),
    smsLinkClick: post(
      "SmsLinkClick",
      ["SMS link click", "A short link of a text message was clicked."],
      SmsLinkClick,
      CLICK_EXAMPLES,
    ),
    verifyVerificationStatus: post(
      "VerifyVerificationStatus",
      ["Verification status", "A one-time password was sent, or its verification ended."],
      VerifyVerificationStatus,
      VERIFICATION_EXAMPLES,
    ),
    systemAlertStatus: post(
      "SystemAlertStatus",
      ["Alert", "An alert opened or resolved."],
      SystemAlertStatus,
      ALERT_EXAMPLES,
    ),
    rcsMessageStatus: post(
      "RcsMessageStatus",
      ["RCS message status", "An RCS message was sent, delivered, read or failed."],
      messageStatusShape("rcs"),
      statusExamples("rcs"),
    ),
    rcsUserMessage: post(
      "RcsUserMessage",
      ["RCS user message", "A user wrote to the bot, tapped a button, sent a file or shared a location."],
      userMessageShape("rcs"),
      answerExamples("rcs"),
    ),
    chatMessageStatus: post(
      "ChatMessageStatus",
      ["Chat-app message status", "A chat-app message was sent, delivered, read or failed."],
      messageStatusShape("chatapp"),
      statusExamples("chatapp"),
    ),
    chatMessageSent: post(
      "ChatMessageSent",
      ["Chat-app message sent", "The platform accepted a chat-app template or session message."],
      ChatMessageSent,
      SENT_EXAMPLES,
    ),
    chatUserMessage: post(
      "ChatUserMessage",
      [
        "Chat-app user message",
        "A user wrote to the business number, tapped a button, sent a file or shared a location.",
      ],
      userMessageShape("chatapp"),
      answerExamples("chatapp"),
    ),
  };
}

const SIGNATURE: readonly ParameterObject[] = [
  signed("webhook-id", "Event ID; the same for every attempt, so that you can detect duplicates.", EVENT_ID),
  signed("webhook-timestamp", "Time of this attempt, in epoch seconds.", "1767225600"),
  signed(
    "webhook-signature",
    "`v1,` and the HMAC-SHA256 of `<id>.<timestamp>.<body>` in base64 (Standard Webhooks). Several, separated by spaces, while a secret is rotated.",
    "v1,cHVyZWx5IGFuIGV4YW1wbGUgb2YgYSBzaWduYXR1cmU=",
  ),
];

function signed(name: string, description: string, example: string): ParameterObject {
  return { name, in: "header", required: true, description, schema: { type: "string" }, example };
}

const webhook = (operationId: string, summary: string, description: string): Operation => ({
  operationId,
  tags: [CALLBACKS],
  summary,
  description,
  security: [],
  parameters: SIGNATURE,
  responses: {
    "2XX": {
      description:
        "Your response: any 2xx acknowledges the callback. The beginning of the body is stored in the callback log.",
    },
  },
});

const withParameters = (operation: Operation, parameters: readonly ParameterObject[]): Operation => ({
  ...operation,
  parameters: [...parameters, ...(operation.parameters ?? [])],
});

function jsonBody(
  schema: Schema,
  examples: Record<string, unknown>,
  schemas: SharedSchemas,
): NonNullable<Operation["requestBody"]> {
  const named = Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
  return {
    required: true,
    content: { "application/json": { schema: publishSchema(schema, schemas), examples: named } },
  };
}

function queryField(
  name: string,
  schema: Schema,
  example: string | undefined,
  schemas: SharedSchemas,
): ParameterObject {
  const { description = "", ...rest } = publishSchema(schema, schemas);
  return {
    name,
    in: "query",
    required: false,
    description,
    schema: rest,
    ...(example !== undefined && { example }),
  };
}
