import { Type, type Infer } from "../../lib/schema.ts";
import { CUSTOMER_EVENTS, renderCustomerTimeline } from "../../pipeline/timeline.ts";
import { PAUSED_MS } from "../../model/catalog.ts";
import {
  CHANNELS,
  CUSTOMER_STATUSES,
  customerStatus,
  isErased,
  isEncrypted,
  isSessionContent,
  isSms,
  messageIdOf,
  parseMessageId,
  ROUTE_CLASSES,
  type MessageContent,
} from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import type { MessageFilter, MessageOrder, Position, StoredMessage } from "../../store/store.ts";
import { QueryTimedOut } from "../../store/reporting-queue.ts";
import { CountView, countView } from "../count.ts";
import { seesMasked } from "../hide-numbers.ts";
import { SESSION_VIEW, sessionView } from "../session-view.ts";
import { readLimit, readTime } from "../pagination.ts";
import { choiceParameter, pageParameters, phoneParameter, textParameter, timeParameter } from "../parameters.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";

async function getOne({ store }: Services, call: AuthenticCall): Promise<object> {
  const message = await findNamed(store, call);
  const [clicks, answers] = await Promise.all([
    store.listClicksOfMessage(message, CLICKS_SHOWN),
    store.listAnswers(message, ANSWERS_SHOWN),
  ]);
  return { ...messageView(message), timeline: renderCustomerTimeline({ message, clicks, answers }) };
}

/** The timeline shows the latest clicks. */
export const CLICKS_SHOWN = 100;

/** The timeline shows the first replies; `/v1/inbound` lists all. */
export const ANSWERS_SHOWN = 100;

/** The message of the path parameter. */
export async function findNamed(
  store: Services["store"],
  { params, caller }: Pick<AuthenticCall, "params" | "caller">,
): Promise<StoredMessage> {
  const id = parseMessageId(params.messageId ?? "");
  const message = id && (await store.findMessage({ accountId: caller.account.id, ...id }));
  if (!message || (seesTestsOnly(caller) && !message.test)) throw new Problem("MESSAGE_NOT_FOUND");
  return message;
}

const getList = async ({ store }: Services, call: AuthenticCall): Promise<object> => {
  const { rows, nextCursor } = await readPage(store, call);
  return { data: rows.map(messageView), nextCursor };
};

/** One page of the messages that match the query. */
export async function readPage(
  store: Services["store"],
  { query, caller }: Pick<AuthenticCall, "query" | "caller">,
): Promise<{ rows: StoredMessage[]; nextCursor: string | null }> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const filter = readFilter(query, seesMasked(caller), faults);
  const after = query.cursor === undefined ? null : parseMessageId(query.cursor);
  if (query.cursor !== undefined && !after)
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
  refuseFaults(faults);
  const view = viewOf(filter, caller);
  if (!view) return { rows: [], nextCursor: null };
  const { rows, next } = await store.listMessages(caller.account.id, view, after, limit);
  return { rows, nextCursor: next && messageIdOf(next) };
}

/** The filter for the messages that the caller may see; null if there are none. */
function viewOf(filter: MessageFilter, caller: AuthenticCall["caller"]): MessageFilter | null {
  if (!seesTestsOnly(caller)) return filter;
  return filter.test === false ? null : { ...filter, test: true };
}

/** Messages that a count reads at once. */
const COUNT_STEP = 500;
const COUNT_MAX = 10_000;
/** Time after which a count returns what it has counted. */
const COUNT_MS = 2000;

/** Counts the messages that match the query, up to a limit of number and of time. They are read like a list, in its order. */
async function count(
  { store, clock }: Services,
  { query, caller }: Pick<AuthenticCall, "query" | "caller">,
): Promise<Infer<typeof CountView>> {
  const faults: Fault[] = [];
  const filter = readFilter(query, seesMasked(caller), faults);
  refuseFaults(faults);
  const view = viewOf(filter, caller);
  if (!view) return { count: 0, more: false };
  const startedAt = clock.monotonic();
  let counted = 0;
  let after: Position | null = null;
  try {
    do {
      const withinMs = COUNT_MS - (clock.monotonic() - startedAt);
      if (withinMs <= 0) return { count: Math.min(counted, COUNT_MAX), more: true };
      const { rows, next }: Awaited<ReturnType<typeof store.listMessages>> = await store.listMessages(
        caller.account.id,
        view,
        after,
        Math.min(COUNT_STEP, COUNT_MAX + 1 - counted),
        withinMs,
      );
      counted += rows.length;
      after = next;
    } while (after && counted <= COUNT_MAX);
  } catch (error) {
    if (error instanceof QueryTimedOut) return { count: counted, more: true };
    throw error;
  }
  return countView(counted, COUNT_MAX);
}

