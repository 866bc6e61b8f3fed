import { InboundDetailsView } from "../public/inbound-details.ts";
import { Type, type Fields, type ObjectSchema, type Schema } from "../../lib/schema.ts";
import { ALERT_KINDS, ALERT_STATES } from "../../model/alert.ts";
import { CUSTOMER_STATUSES, type SendChannel } from "../../model/message.ts";
import { VERIFICATION_STATES } from "../../model/verification.ts";

const text = (description: string): Schema => Type.String({ description });
const millis = Type.Integer({ description: "Epoch milliseconds." });

/** Fields of a delivery report. */
export const SMS_REPORT_FIELDS = {
  messageId: text("Message ID as in the send response."),
  mobileNumber: text("The recipient's number."),
  senderName: text("Sender ID of the message."),
  errCode: text("Error code of the carrier or of Heliograph; empty if there is none."),
  status: Type.Union(
    CUSTOMER_STATUSES.map((status) => Type.Literal(status)),
    { description: "Delivery status. Pending means that no receipt arrived within the message's validity." },
  ),
  createdAt: text("Time of submission: epoch milliseconds as a string."),
  deliveredDate: text("Time of delivery: YYYY-MM-DD HH:mm:ss in the account's time zone; empty if not delivered."),
  statusDescription: text("Status in words, or the reason of a failure."),
  messageCredit: text("Credits charged."),
  gatewayName: text("Carrier of the message."),
  operatorCircle: text("Operator and service circle of the recipient, if known; the carrier's data takes precedence."),
};

export const SmsDeliveryReport = Type.Partial(Type.Object(SMS_REPORT_FIELDS), { title: "SmsDeliveryReport" });

/** The account's side of an event, under the field names of each channel. */
const OUR_SIDE: Readonly<Record<SendChannel, Fields>> = {
  sms: { sender: text("Sender of the message, or recipient of the reply.") },
  rcs: { botId: text("Bot that sent or received the message.") },
  chatapp: {
    botId: text("Business number, so that one receiver can process RCS and chat-app events alike."),
    from: text("Business number that sent or received the message."),
  },
};

const NAMES: Readonly<Record<SendChannel, string>> = { sms: "Sms", rcs: "Rcs", chatapp: "Chat" };

function eventShape(channel: SendChannel, event: string, fields: Fields): ObjectSchema {
  const words = event.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return Type.Object(
    {
      ...OUR_SIDE[channel],
      channel: Type.Literal(channel, { description: "Channel of the event." }),
      event: Type.Literal(event, { description: "Event type." }),
      messageId: text("Message ID: `<id>:<n>`."),
      ...fields,
    },
    { title: NAMES[channel] + words.join("") },
  );
}

export const userMessageShape = (channel: SendChannel): ObjectSchema =>
  eventShape(channel, "user_message", {
    messageId: text("Message that it replies to; if unknown, an ID of the same form."),
    userPhoneNumber: text("Phone number of the user, with plus."),
    timestamp: millis,
    message: Content,
  });

export const messageStatusShape = (channel: SendChannel): ObjectSchema =>
  eventShape(channel, "message_status", {
    statuses: Type.Object(
      {
        eventId: text("ID of this status change: the `webhook-id`."),
        status: Type.Union(
          (["sent", "delivered", "read", "failed"] as const).map((status) => Type.Literal(status)),
          { description: "sent: submitted. delivered: on the device. read: opened. failed: not delivered." },
        ),
        timestamp: Type.Integer({ description: "Epoch seconds." }),
      },
      { description: "Status change." },
    ),
    deliveryChannel: Type.Optional(
      Type.Union([Type.Literal("sms"), Type.Literal("rcs"), Type.Literal("chatapp")], {
        description: "Present if the message was sent by another way instead: the channel of that way.",
      }),
    ),
  });

/** Only the chat app has this event. */
export const ChatMessageSent = eventShape("chatapp", "message_sent", {
  messageType: Type.Union([Type.Literal("template"), Type.Literal("session")], {
    description: "session: a free-text reply within the session window.",
  }),
  userPhoneNumber: text("Phone number of the recipient, with plus."),
  timestamp: millis,
});

/** Its usual title is that of the report in the form of a configuration. */
export const SmsDeliveryReportEvent: Schema = {
  ...eventShape("sms", "delivery_report", {
    ...SMS_REPORT_FIELDS,
    deliveryChannel: Type.Optional(text("Channel that delivered it, if it is not SMS.")),
    userPhoneNumber: text("Phone number of the recipient, with plus."),
    timestamp: millis,
  }),
  title: "SmsDeliveryReportEvent",
};

