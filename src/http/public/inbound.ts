import { isUuid } from "../../lib/ids.ts";
import { Type } from "../../lib/schema.ts";
import type { InboundContent, InboundMessage } from "../../model/inbound.ts";
import { SEND_CHANNELS, messageIdOf } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import type { InboundFilter } from "../../store/inbound.ts";
import { readLimit, readTime } from "../pagination.ts";
import { choiceParameter, pageParameters, phoneParameter, textParameter, timeParameter } from "../parameters.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";

async function getOne({ store }: Services, { params, caller }: AuthenticCall): Promise<object> {
  const id = params.id ?? "";
  const message = isUuid(id) ? await store.findInbound(caller.account.id, id) : null;
  if (!message || (seesTestsOnly(caller) && !message.test))
    throw new Problem("RECORD_NOT_FOUND", { message: "There is no inbound message with this id." });
  return inboundView(message);
}

async function getList({ store }: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const filter = readFilter(query, faults);
  if (query.cursor !== undefined && !isUuid(query.cursor))
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
  refuseFaults(faults);
  const view = { ...filter, ...(seesTestsOnly(caller) && { test: true as const }) };
  const { rows, next } = await store.listInbound(caller.account.id, view, query.cursor ?? null, limit);
  return { data: rows.map(inboundView), nextCursor: next };
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
export function inboundView({ id, channel, from, to, content, answers, at }: InboundMessage): object {
  return {
    id,
    channel,
    from,
    to,
    text: content.kind === "text" ? content.text : "",
    suggestionResponse: content.kind === "suggestion" ? responseView(content) : null,
    userFile: content.kind === "file" ? content.file : null,
    location: content.kind === "location" ? { latitude: content.latitude, longitude: content.longitude } : null,
    messageId: answers && messageIdOf(answers),
    receivedAt: at,
  };
}

const responseView = ({ plainText, data, type }: Extract<InboundContent, { kind: "suggestion" }>): object => ({
  plainText,
  postBack: { data },
  type,
});

const FILE_PART = {
  mimeType: Type.String({ description: "Media type, such as image/jpeg." }),
  fileSizeBytes: Type.Integer({ description: "Size in bytes." }),
  fileName: Type.String({ description: "File name on the user's phone." }),
  fileUri: Type.String({ description: "URL of the file at the platform. Heliograph stores no copy." }),
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
    location: Type.Union([Location, Type.Null()], { description: "Location shared by the user; null if none." }),
    messageId: Type.Union([Type.String(), Type.Null()], {
      description: "ID of the message that it replies to; null if unknown.",
    }),
    receivedAt: Type.Integer({ description: "Epoch milliseconds." }),
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
  messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1",
  receivedAt: 1767225604880,
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