function readFilter(query: AuthenticCall["query"], isMasked: boolean, faults: Fault[]): MessageFilter {
  const status = CUSTOMER_STATUSES.find((known) => known.toLowerCase() === query.status?.toLowerCase());
  if (query.status !== undefined && !status) {
    faults.push({ parameter: "status", message: `status is one of ${CUSTOMER_STATUSES.join(", ")}.` });
  }
  const channel = CHANNELS.find((known) => known === query.channel?.toLowerCase());
  if (query.channel !== undefined && !channel)
    faults.push({ parameter: "channel", message: `channel is one of ${CHANNELS.join(", ")}.` });
  const routeClass = ROUTE_CLASSES.find((known) => known === query.type?.toUpperCase());
  if (query.type !== undefined && !routeClass)
    faults.push({ parameter: "type", message: `type is one of ${ROUTE_CLASSES.join(", ")}.` });
  const recipient = query.recipient === undefined ? undefined : readNumber(query.recipient.trim());
  if (recipient === null)
    faults.push({
      parameter: "recipient",
      message: "recipient is a whole international phone number; recipientEnding takes its last digits.",
    });
  const recipientEnding = readEnding(query, isMasked, faults);
  const messageId = query.messageId === undefined ? undefined : parseMessageId(query.messageId.trim());
  if (messageId === null)
    faults.push({ parameter: "messageId", message: "messageId is as in the send response: <id>:<n>." });
  const carrierMessageId = query.carrierMessageId?.trim();
  if (carrierMessageId === "")
    faults.push({ parameter: "carrierMessageId", message: "carrierMessageId is the id that a carrier gave." });
  const text = readText(query, isMasked, faults);
  const test = TEST_CHOICES.find((choice) => choice === query.test?.toLowerCase());
  if (query.test !== undefined && !test)
    faults.push({ parameter: "test", message: `test is one of ${TEST_CHOICES.join(", ")}.` });
  const order = ORDERS.find((known) => known === query.order?.toLowerCase());
  if (query.order !== undefined && !order)
    faults.push({ parameter: "order", message: `order is one of ${ORDERS.join(", ")}.` });
  const from = readTime(query, "from", faults);
  const to = readTime(query, "to", faults);
  return {
    ...(status ? { status } : {}),
    ...(recipient ? { recipient } : {}),
    ...(recipientEnding === undefined ? {} : { recipientEnding }),
    ...(messageId ? { messageId } : {}),
    ...(carrierMessageId ? { carrierMessageId } : {}),
    ...(test ? { test: test === "true" } : {}),
    ...(channel ? { channel } : {}),
    ...(routeClass ? { routeClass } : {}),
    ...(query.campaignName === undefined ? {} : { campaignName: query.campaignName }),
    ...(query.templateName === undefined ? {} : { templateName: query.templateName }),
    ...(text === undefined ? {} : { text }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(order === undefined ? {} : { order }),
  };
}

const ORDERS: readonly MessageOrder[] = ["newest", "oldest"];

const TEST_CHOICES = ["true", "false"] as const;
const TEXT_MAX = 200;

/** A part of a text. A viewer could find out masked numbers and codes one character at a time. */
function readText(query: AuthenticCall["query"], isMasked: boolean, faults: Fault[]): string | undefined {
  const { text } = query;
  if (text === undefined) return undefined;
  if (text.trim() === "" || text.length > TEXT_MAX)
    faults.push({
      parameter: "text",
      message: `text is a part of the message's text, with 1 to ${TEXT_MAX} characters.`,
    });
  else if (isMasked)
    faults.push({ parameter: "text", message: "text is not for viewers, who see numbers and codes masked." });
  return text;
}

const ENDING_MIN = 4;
const ENDING = /^[0-9]{4,15}$/;

/**
 * The last digits of a number. A viewer sees numbers masked except for their last four digits; with longer endings, a viewer
 * could find out the others one by one.
 */
function readEnding(query: AuthenticCall["query"], isMasked: boolean, faults: Fault[]): string | undefined {
  if (query.recipientEnding === undefined) return undefined;
  const digits = query.recipientEnding.replaceAll(/[\s\-().]/g, "");
  const parameter = "recipientEnding";
  if (!ENDING.test(digits))
    faults.push({ parameter, message: "recipientEnding is the last 4 to 15 digits of a phone number." });
  else if (isMasked && digits.length > ENDING_MIN)
    faults.push({
      parameter,
      message: "recipientEnding is the last 4 digits for a viewer; recipient takes a whole number.",
    });
  return digits;
}

/** A message as the customer sees it. */
export function messageView(message: StoredMessage): object {
  const { state, dueAt } = message;
  const isWaiting = state === "accepted" || state === "scheduled";
  return {
    messageId: messageIdOf(message),
    channel: message.channel,
    type: message.routeClass,
    sender: message.sender,
    recipient: message.recipient,
    text: message.content.text,
    ...encodingView(message.content),
    erased: isErased(message.content) || isEncrypted(message.content),
    ...(isSessionContent(message.content) && sessionView(message.content)),
    templateName: "templateName" in message.content ? (message.content.templateName ?? null) : null,
    status: customerStatus(state),
    state,
    errCode: message.errorCode,
    statusDescription: message.description,
    segments: message.segments,
    credits: message.cost,
    campaignName: message.campaignName,
    test: message.test,
    createdAt: message.createdAt,
    dueAt: isWaiting && dueAt < PAUSED_MS ? dueAt : null,
    submittedAt: message.submittedAt,
    doneAt: message.doneAt,
  };
}

const encodingView = (content: MessageContent): object =>
  isSms(content)
    ? { encoding: content.encoding, dataCoding: content.dataCoding ?? null, udh: content.udh ?? null }
    : { encoding: null, dataCoding: null, udh: null };

const nullableString = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const nullableTime = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description });