export const SmsLinkClick = eventShape("sms", "link_click", {
  link: Type.Object(
    { code: text("Code of the recipient's link."), url: text("Target URL.") },
    { description: "Link that was clicked." },
  ),
  agent: Type.Union(
    (["person", "preview", "bot"] as const).map((agent) => Type.Literal(agent)),
    { description: "Visitor: a person, a link preview, or another bot." },
  ),
  userPhoneNumber: text("Phone number of the link's recipient, with plus."),
  timestamp: millis,
});

export const VerifyVerificationStatus = Type.Object(
  {
    channel: Type.Literal("verify", { description: "Not a channel: a code may be sent on several." }),
    event: Type.Literal("verification_status", { description: "Event type." }),
    verifyId: text("Verification ID as in the response that started it."),
    configId: text("Name of the verification configuration."),
    status: Type.Union(
      VERIFICATION_STATES.map((state) => Type.Literal(state)),
      {
        description:
          "pending: a code was sent. verified: the code was entered. expired: it was not entered in time. exhausted: too many wrong codes. superseded: a newer code replaced it.",
      },
    ),
    attempts: Type.Integer({ description: "Number of attempts." }),
    test: Type.Boolean({ description: "True if sent to the simulator only." }),
    timestamp: millis,
    userPhoneNumber: text("Phone number, with plus."),
  },
  { title: "VerifyVerificationStatus" },
);

export const SystemAlertStatus = Type.Object(
  {
    channel: Type.Literal("system", { description: "Not a channel: about the service or the account." }),
    event: Type.Literal("alert_status", { description: "Event type." }),
    alertId: text("Alert ID, as in `GET /api/alerts`."),
    status: Type.Union(
      ALERT_STATES.map((state) => Type.Literal(state)),
      { description: "open: the fault began. resolved: it ended, or its rule was switched off." },
    ),
    alert: Type.Union(
      ALERT_KINDS.map((kind) => Type.Literal(kind)),
      { description: "The fault." },
    ),
    rule: text("Name of the rule."),
    subject: text("Carrier, endpoint ID, channel or message type; empty for the account or the service."),
    subjectName: text("Name of the subject."),
    value: Type.Integer({ description: "Value when the alert opened, in the unit of the threshold." }),
    threshold: Type.Integer({ description: "Threshold of the rule; 0 without one." }),
    description: text("The alert as a sentence."),
    timestamp: millis,
  },
  { title: "SystemAlertStatus" },
);

const FILE = {
  mimeType: text("Media type, such as image/jpeg."),
  fileSizeBytes: Type.Integer({ description: "Size in bytes." }),
  fileName: text("File name on the user's phone."),
  fileUri: text("URL of the file at the platform."),
};

const SuggestionResponse = Type.Object({
  plainText: text("Label of the button."),
  postBack: Type.Object(
    { data: text("Postback data of the button; the number for a call button.") },
    { description: "Data of the button." },
  ),
  type: Type.Union(
    (["REPLY", "ACTION", "DIALER"] as const).map((type) => Type.Literal(type)),
    { description: "REPLY: a reply button. ACTION: a link or another action. DIALER: a call button." },
  ),
});

const UserFile = Type.Object({
  category: text("Image, video, audio or another file."),
  payload: Type.Object(FILE, { description: "The file." }),
  thumbnail: Type.Union([Type.Object(FILE), Type.Null()], {
    description: "Thumbnail; null if there is none.",
  }),
});

const Content = Type.Object(
  {
    text: text("Text of the user; empty if the message has one of the following."),
    suggestionResponse: Type.Union([SuggestionResponse, Type.Null()], {
      description: "Button that was tapped; null if none.",
    }),
    userFile: Type.Union([UserFile, Type.Null()], {
      description: "File from the user; null if none.",
    }),
    media: Type.Optional(
      Type.Object(
        { id: Type.String({ format: "uuid", description: "Media ID." }) },
        {
          description:
            "Our copy of the user's file, for `GET /v1/media/{id}`; absent if there is none. It is fetched from the platform while this event is delivered, so its `state` may be `pending`.",
        },
      ),
    ),
    location: Type.Optional(
      Type.Object(
        {
          latitude: Type.Number({ description: "Latitude in degrees." }),
          longitude: Type.Number({ description: "Longitude in degrees." }),
        },
        { description: "Location shared by the user; otherwise absent." },
      ),
    ),
    details: Type.Optional(InboundDetailsView),
  },
  { description: "Content of the user's message." },
);
