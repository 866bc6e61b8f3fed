import { isUuid } from "../../lib/ids.ts";
import { Type } from "../../lib/schema.ts";
import type { InboundContent, InboundMessage, UserFile } from "../../model/inbound.ts";
import { carrierNameOf } from "../../model/catalog.ts";
import { SEND_CHANNELS, messageIdOf } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import type { InboundFilter } from "../../store/inbound.ts";
import { readLimit, readTime } from "../pagination.ts";
import { choiceParameter, pageParameters, phoneParameter, textParameter, timeParameter } from "../parameters.ts";
import { keyedRoute, type AuthenticCall, type KeyedRoute, type Services, type WithBody } from "../route.ts";
import { InboundDetailsView } from "./inbound-details.ts";
import { MediaView, mediaView } from "./media.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";

const getOne = async (services: Services, call: AuthenticCall): Promise<object> =>
  viewOne(services, await findOne(services, call));

/** Views of inbound messages of one account, with what is known about their files. */
export async function viewInbound(
  { store, baseUrl }: Pick<Services, "store" | "baseUrl">,
  messages: readonly InboundMessage[],
): Promise<readonly object[]> {
  const ids = messages.flatMap((message) => mediaIdOf(message) ?? []);
  const found = await store.findMediaList(messages[0]?.accountId ?? 0, ids);
  const files = new Map(found.map((media) => [media.id, media]));
  return messages.map((message) => {
    const media = files.get(mediaIdOf(message) ?? "");
    return inboundView(message, media ? mediaView(media, baseUrl()) : null);
  });
}

const mediaIdOf = ({ content }: InboundMessage): string | null =>
  content.kind === "file" ? (content.file.mediaId ?? null) : null;

const viewOne = async (services: Services, message: InboundMessage): Promise<object> =>
  (await viewInbound(services, [message]))[0] ?? {};

async function findOne(
  { store }: Services,
  { params, caller }: Pick<AuthenticCall, "params" | "caller">,
): Promise<InboundMessage> {
  const id = params.id ?? "";
  const message = isUuid(id) ? await store.findInbound(caller.account.id, id) : null;
  if (!message || (seesTestsOnly(caller) && !message.test))
    throw new Problem("RECORD_NOT_FOUND", { message: "There is no inbound message with this id." });
  return message;
}

async function postRead(services: Services, { params, caller, body }: ReadCall): Promise<object> {
  const { store, carriers, clock } = services;
  const message = await findOne(services, { params, caller });
  const carrier = message.origin ? carriers.find(caller.account.id, carrierNameOf(message.origin.carrier)) : null;
  if (!carrier?.markRead) throw new Problem("NOT_MARKED", { message: NO_MARKS });
  const outcome = await carrier.markRead(message, { typing: body.typing });
  if (outcome.kind === "failed") throw new Problem("NOT_MARKED", { message: `${outcome.description}.` });
  const readAt = message.readAt ?? clock.now();
  await store.markInboundRead(caller.account.id, message.id, readAt);
  return viewOne(services, { ...message, readAt });
}

const NO_MARKS = "The carrier that this message came by has no read marks, or is not among the carriers any more.";

type ReadCall = WithBody<AuthenticCall, typeof ReadBody>;

async function getList(services: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const filter = readFilter(query, faults);
  if (query.cursor !== undefined && !isUuid(query.cursor))
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
  refuseFaults(faults);
  const view = { ...filter, ...(seesTestsOnly(caller) && { test: true as const }) };
  const { rows, next } = await services.store.listInbound(caller.account.id, view, query.cursor ?? null, limit);
  return { data: await viewInbound(services, rows), nextCursor: next };
}

