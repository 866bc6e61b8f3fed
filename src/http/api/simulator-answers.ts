import { findOnPhone } from "../../carriers/simulator/find.ts";
import { tappables, tapped, type Tap } from "../../carriers/simulator/tap.ts";
import { isWebAddress } from "../../channels/rcs/wording.ts";
import { isPlainText, isShowable } from "../../lib/plain-text.ts";
import { Type, type Schema } from "../../lib/schema.ts";
import type { InboundContent, UserFile } from "../../model/inbound.ts";
import { CHANNELS, parseMessageId, type Channel } from "../../model/message.ts";
import type { PhoneMessage } from "../../model/phone.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { inboundExample, inboundView, InboundView } from "../v1/inbound.ts";
import { conversationOf, phoneOf, type Addressed, type Conversation } from "./simulator-conversation.ts";
import { phoneMessageExample } from "./simulator-message.ts";

const TEXT_MAX = 4096;
const SENDER_MAX = 100;
const LABEL_MAX = 2000;

/** The channels that carry more than text. */
const RICH = ["rcs", "chatapp"] as const satisfies readonly Channel[];

async function send(
  { simulator }: Services,
  call: AuthenticCall,
  conversation: Conversation,
  content: InboundContent,
): Promise<object> {
  const { accountId, number: from } = phoneOf(call);
  return inboundView(await simulator.reply({ accountId, from, ...conversation, content }));
}

async function postReply(services: Services, call: AuthenticCall): Promise<object> {
  const { text, ...addressed } = call.body as Addressed & { text: string };
  if (!isShowable(text))
    refuseFaults([
      { parameter: "text", message: "The text holds half a character or a NUL, which no phone can send." },
    ]);
  return send(services, call, await conversationOf(services, call, addressed, CHANNELS), { kind: "text", text });
}

async function postTap(services: Services, call: AuthenticCall): Promise<object> {
  const { messageId, ...tap } = call.body as Tap & { messageId?: string };
  const message = await findOnPhone(
    services.store,
    phoneOf(call),
    (each) => (messageId === undefined || each.messageId === messageId) && tappables(each.content).length > 0,
  );
  if (!message)
    throw new Problem("MESSAGE_NOT_FOUND", {
      message:
        messageId === undefined
          ? "No message on this phone has anything to tap."
          : "No such message with anything to tap lies on this phone.",
    });
  const { channel, sender: to, messageId: answered } = message;
  return send(services, call, { channel, to, answers: parseMessageId(answered) }, chosen(message, tap));
}

/** The one thing that is tapped; whoever means none of them, or more than one, is told which there are. */
function chosen({ content }: PhoneMessage, tap: Tap): InboundContent {
  const offered = tappables(content);
  const [one, ...others] = tapped(offered, tap);
  if (one && others.length === 0) return one.sent;
  const list = (one ? [one, ...others] : offered)
    .map(
      ({ text, data, card }) =>
        `${JSON.stringify(text)} (${card === null ? "" : `card ${card}, `}data ${JSON.stringify(data)})`,
    )
    .join(", ");
  const parameter = (["text", "data", "card"] as const).find((name) => tap[name] !== undefined) ?? "text";
  if (one) {
    const message = `Several can be meant: ${list}. Name one by text, data or card.`;
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter, message }] });
  }
  const message = `The message has nothing like that to tap. It has: ${list}.`;
  throw new Problem("RECORD_NOT_FOUND", { message, faults: [{ parameter, message }] });
}

async function postRead(services: Services, call: AuthenticCall): Promise<object> {
  const { messageId } = call.body as { messageId?: string };
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
        message: "It is an SMS, and phones do not tell when one was read: name an RCS or chat-app message.",
      },
    ]);
  throw new Problem("MESSAGE_NOT_FOUND", { message: "No such RCS or chat-app message lies on this phone." });
}

type FilePart = UserFile["payload"];

interface FileBody extends Addressed, FilePart {
  category?: string;
  thumbnail?: FilePart | null;
}

async function postFile(services: Services, call: AuthenticCall): Promise<object> {
  const { category, thumbnail, ...file } = call.body as FileBody;
  const faults: Fault[] = [];
  if (category !== undefined && !isPlainText(category))
    faults.push({ parameter: "category", message: "category is one word, without control characters." });
  const payload = readPart(file, "", faults);
  const small = thumbnail ? readPart(thumbnail, "thumbnail.", faults) : null;
  refuseFaults(faults);
  const conversation = await conversationOf(services, call, file, RICH);
  return send(services, call, conversation, {
    kind: "file",
    file: { category: category ?? categoryOf(payload), payload, thumbnail: small },
  });
}

function readPart({ fileName, mimeType, fileUri, fileSizeBytes }: FilePart, prefix: string, faults: Fault[]): FilePart {
  if (!isPlainText(fileName))
    faults.push({ parameter: `${prefix}fileName`, message: "fileName is one line, without control characters." });
  if (!isWebAddress(fileUri))
    faults.push({
      parameter: `${prefix}fileUri`,
      message: "fileUri starts with http:// or https:// and has no spaces.",
    });
  return { mimeType, fileSizeBytes, fileName, fileUri };
}

/** As platforms sort files. */
function categoryOf({ mimeType }: FilePart): string {
  const [kind = ""] = mimeType.toLowerCase().split("/");
  return ["image", "video", "audio"].includes(kind) ? kind : "file";
}

async function postLocation(services: Services, call: AuthenticCall): Promise<object> {
  const { latitude, longitude, ...addressed } = call.body as Addressed & { latitude: number; longitude: number };
  const conversation = await conversationOf(services, call, addressed, RICH);
  return send(services, call, conversation, { kind: "location", latitude, longitude });
}

