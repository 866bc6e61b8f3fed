import { findOnPhone } from "../../carriers/simulator/find.ts";
import { tappables, tapped, type Tap } from "../../carriers/simulator/tap.ts";
import { isWebAddress } from "../../channels/rcs/fixed-text.ts";
import { isPlainText, isShowable } from "../../lib/text.ts";
import { PATTERN_RULE, Type, type Schema } from "../../lib/schema.ts";
import type { InboundContent, InboundDetails, UserFile } from "../../model/inbound.ts";
import { SEND_CHANNELS, parseMessageId, type Channel } from "../../model/message.ts";
import type { PhoneMessage } from "../../model/phone.ts";
import { Problem, refuseFaults } from "../../model/problem.ts";
import { phoneParameter } from "../parameters.ts";
import { keyedRoute, type AuthenticCall, type Services, type WithBody } from "../route.ts";
import { inboundExample, inboundView, InboundView } from "../public/inbound.ts";
import { conversationFaults, conversationOf, phoneOf, type Conversation } from "./simulator-conversation.ts";
import { phoneMessageExample } from "./simulator-message.ts";

const TEXT_MAX = 4096;
const SENDER_MAX = 100;
const LABEL_MAX = 2000;

/** Channels with more than text. */
const RICH = ["rcs", "chatapp"] as const satisfies readonly Channel[];

async function send(
  { simulator }: Services,
  call: AuthenticCall,
  { test, ...conversation }: Conversation,
  content: InboundContent,
  details?: InboundDetails,
): Promise<object> {
  const { accountId, number: from } = phoneOf(call);
  const sent = {
    accountId,
    from,
    ...conversation,
    content,
    ...(details && { details }),
    ...(test && { test: true as const }),
  };
  return inboundView(await simulator.reply(sent));
}

async function postReply(services: Services, call: WithBody<AuthenticCall, typeof ReplyBody>): Promise<object> {
  const { text, ...addressed } = call.body;
  return send(services, call, await conversationOf(services, call, addressed, SEND_CHANNELS), { kind: "text", text });
}

async function postTap(services: Services, call: WithBody<AuthenticCall, typeof TapBody>): Promise<object> {
  const { messageId, ...tap } = call.body;
  const message = await findOnPhone(
    services.store,
    phoneOf(call),
    (each) => (messageId === undefined || each.messageId === messageId) && tappables(each.content).length > 0,
  );
  if (!message)
    throw new Problem("MESSAGE_NOT_FOUND", {
      message:
        messageId === undefined
          ? "No message on this phone has buttons or suggestions."
          : "This phone has no such message with buttons or suggestions.",
    });
  const { channel, sender: to, messageId: answered, test } = message;
  const { sent, details } = chosen(message, tap);
  return send(services, call, { channel, to, answers: parseMessageId(answered), test }, sent, details);
}

/** Finds the tapped button or suggestion. If none or several match, the error lists them. */
function chosen({ content }: PhoneMessage, tap: Tap): ReturnType<typeof tappables>[number] {
  const offered = tappables(content);
  const [one, ...others] = tapped(offered, tap);
  if (one && others.length === 0) return one;
  const list = (one ? [one, ...others] : offered)
    .map(
      ({ text, data, card }) =>
        `${JSON.stringify(text)} (${card === null ? "" : `card ${card}, `}data ${JSON.stringify(data)})`,
    )
    .join(", ");
  const parameter = (["text", "data", "card"] as const).find((name) => tap[name] !== undefined) ?? "text";
  if (one) {
    const message = `Several match: ${list}. Choose one by text, data or card.`;
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter, message }] });
  }
  const message = `The message has no such button or suggestion. It has: ${list}.`;
  throw new Problem("RECORD_NOT_FOUND", { message, faults: [{ parameter, message }] });
}

async function postRead(services: Services, call: WithBody<AuthenticCall, typeof ReadBody>): Promise<object> {
  const { messageId } = call.body;
  const { store, simulator } = services;
  const phone = phoneOf(call);
  const isMeant = (each: PhoneMessage): boolean => messageId === undefined || each.messageId === messageId;
  const message = await findOnPhone(store, phone, (each) => isMeant(each) && each.channel !== "sms");
  if (message) {
    const { channel, sender } = message;
    return { messageId: message.messageId, channel, sender, readAt: await simulator.read(message) };
  }
  if (messageId !== undefined && (await findOnPhone(store, phone, isMeant)))
    refuseFaults([
      {
        parameter: "messageId",
        message: "SMS has no read reports: use an RCS or chat-app message.",
      },
    ]);
  throw new Problem("MESSAGE_NOT_FOUND", { message: "This phone has no such RCS or chat-app message." });
}

