import Type, { type TSchema } from "typebox";
import { CUSTOMER_STATUSES } from "../../model/message.ts";
import type { Operation, ParameterObject, PathItem } from "./document.ts";
import { publishSchema, type SharedSchemas } from "./publish-schema.ts";

const PLANNED =
  "Planned: this release does not push callbacks yet. Until it does, ask `GET /v1/messages` what became of your messages.";

const field = (description: string) => Type.String({ description });

const SMS_REPORT_FIELDS = {
  messageId: field("The message, as in the send response."),
  mobileNumber: field("The recipient's number."),
  senderName: field("The sender id that was used."),
  errCode: field("The code of the gateway or operator, if there is one."),
  status: Type.Union(
    CUSTOMER_STATUSES.map((status) => Type.Literal(status)),
    { description: "The delivery status now." },
  ),
  createdAt: field("When it was submitted: epoch milliseconds, as a string."),
  deliveredDate: field("When it was delivered: date and time for people."),
  statusDescription: field("The status in words, or the reason of a failure."),
  messageCredit: field("SMS credits it took."),
  gatewayName: field("The gateway it went through."),
  operatorCircle: field("The recipient's operator and service circle."),
};

const SmsDeliveryReport = Type.Partial(Type.Object(SMS_REPORT_FIELDS), { title: "SmsDeliveryReport" });

const SMS_REPORT = {
  messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1",
  mobileNumber: "15550100100",
  senderName: "HELIOG",
  errCode: "000",
  status: "Delivered",
  createdAt: "1767225600000",
  deliveredDate: "2026-01-01 00:00:00",
  statusDescription: "Delivered to the phone",
};

const rcsEvent = <T extends string>(event: T) => ({
  botId: field("The bot that sent or received it."),
  channel: Type.Literal("rcs", { description: "The channel it is about." }),
  event: Type.Literal(event, { description: "What happened." }),
  messageId: field("The message: `<id>:<n>`."),
});

const RcsMessageStatus = Type.Object(
  {
    ...rcsEvent("message_status"),
    statuses: Type.Object(
      {
        eventId: field("Names this change of status."),
        status: Type.Union(
          (["sent", "delivered", "read", "failed"] as const).map((status) => Type.Literal(status)),
          { description: "sent: on its way. delivered: on the device. read: opened. failed: not delivered." },
        ),
        timestamp: Type.Integer({ description: "Epoch seconds." }),
      },
      { description: "The change of status." },
    ),
  },
  { title: "RcsMessageStatus" },
);

const FILE = {
  mimeType: field("Like image/jpeg."),
  fileSizeBytes: Type.Integer({ description: "Its size." }),
  fileName: field("As the user's phone named it."),
  fileUri: field("Where it can be fetched."),
};

const RcsUserMessage = Type.Object(
  {
    ...rcsEvent("user_message"),
    userPhoneNumber: field("Who wrote, with plus."),
    timestamp: Type.Integer({ description: "Epoch milliseconds." }),
    message: Type.Object(
      {
        text: field("What the user wrote; empty when a button was tapped."),
        suggestionResponse: Type.Union(
          [
            Type.Object({
              plainText: field("The label of the button."),
              postBack: Type.Object(
                { data: field("The button's payload; the number for a call button.") },
                { description: "What the button carries." },
              ),
              type: Type.Union(
                (["REPLY", "ACTION", "DIALER"] as const).map((type) => Type.Literal(type)),
                { description: "REPLY: a reply button. ACTION: a link. DIALER: a call button." },
              ),
            }),
            Type.Null(),
          ],
          { description: "The button that was tapped; null for plain text." },
        ),
        userFile: Type.Union(
          [
            Type.Object({
              category: field("Image, video, audio or another file."),
              payload: Type.Object(FILE, { description: "The file itself." }),
              thumbnail: Type.Union([Type.Object(FILE), Type.Null()], {
                description: "A small picture of it; null when there is none.",
              }),
            }),
            Type.Null(),
          ],
          { description: "A file that the user sent; null when there is none." },
        ),
      },
      { description: "What the user wrote, tapped or sent." },
    ),
  },
  { title: "RcsUserMessage" },
);