const addressedTo = (channels: readonly Channel[]) => ({
  to: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: SENDER_MAX,
      description: "The sender, bot or business number to write to; that of the last message unless given.",
    }),
  ),
  channel: Type.Optional(
    Type.Union(
      channels.map((channel) => Type.Literal(channel)),
      { description: "The channel; that of the last message unless given." },
    ),
  ),
});

const filePart = {
  fileName: Type.String({ minLength: 1, maxLength: 255, description: "Like door.jpg." }),
  mimeType: Type.String({ maxLength: 100, pattern: "^[\\w.+-]+/[\\w.+-]+$", description: "Like image/jpeg." }),
  fileUri: Type.String({ maxLength: 2000, description: "Where it lies: http or https. Nobody fetches it." }),
  fileSizeBytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "Its size." }),
};

const messageId = Type.Optional(
  Type.String({ maxLength: 50, description: "As in the send response; the newest that fits unless given." }),
);

interface Described {
  verb: string;
  summary: string;
  description: string;
  body: Schema;
  requestExamples: Record<string, object>;
}

const phonePath = ({ verb, ...described }: Described) =>
  ({
    ...described,
    method: "POST",
    path: `/api/simulator/phones/:number/${verb}`,
    family: "plain",
    scope: "manage",
    group: "Simulator",
    params: { number: { meaning: "The phone's number.", example: phoneMessageExample.to } },
  }) as const;

const sent = { ...inboundExample, suggestionResponse: null };
const answering = (example: object) => ({ response: InboundView, responseExample: example });

export const replyFromPhone: KeyedRoute = {
  ...phonePath({
    verb: "reply",
    summary: "Answer from a simulated phone",
    description:
      "Sends a text from the phone, as its owner would: to whom wrote last, unless told. A stop word (STOP and its like) puts the number on the opt-out list, a start word takes it off.",
    body: Type.Object({
      ...addressedTo(CHANNELS),
      text: Type.String({ minLength: 1, maxLength: TEXT_MAX, description: "What the phone's owner writes." }),
    }),
    requestExamples: {
      "no more": { text: "STOP" },
      "to a sender": { to: "HELIOG", channel: "sms", text: "Thank you" },
    },
  }),
  ...answering({ ...sent, channel: "sms", to: "HELIOG", text: "STOP" }),
  handle: postReply,
};

export const tapOnPhone: KeyedRoute = {
  ...phonePath({
    verb: "tap",
    summary: "Tap on a simulated phone",
    description:
      "Taps a suggestion of an RCS message or a button of a chat-app message, as the phone's owner would: of the newest message that has any, unless told. " +
      "Name it by its label or its data, and by its card where several fit. A label that is a stop word counts as one.",
    body: Type.Object({
      messageId,
      text: Type.Optional(Type.String({ maxLength: LABEL_MAX, description: "The label." })),
      data: Type.Optional(Type.String({ maxLength: LABEL_MAX, description: "What the sender put behind it." })),
      card: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, description: "The card that it is on, from 1." })),
    }),
    requestExamples: { "by label": { text: "Yes, please" }, "by data": { data: "confirm-4711" } },
  }),
  problems: ["MESSAGE_NOT_FOUND", "RECORD_NOT_FOUND"],
  ...answering(inboundExample),
  handle: postTap,
};

export const readOnPhone: KeyedRoute = {
  ...phonePath({
    verb: "read",
    summary: "Read a message on a simulated phone",
    description:
      "The phone's owner opens an RCS or chat-app message, and its sender is told: the newest, unless told. It works also where no report would have come.",
    body: Type.Object({ messageId }),
    requestExamples: { "the newest": {} },
  }),
  problems: ["MESSAGE_NOT_FOUND"],
  response: Type.Object({
    messageId: Type.String({ description: "What was read." }),
    channel: Type.String({ description: "rcs or chatapp." }),
    sender: Type.String({ description: "Who has been told." }),
    readAt: Type.Integer({ description: "Epoch milliseconds." }),
  }),
  responseExample: {
    messageId: phoneMessageExample.messageId,
    channel: "rcs",
    sender: inboundExample.to,
    readAt: inboundExample.receivedAt,
  },
  handle: postRead,
};

const fileExample = {
  fileName: "door.jpg",
  mimeType: "image/jpeg",
  fileUri: "https://files.example/door.jpg",
  fileSizeBytes: 48_213,
};

export const sendFileFromPhone: KeyedRoute = {
  ...phonePath({
    verb: "file",
    summary: "Send a file from a simulated phone",
    description: "The phone's owner sends a file by RCS or the chat app. Only its address is handed on.",
    body: Type.Object({
      ...addressedTo(RICH),
      ...filePart,
      category: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 50,
          description: "The platform's word for what it is: image, video, audio or file, by mimeType unless given.",
        }),
      ),
      thumbnail: Type.Optional(
        Type.Union([Type.Object(filePart), Type.Null()], { description: "A small picture of it." }),
      ),
    }),
    requestExamples: { picture: fileExample },
  }),
  ...answering({ ...sent, userFile: { category: "image", payload: fileExample, thumbnail: null } }),
  handle: postFile,
};

const place = { latitude: 48.8584, longitude: 2.2945 };

export const sendLocationFromPhone: KeyedRoute = {
  ...phonePath({
    verb: "location",
    summary: "Share a place from a simulated phone",
    description: "The phone's owner shares a place by RCS or the chat app.",
    body: Type.Object({
      ...addressedTo(RICH),
      latitude: Type.Number({ minimum: -90, maximum: 90, description: "Degrees north." }),
      longitude: Type.Number({ minimum: -180, maximum: 180, description: "Degrees east." }),
    }),
    requestExamples: { place },
  }),
  ...answering({ ...sent, location: place }),
  handle: postLocation,
};