function readFilter(query: AuthenticCall["query"], faults: Fault[]): InboundFilter {
  const channel = SEND_CHANNELS.find((known) => known === query.channel?.toLowerCase());
  if (query.channel !== undefined && !channel)
    faults.push({ parameter: "channel", message: `channel is one of ${SEND_CHANNELS.join(", ")}.` });
  const from = query.from === undefined ? undefined : readNumber(query.from.trim());
  if (from === null) faults.push({ parameter: "from", message: "from is an international phone number." });
  // An unencoded plus arrives as a space.
  const to = query.to?.replace(/^ /, "+");
  const number = channel === "chatapp" && to !== undefined ? readNumber(to) : null;
  const since = readTime(query, "since", faults);
  const until = readTime(query, "until", faults);
  return {
    ...(channel ? { channel } : {}),
    ...(from ? { from } : {}),
    ...(to === undefined ? {} : { to: number === null ? to : `+${number}` }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

/** An inbound message as the API shows it, with the field names of the webhook. */
export function inboundView(
  { id, channel, from, to, content, answers, at, details, readAt }: InboundMessage,
  media: object | null = null,
): object {
  return {
    id,
    channel,
    from,
    to,
    text: content.kind === "text" ? content.text : "",
    suggestionResponse: content.kind === "suggestion" ? responseView(content) : null,
    userFile: content.kind === "file" ? fileView(content.file) : null,
    ...(media && { media }),
    location: content.kind === "location" ? { latitude: content.latitude, longitude: content.longitude } : null,
    details: details ?? null,
    messageId: answers && messageIdOf(answers),
    receivedAt: at,
    readAt: readAt ?? null,
  };
}

const fileView = ({ category, payload, thumbnail }: UserFile): object => ({ category, payload, thumbnail });

const responseView = ({ plainText, data, type }: Extract<InboundContent, { kind: "suggestion" }>): object => ({
  plainText,
  postBack: { data },
  type,
});

const FILE_PART = {
  mimeType: Type.String({ description: "Media type, such as image/jpeg." }),
  fileSizeBytes: Type.Integer({ description: "Size in bytes." }),
  fileName: Type.String({ description: "File name on the user's phone." }),
  fileUri: Type.String({ description: "URL of the file at the platform; `media` is the copy here." }),
};

const SuggestionResponse = Type.Object({
  plainText: Type.String({ description: "Label of the button." }),
  postBack: Type.Object(
    { data: Type.String({ description: "Postback data; the number of a call button, the URL of a chat-app link." }) },
    { description: "Data of the button." },
  ),
  type: Type.Union([Type.Literal("REPLY"), Type.Literal("ACTION"), Type.Literal("DIALER")], {
    description: "REPLY: a reply button. ACTION: a link or another action. DIALER: a call button.",
  }),
});

const UserFile = Type.Object({
  category: Type.String({ description: "Category of the platform, such as image." }),
  payload: Type.Object(FILE_PART, { description: "The file." }),
  thumbnail: Type.Union([Type.Object(FILE_PART), Type.Null()], {
    description: "Thumbnail; null if there is none.",
  }),
});

const Location = Type.Object({
  latitude: Type.Number({ description: "Latitude in degrees." }),
  longitude: Type.Number({ description: "Longitude in degrees." }),
});

export const InboundView = Type.Object(
  {
    id: Type.String({ description: "ID of the inbound message." }),
    channel: Type.String({ description: `${SEND_CHANNELS.join(", ")}.` }),
    from: Type.String({ description: "Phone number of the user, without plus." }),
    to: Type.String({ description: "Recipient: sender ID, bot or business number." }),
    text: Type.String({ description: "Text of the user; empty if the message has one of the following." }),
    suggestionResponse: Type.Union([SuggestionResponse, Type.Null()], {
      description: "Button that was tapped; null if none.",
    }),
    userFile: Type.Union([UserFile, Type.Null()], { description: "File from the user; null if none." }),
    media: Type.Optional(MediaView),
    location: Type.Union([Location, Type.Null()], { description: "Location shared by the user; null if none." }),
    details: Type.Union([InboundDetailsView, Type.Null()], {
      description: "Chat app: kind of the message and what the platform reports besides its content. Otherwise null.",
    }),
    messageId: Type.Union([Type.String(), Type.Null()], {
      description: "ID of the message that it replies to; null if unknown.",
    }),
    receivedAt: Type.Integer({ description: "Epoch milliseconds." }),
    readAt: Type.Union([Type.Integer(), Type.Null()], {
      description: "Time when the account marked it as read; null if it did not.",
    }),
  },
  { title: "InboundMessage" },
);

export const inboundExample = {
  id: "0198f3a2-8f10-7c3e-9b62-4a1d7e5c8f30",
  channel: "rcs",
  from: "15550100100",
  to: "heliograph",
  text: "",
  suggestionResponse: { plainText: "Yes, please", postBack: { data: "confirm-4711" }, type: "REPLY" },
  userFile: null,
  location: null,
  details: null,
  messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1",
  receivedAt: 1767225604880,
  readAt: null,
};

const common = { method: "GET", family: "plain", scope: "read", testKeys: "read", group: "Answers" } as const;

export const getInbound: KeyedRoute = {
  ...common,
  path: "/v1/inbound/:id",
  summary: "Read what a user sent",
  description: "One text, tap, file or place.",
  params: { id: { meaning: "As a list shows it.", example: inboundExample.id } },
  problems: ["RECORD_NOT_FOUND"],
  response: InboundView,
  responseExample: inboundExample,
  handle: getOne,
};

const ReadBody = Type.Object({
  typing: Type.Default(
    Type.Boolean({
      description: "True to show for 25 seconds, or until the next message, that an answer is being typed.",
      error: "typing is true or false.",
    }),
    false,
  ),
});

export const readInbound = keyedRoute({
  ...common,
  method: "POST",
  path: "/v1/inbound/:id/read",
  scope: "chatapp",
  testKeys: "chatapp",
  summary: "Mark an inbound message as read",
  description:
    "Shows the user of the chat app or of RCS that the message was read; with `typing` also that an answer is being typed. On the chat app it covers the messages before it too. Repeat it to show the typing again.",
  params: { id: { meaning: "As a list shows it.", example: inboundExample.id } },
  problems: ["RECORD_NOT_FOUND", "NOT_MARKED"],
  body: ReadBody,
  requestExamples: { read: {}, "read and typing": { typing: true } },
  response: InboundView,
  responseExample: { ...inboundExample, channel: "chatapp", to: "+15550100199", readAt: 1767225605012 },
  handle: postRead,
});

export const listInbound: KeyedRoute = {
  ...common,
  path: "/v1/inbound",
  summary: "List what users sent",
  description:
    "Texts, taps, files and places from every channel, newest first. A filtered page may be short and still have a `nextCursor`; continue until it is null.",
  query: {
    channel: choiceParameter(SEND_CHANNELS, "Only what came on this channel."),
    from: phoneParameter("The user's phone number."),
    to: textParameter("Recipient: sender ID, bot or business number.", inboundExample.to),
    since: timeParameter("Received at this time or later: epoch milliseconds or ISO 8601."),
    until: timeParameter("Received before this time.", "end"),
    ...pageParameters(inboundExample.id),
  },
  response: Type.Object({
    data: Type.Array(InboundView, { description: "One page of what was sent." }),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: "The cursor of the next page; null on the last.",
    }),
  }),
  responseExample: { data: [inboundExample], nextCursor: null },
  handle: getList,
};