const RCS_MESSAGE = { botId: "heliograph-bot", channel: "rcs", messageId: SMS_REPORT.messageId };
const USER_MESSAGE = {
  ...RCS_MESSAGE,
  event: "user_message",
  userPhoneNumber: "+15550100100",
  timestamp: 1767225600000,
};
const tapped = (type: string, plainText: string, data: string) => ({
  ...USER_MESSAGE,
  message: { text: "", suggestionResponse: { plainText, postBack: { data }, type }, userFile: null },
});

const RCS_STATUS_EXAMPLES = {
  delivered: {
    ...RCS_MESSAGE,
    event: "message_status",
    statuses: { eventId: "0198f3a2-7c60-7a1e-8a51-3f0c8e2b6d47", status: "delivered", timestamp: 1767225600 },
  },
};

const USER_MESSAGE_EXAMPLES = {
  text: { ...USER_MESSAGE, message: { text: "Thank you", suggestionResponse: null, userFile: null } },
  "reply button": tapped("REPLY", "Yes, please", "confirm-4711"),
  link: tapped("ACTION", "Track the parcel", "track-4711"),
  "call button": tapped("DIALER", "Call us", "+15550100199"),
  file: {
    ...USER_MESSAGE,
    message: {
      text: "",
      suggestionResponse: null,
      userFile: {
        category: "image",
        payload: {
          mimeType: "image/jpeg",
          fileSizeBytes: 48213,
          fileName: "door.jpg",
          fileUri: "https://files.example/door.jpg",
        },
        thumbnail: null,
      },
    },
  },
};

/** The calls that the service will make to its customers, as the document's `webhooks`. */
export function describeWebhooks(schemas: SharedSchemas): Record<string, PathItem> {
  const report = "A message came to a new status. Only the fields that the callback is set up with are sent.";
  return {
    smsDeliveryReport: {
      post: {
        ...webhook("postSmsDeliveryReport", "SMS delivery report", `${report} They come as a JSON body.`),
        requestBody: jsonBody(SmsDeliveryReport, { delivered: SMS_REPORT }, schemas),
      },
      get: {
        ...webhook("getSmsDeliveryReport", "SMS delivery report by GET", `${report} They come in the query.`),
        parameters: Object.entries(SMS_REPORT_FIELDS).map(([name, schema]) => queryField(name, schema, schemas)),
      },
    },
    rcsMessageStatus: {
      post: {
        ...webhook("postRcsMessageStatus", "RCS message status", "An RCS message was sent, delivered, read or failed."),
        requestBody: jsonBody(RcsMessageStatus, RCS_STATUS_EXAMPLES, schemas),
      },
    },
    rcsUserMessage: {
      post: {
        ...webhook(
          "postRcsUserMessage",
          "RCS user message",
          "A user wrote to the bot, tapped a button or sent a file.",
        ),
        requestBody: jsonBody(RcsUserMessage, USER_MESSAGE_EXAMPLES, schemas),
      },
    },
  };
}

const webhook = (operationId: string, summary: string, description: string): Operation => ({
  operationId,
  tags: ["Callbacks"],
  summary,
  description: `${description} ${PLANNED}`,
  security: [],
  responses: { "2XX": { description: "Your answer: any 2xx means that you have it. The body is not read." } },
  "x-status": "planned",
});

function jsonBody(
  schema: TSchema,
  examples: Record<string, unknown>,
  schemas: SharedSchemas,
): NonNullable<Operation["requestBody"]> {
  const named = Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
  return {
    required: true,
    content: { "application/json": { schema: publishSchema(schema, schemas), examples: named } },
  };
}

function queryField(name: string, schema: TSchema, schemas: SharedSchemas): ParameterObject {
  const { description = "", ...rest } = publishSchema(schema, schemas);
  const example = (SMS_REPORT as Partial<Record<string, string>>)[name];
  return {
    name,
    in: "query",
    required: false,
    description,
    schema: rest,
    ...(example !== undefined && { example }),
  };
}