export const MESSAGE_FIELDS = {
  messageId: Type.String({ description: "Message ID as in the send response: `<id>:<n>`." }),
  channel: Type.String({ description: `${CHANNELS.join(", ")}; sms for an RCS message that was sent as SMS instead.` }),
  type: Type.String({ description: "Route type: TRANS, PROMO or OTP." }),
  sender: Type.String({ description: "Sender ID, bot or business number." }),
  recipient: Type.String({ description: "The phone number, without plus." }),
  text: Type.String({
    description:
      "As it was sent; the octets of a binary message in hexadecimal; empty once it was erased, and where cards hold the words.",
  }),
  encoding: nullableString("Encoding of an SMS whose text is kept: gsm7, ucs2 or binary. Otherwise null."),
  dataCoding: Type.Union([Type.Integer(), Type.Null()], {
    description: "`data_coding` of a binary message if the request named one. Otherwise null.",
  }),
  udh: nullableString("User data header of the request, in hexadecimal. Null if it had none."),
  ...SESSION_VIEW,
  erased: Type.Boolean({ description: "The time for which texts are kept is over, or it was a one-time password." }),
  templateName: nullableString(
    "The template of the message: `templateName` of a chat-app or RCS message, `templateId` of a text.",
  ),
  status: Type.Union(
    CUSTOMER_STATUSES.map((status) => Type.Literal(status)),
    { description: "Status for end users." },
  ),
  state: Type.String({ description: "Detailed state behind the status." }),
  errCode: nullableString("Error code of the carrier or of Heliograph."),
  statusDescription: nullableString("Status in words, or the reason of a failure."),
  segments: Type.Integer({ description: "Number of SMS segments; 1 on other channels." }),
  credits: Type.Integer({
    description: "Credits charged, less refunds: 0 if the message was rejected, cancelled or refunded.",
  }),
  campaignName: nullableString("Campaign name of the send request."),
  test: Type.Boolean({ description: "True if sent with a test key." }),
  createdAt: Type.Integer({ description: "Time of acceptance in epoch milliseconds." }),
  dueAt: nullableTime(
    "Earliest time of sending of a waiting message; null afterwards and while its campaign is paused.",
  ),
  submittedAt: nullableTime("Time when a carrier accepted the message."),
  doneAt: nullableTime("Time of the final state."),
};

export const MessageView = Type.Object(MESSAGE_FIELDS, { title: "Message" });

const MessageWithTimeline = Type.Object(
  {
    ...MESSAGE_FIELDS,
    timeline: Type.Array(
      Type.Object({
        at: Type.Integer({ description: "Time of the event in epoch milliseconds." }),
        event: Type.Union(
          CUSTOMER_EVENTS.map((event) => Type.Literal(event)),
          { description: "Event." },
        ),
        detail: Type.String({ description: "Description of the event and the next step." }),
      }),
      { description: "Timeline, oldest event first." },
    ),
  },
  { title: "MessageWithTimeline" },
);

