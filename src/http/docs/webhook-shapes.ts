import { Type, type Fields, type ObjectSchema, type Schema } from "../../lib/schema.ts";
import { CUSTOMER_STATUSES, type Channel } from "../../model/message.ts";
import { VERIFICATION_STATES } from "../../model/verification.ts";

const text = (description: string): Schema => Type.String({ description });
const millis = Type.Integer({ description: "Epoch milliseconds." });

/** What a delivery report can have. */
export const SMS_REPORT_FIELDS = {
  messageId: text("The message, as in the send response."),
  mobileNumber: text("The recipient's number."),
  senderName: text("The sender id that was used."),
  errCode: text("The code of the carrier, or one of Heliograph's own; empty when there is none."),
  status: Type.Union(
    CUSTOMER_STATUSES.map((status) => Type.Literal(status)),
    { description: "The delivery status. Pending means that no report came while the message was valid." },
  ),
  createdAt: text("When it was submitted: epoch milliseconds, as a string."),
  deliveredDate: text("When it was delivered: YYYY-MM-DD HH:mm:ss in the account's zone; empty when it was not."),
  statusDescription: text("The status in words, or the reason of a failure."),
  messageCredit: text("Credits that it took."),
  gatewayName: text("The carrier that it went through."),
  operatorCircle: text(
    "The recipient's operator and service circle, as far as they are known: the carrier's word comes first.",
  ),
};

export const SmsDeliveryReport = Type.Partial(Type.Object(SMS_REPORT_FIELDS), { title: "SmsDeliveryReport" });

/** Who of the account an event is about, by the names that each channel has. */
const OUR_SIDE: Readonly<Record<Channel, Fields>> = {
  sms: { sender: text("The sender that it was sent to, or sent by.") },
  rcs: { botId: text("The bot that sent or received it.") },
  chatapp: {
    botId: text("The business number, so that one receiver can read RCS and chat-app events alike."),
    from: text("The business number that sent or received it."),
  },
};

const NAMES: Readonly<Record<Channel, string>> = { sms: "Sms", rcs: "Rcs", chatapp: "Chat" };

function eventShape(channel: Channel, event: string, fields: Fields): ObjectSchema {
  const words = event.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return Type.Object(
    {
      ...OUR_SIDE[channel],
      channel: Type.Literal(channel, { description: "The channel it is about." }),
      event: Type.Literal(event, { description: "What happened." }),
      messageId: text("The message: `<id>:<n>`."),
      ...fields,
    },
    { title: NAMES[channel] + words.join("") },
  );
}

/** What users write, tap and send. */
export const userMessageShape = (channel: Channel): ObjectSchema =>
  eventShape(channel, "user_message", {
    messageId: text("The message that it answers; where none is known, an id of the same form."),
    userPhoneNumber: text("Who wrote, with plus."),
    timestamp: millis,
    message: Content,
  });

/** How a message fares. */
export const messageStatusShape = (channel: Channel): ObjectSchema =>
  eventShape(channel, "message_status", {
    statuses: Type.Object(
      {
        eventId: text("Names this change of status: the `webhook-id`."),
        status: Type.Union(
          (["sent", "delivered", "read", "failed"] as const).map((status) => Type.Literal(status)),
          { description: "sent: on its way. delivered: on the device. read: opened. failed: not delivered." },
        ),
        timestamp: Type.Integer({ description: "Epoch seconds." }),
      },
      { description: "The change of status." },
    ),
  });

/** That a message went out, told by itself on the chat app. */
export const ChatMessageSent = eventShape("chatapp", "message_sent", {
  messageType: Type.Union([Type.Literal("template"), Type.Literal("session")], {
    description: "session: in the business's own words, as an answer.",
  }),
  userPhoneNumber: text("Who it went to, with plus."),
  timestamp: millis,
});

/** That somebody followed a short link. */
export const SmsLinkClick = eventShape("sms", "link_click", {
  link: Type.Object(
    { code: text("The recipient's own code."), url: text("Where it led.") },
    { description: "The link that was followed." },
  ),
  agent: Type.Union(
    (["person", "preview", "bot"] as const).map((agent) => Type.Literal(agent)),
    { description: "Who followed it: a person, a program that shows what is behind a link, or another program." },
  ),
  userPhoneNumber: text("Whose link it was, with plus."),
  timestamp: millis,
});

/** That a verification was begun, or has come to its end. */
export const VerifyVerificationStatus = Type.Object(
  {
    channel: Type.Literal("verify", { description: "Not one channel: a code may go by several." }),
    event: Type.Literal("verification_status", { description: "What happened." }),
    verifyId: text("The verification, as in the answer that began it."),
    configId: text("The name of its configuration."),
    status: Type.Union(
      VERIFICATION_STATES.map((state) => Type.Literal(state)),
      {
        description:
          "pending: a code is on its way. verified: it was typed in. expired: it was not, in time. exhausted: wrong ones were, too often. superseded: a newer code took its place.",
      },
    ),
    attempts: Type.Integer({ description: "How often a code was tried." }),
    test: Type.Boolean({ description: "Whether it was for the simulator only." }),
    timestamp: millis,
    userPhoneNumber: text("Whose number it is, with plus."),
  },
  { title: "VerifyVerificationStatus" },
);

const FILE = {
  mimeType: text("Like image/jpeg."),
  fileSizeBytes: Type.Integer({ description: "Its size." }),
  fileName: text("As the user's phone named it."),
  fileUri: text("Where the platform keeps it."),
};

const SuggestionResponse = Type.Object({
  plainText: text("The label of the button."),
  postBack: Type.Object(
    { data: text("The button's payload; the number for a call button.") },
    { description: "What the button carries." },
  ),
  type: Type.Union(
    (["REPLY", "ACTION", "DIALER"] as const).map((type) => Type.Literal(type)),
    { description: "REPLY: a reply button. ACTION: a link or another action. DIALER: a call button." },
  ),
});

const UserFile = Type.Object({
  category: text("Image, video, audio or another file."),
  payload: Type.Object(FILE, { description: "The file itself." }),
  thumbnail: Type.Union([Type.Object(FILE), Type.Null()], {
    description: "A small picture of it; null when there is none.",
  }),
});

const Content = Type.Object(
  {
    text: text("What the user wrote; empty when it is one of the following."),
    suggestionResponse: Type.Union([SuggestionResponse, Type.Null()], {
      description: "The button that was tapped; null when none was.",
    }),
    userFile: Type.Union([UserFile, Type.Null()], {
      description: "A file that the user sent; null when there is none.",
    }),
    location: Type.Optional(
      Type.Object(
        {
          latitude: Type.Number({ description: "Degrees north." }),
          longitude: Type.Number({ description: "Degrees east." }),
        },
        { description: "A place that the user shared; there only then." },
      ),
    ),
  },
  { description: "What the user wrote, tapped or sent." },
);