type FilePart = UserFile["payload"];

async function postFile(services: Services, call: WithBody<AuthenticCall, typeof FileBody>): Promise<object> {
  const { category, thumbnail, ...file } = call.body;
  const payload = partOf(file);
  const small = thumbnail ? partOf(thumbnail) : null;
  const conversation = await conversationOf(services, call, file, RICH);
  return send(services, call, conversation, {
    kind: "file",
    file: { category: category ?? categoryOf(payload), payload, thumbnail: small },
  });
}

const partOf = ({ fileName, mimeType, fileUri, fileSizeBytes }: FilePart): FilePart => ({
  mimeType,
  fileSizeBytes,
  fileName,
  fileUri,
});

/** Media category as platforms classify files. */
function categoryOf({ mimeType }: FilePart): string {
  const [kind = ""] = mimeType.toLowerCase().split("/");
  return ["image", "video", "audio"].includes(kind) ? kind : "file";
}

async function postLocation(services: Services, call: WithBody<AuthenticCall, typeof LocationBody>): Promise<object> {
  const { latitude, longitude, ...addressed } = call.body;
  const conversation = await conversationOf(services, call, addressed, RICH);
  return send(services, call, conversation, { kind: "location", latitude, longitude });
}

const addressedTo = (channels: readonly Channel[]) => ({
  to: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: SENDER_MAX,
      description: "Sender, bot or business number to write to. Defaults to that of the last message.",
    }),
  ),
  channel: Type.Optional(
    Type.Union(
      channels.map((channel) => Type.Literal(channel)),
      { description: "Channel. Defaults to that of the last message." },
    ),
  ),
});

const filePart = {
  fileName: Type.String({
    minLength: 1,
    maxLength: 255,
    description: "File name, such as door.jpg.",
    check: (name) => (isPlainText(name) ? null : "fileName must be one line without control characters."),
  }),
  mimeType: Type.String({
    maxLength: 100,
    pattern: "^[\\w.+-]+/[\\w.+-]+$",
    [PATTERN_RULE]: "be a media type, like image/jpeg",
    description: "Media type, such as image/jpeg.",
  }),
  fileUri: Type.String({
    maxLength: 2000,
    description: "HTTP or HTTPS URL of the file. It is not fetched.",
    check: (uri) => (isWebAddress(uri) ? null : "fileUri must start with http:// or https:// and contain no spaces."),
  }),
  fileSizeBytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "Size in bytes." }),
};

const messageId = Type.Optional(
  Type.String({
    maxLength: 50,
    description: "Message ID as in the send response. Defaults to the newest matching message.",
  }),
);

interface Described<S extends Schema> {
  verb: string;
  summary: string;
  description: string;
  body: S;
  requestExamples: Record<string, object>;
}

const phonePath = <S extends Schema>({ verb, ...described }: Described<S>) =>
  ({
    ...described,
    method: "POST",
    path: `/api/simulator/phones/:number/${verb}`,
    family: "plain",
    scope: "manage",
    testKeys: "read",
    group: "Simulator",
    params: { number: { ...phoneParameter("Phone number."), example: phoneMessageExample.to } },
  }) as const;

const sent = { ...inboundExample, suggestionResponse: null };
const answering = (example: object) => ({ response: InboundView, responseExample: example });

const ReplyBody = Type.Object({
  ...addressedTo(SEND_CHANNELS),
  text: Type.String({
    minLength: 1,
    maxLength: TEXT_MAX,
    description: "Text of the reply.",
    check: (text) => (isShowable(text) ? null : "The text must not contain a lone surrogate or a NUL character."),
  }),
});