export const exampleMessage = {
  messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1",
  channel: "sms",
  type: "TRANS",
  sender: "HELIOG",
  recipient: "15550100100",
  text: "Your order 4711 is on its way.",
  encoding: "gsm7",
  dataCoding: null,
  udh: null,
  erased: false,
  templateName: null,
  status: "Delivered",
  state: "delivered",
  errCode: "000",
  statusDescription: "Delivered to the phone",
  segments: 1,
  credits: 1,
  campaignName: null,
  test: false,
  createdAt: 1767225600000,
  dueAt: null,
  submittedAt: 1767225600012,
  doneAt: 1767225600220,
};

export const getMessage: KeyedRoute = {
  method: "GET",
  path: "/v1/messages/:messageId",
  family: "plain",
  scope: "read",
  testKeys: "read",
  group: "Messages",
  summary: "Read one message",
  description: "Returns the status of a message and its timeline.",
  params: {
    messageId: { meaning: "Message ID as in the send response: `<id>:<n>`.", example: exampleMessage.messageId },
  },
  problems: ["MESSAGE_NOT_FOUND"],
  response: MessageWithTimeline,
  responseExample: {
    ...exampleMessage,
    timeline: [
      { at: 1767225600000, event: "accepted", detail: "1 segment, 1 credit" },
      { at: 1767225600012, event: "sent", detail: "Handed to the network" },
      { at: 1767225600220, event: "delivered", detail: "Delivered to the phone" },
    ],
  },
  handle: getOne,
};

export const LIST_QUERY = {
  status: { ...choiceParameter(CUSTOMER_STATUSES, "Only messages of this status."), example: "Delivered" },
  channel: choiceParameter(CHANNELS, "Only messages of this channel."),
  type: { ...choiceParameter(ROUTE_CLASSES, "Only messages of this route type."), example: "TRANS" },
  recipient: phoneParameter("Only messages to this phone number."),
  recipientEnding: {
    meaning: "Only messages to numbers with these last digits, 4 to 15 of them; exactly 4 for a viewer.",
    schema: Type.String({ pattern: "^[0-9]{4,15}$", examples: ["0100"] }),
  },
  messageId: textParameter("Only this message: `<id>:<n>`.", exampleMessage.messageId),
  carrierMessageId: textParameter(
    "The id that a carrier gave to the message, or to one of its parts.",
    "0198f3a2-7c4c-7a00-8d3e-5b1f0a9c4e21",
  ),
  campaignName: textParameter("Campaign name of the send request.", "autumn"),
  templateName: textParameter(
    "The template of a message, while its text is kept: `templateName`, or `templateId` of a text.",
    "order_shipped",
  ),
  text: textParameter(
    "A part of the text, while it is kept; small and capital letters from a to z are the same. Not for viewers. Has no index: add `from` where there are millions of messages.",
    "order 4711",
  ),
  test: { meaning: "Only messages of test keys, or only of live keys.", schema: Type.Boolean({ examples: [false] }) },
  from: timeParameter("Accepted at this time or later: epoch milliseconds or ISO 8601."),
  to: timeParameter("Accepted before this time.", "end"),
  order: choiceParameter(ORDERS, "Which messages come first. Defaults to `newest`."),
  ...pageParameters(exampleMessage.messageId),
};

const { limit: _limit, cursor: _cursor, order: _order, ...COUNT_QUERY } = LIST_QUERY;

export const countMessages: KeyedRoute = {
  method: "GET",
  path: "/api/message-count",
  family: "plain",
  scope: "manage",
  testKeys: "read",
  group: "Messages",
  summary: "Count messages",
  description: `Counts the messages that match all filters, up to ${COUNT_MAX.toLocaleString("en")} of them, for about two seconds at most; \`more\` is true if the count stopped there.`,
  query: COUNT_QUERY,
  response: CountView,
  responseExample: { count: 1312, more: false },
  handle: count,
};

export const listMessages: KeyedRoute = {
  method: "GET",
  path: "/v1/messages",
  family: "plain",
  scope: "read",
  testKeys: "read",
  group: "Messages",
  summary: "List messages",
  description:
    "Newest first, unless `order` is `oldest`. Filters can be combined, and a message must match all of them. Only the last page can be empty, and others are full unless the search takes long: read on until `nextCursor` is null.",
  query: LIST_QUERY,
  response: Type.Object({
    data: Type.Array(MessageView, { description: "One page of messages." }),
    nextCursor: nullableString("The cursor of the next page; null on the last."),
  }),
  responseExample: { data: [exampleMessage], nextCursor: null },
  handle: getList,
};