export const replyFromPhone = keyedRoute({
  ...phonePath({
    verb: "reply",
    summary: "Reply from a simulated phone",
    description:
      "Sends a text from the phone, by default to the sender of the last message. A stop word (such as STOP) adds the number to the opt-out list; a start word removes it.",
    body: ReplyBody,
    requestExamples: {
      "opt out": { text: "STOP" },
      "to a sender": { to: "HELIOG", channel: "sms", text: "Thank you" },
    },
  }),
  ...answering({ ...sent, channel: "sms", to: "HELIOG", text: "STOP" }),
  bodyFaults: ({ right }, services, call) => conversationFaults(services, call, right, SEND_CHANNELS),
  handle: postReply,
});

const TapBody = Type.Object({
  messageId,
  text: Type.Optional(Type.String({ maxLength: LABEL_MAX, description: "Label of the button or suggestion." })),
  data: Type.Optional(Type.String({ maxLength: LABEL_MAX, description: "Postback data of the button or suggestion." })),
  card: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, description: "Card number, starting at 1." })),
});

export const tapOnPhone = keyedRoute({
  ...phonePath({
    verb: "tap",
    summary: "Tap on a simulated phone",
    description:
      "Taps a suggestion of an RCS message or a button of a chat-app message, by default of the newest message that has any. " +
      "Identify it by label or data, and by card if several match. A label that is a stop word opts the number out.",
    body: TapBody,
    requestExamples: { "by label": { text: "Yes, please" }, "by data": { data: "confirm-4711" } },
  }),
  problems: ["MESSAGE_NOT_FOUND", "RECORD_NOT_FOUND"],
  ...answering(inboundExample),
  handle: postTap,
});

const ReadBody = Type.Object({ messageId });

export const readOnPhone = keyedRoute({
  ...phonePath({
    verb: "read",
    summary: "Mark a simulated message read",
    description:
      "Marks an RCS or chat-app message on the phone as read, by default the newest, and reports it to the sender. Works even if the simulator would not have sent a report.",
    body: ReadBody,
    requestExamples: { "the newest": {} },
  }),
  problems: ["MESSAGE_NOT_FOUND"],
  response: Type.Object({
    messageId: Type.String({ description: "Message that was marked as read." }),
    channel: Type.String({ description: "rcs or chatapp." }),
    sender: Type.String({ description: "Sender that received the report." }),
    readAt: Type.Integer({ description: "Epoch milliseconds." }),
  }),
  responseExample: {
    messageId: phoneMessageExample.messageId,
    channel: "rcs",
    sender: inboundExample.to,
    readAt: inboundExample.receivedAt,
  },
  handle: postRead,
});

const fileExample = {
  fileName: "door.jpg",
  mimeType: "image/jpeg",
  fileUri: "https://files.example/door.jpg",
  fileSizeBytes: 48_213,
};

const FileBody = Type.Object({
  ...addressedTo(RICH),
  ...filePart,
  category: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 50,
      description: "Media category: image, video, audio or file. Defaults to that of mimeType.",
      check: (category) => (isPlainText(category) ? null : "category must be one word without control characters."),
    }),
  ),
  thumbnail: Type.Optional(Type.Union([Type.Object(filePart), Type.Null()], { description: "Thumbnail." })),
});

export const sendFileFromPhone = keyedRoute({
  ...phonePath({
    verb: "file",
    summary: "Send a file from a phone",
    description: "Sends a file from the phone by RCS or chat app. Only its URL is passed on.",
    body: FileBody,
    requestExamples: { picture: fileExample },
  }),
  ...answering({ ...sent, userFile: { category: "image", payload: fileExample, thumbnail: null } }),
  bodyFaults: ({ right }, services, call) => conversationFaults(services, call, right, RICH),
  handle: postFile,
});

const place = { latitude: 48.8584, longitude: 2.2945 };

const LocationBody = Type.Object({
  ...addressedTo(RICH),
  latitude: Type.Number({ minimum: -90, maximum: 90, description: "Latitude in degrees." }),
  longitude: Type.Number({ minimum: -180, maximum: 180, description: "Longitude in degrees." }),
});

export const sendLocationFromPhone = keyedRoute({
  ...phonePath({
    verb: "location",
    summary: "Share a location from a phone",
    description: "Shares a location from the phone by RCS or chat app.",
    body: LocationBody,
    requestExamples: { place },
  }),
  ...answering({ ...sent, location: place }),
  bodyFaults: ({ right }, services, call) => conversationFaults(services, call, right, RICH),
  handle: postLocation,
});
