import { Type } from "../../lib/schema.ts";
import { CUSTOMER_EVENTS, tellCustomer } from "../../messages/tell-trail.ts";
import { PAUSED_MS } from "../../model/catalog.ts";
import {
  CHANNELS,
  CUSTOMER_STATUSES,
  customerStatus,
  isErased,
  isSealed,
  messageIdOf,
  parseMessageId,
  ROUTE_CLASSES,
} from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import type { MessageFilter, StoredMessage } from "../../store/store.ts";
import { readLimit, readTime, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

async function getOne({ store }: Services, call: AuthenticCall): Promise<object> {
  const message = await findNamed(store, call);
  const [clicks, answers] = await Promise.all([
    store.listClicksOfMessage(message, CLICKS_TOLD),
    store.listAnswers(message, ANSWERS_TOLD),
  ]);
  return { ...messageView(message), timeline: tellCustomer({ message, clicks, answers }) };
}

/** How many clicks a timeline tells, the latest ones. */
export const CLICKS_TOLD = 100;

/** How many answers a timeline tells, the first ones; `/v1/inbound` has them all. */
export const ANSWERS_TOLD = 100;

/** The message that a path names. */
export async function findNamed(
  store: Services["store"],
  { params, caller }: Pick<AuthenticCall, "params" | "caller">,
): Promise<StoredMessage> {
  const id = parseMessageId(params.messageId ?? "");
  const message = id && (await store.findMessage({ accountId: caller.account.id, ...id }));
  if (!message) throw new Problem("MESSAGE_NOT_FOUND");
  return message;
}

const getList = async ({ store }: Services, call: AuthenticCall): Promise<object> => {
  const { rows, nextCursor } = await readPage(store, call);
  return { data: rows.map(messageView), nextCursor };
};

/** The messages that a query asks for. */
export async function readPage(
  store: Services["store"],
  { query, caller }: Pick<AuthenticCall, "query" | "caller">,
): Promise<{ rows: StoredMessage[]; nextCursor: string | null }> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const filter = readFilter(query, faults);
  const after = query.cursor === undefined ? null : parseMessageId(query.cursor);
  if (query.cursor !== undefined && !after)
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier answer." });
  refuseFaults(faults);
  const { rows, next } = await store.listMessages(caller.account.id, filter, after, limit);
  return { rows, nextCursor: next && messageIdOf(next) };
}

function readFilter(query: AuthenticCall["query"], faults: Fault[]): MessageFilter {
  const status = CUSTOMER_STATUSES.find((known) => known.toLowerCase() === query.status?.toLowerCase());
  if (query.status !== undefined && !status) {
    faults.push({ parameter: "status", message: `status is one of ${CUSTOMER_STATUSES.join(", ")}.` });
  }
  const routeClass = ROUTE_CLASSES.find((known) => known === query.type?.toUpperCase());
  if (query.type !== undefined && !routeClass)
    faults.push({ parameter: "type", message: `type is one of ${ROUTE_CLASSES.join(", ")}.` });
  const recipient = query.recipient === undefined ? undefined : readNumber(query.recipient.trim());
  if (recipient === null)
    faults.push({ parameter: "recipient", message: "recipient is an international phone number." });
  const from = readTime(query, "from", faults);
  const to = readTime(query, "to", faults);
  return {
    ...(status ? { status } : {}),
    ...(recipient ? { recipient } : {}),
    ...(query.channel === undefined ? {} : { channel: query.channel }),
    ...(routeClass ? { routeClass } : {}),
    ...(query.campaignName === undefined ? {} : { campaignName: query.campaignName }),
    ...(query.templateName === undefined ? {} : { templateName: query.templateName }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

/** A message as its customer sees it. */
export function messageView(message: StoredMessage): object {
  const { state, dueAt } = message;
  const waits = state === "accepted" || state === "scheduled";
  return {
    messageId: messageIdOf(message),
    channel: message.channel,
    type: message.routeClass,
    sender: message.sender,
    recipient: message.recipient,
    text: message.content.text,
    erased: isErased(message.content) || isSealed(message.content),
    templateName: "templateName" in message.content ? message.content.templateName : null,
    status: customerStatus(state),
    state,
    errCode: message.errorCode,
    statusDescription: message.description,
    segments: message.segments,
    credits: message.credits,
    campaignName: message.campaignName,
    test: message.test,
    createdAt: message.createdAt,
    dueAt: waits && dueAt < PAUSED_MS ? dueAt : null,
    submittedAt: message.submittedAt,
    doneAt: message.doneAt,
  };
}

const nullableString = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const nullableTime = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description });

/** What the reference says of a message. */
export const MESSAGE_FIELDS = {
  messageId: Type.String({ description: "As in the send response: `<id>:<n>`." }),
  channel: Type.String({ description: `${CHANNELS.join(", ")}; an RCS message that went on as a text is sms.` }),
  type: Type.String({ description: "Route type: TRANS, PROMO or OTP." }),
  sender: Type.String({ description: "The sender, the bot or the business number." }),
  recipient: Type.String({ description: "The phone number, without plus." }),
  text: Type.String({ description: "As it was sent; empty once it was erased, and where cards hold the words." }),
  erased: Type.Boolean({ description: "The time for which texts are kept is over, or it was a one-time password." }),
  templateName: nullableString("The template of a chat-app or RCS message."),
  status: Type.Union(
    CUSTOMER_STATUSES.map((status) => Type.Literal(status)),
    { description: "What to show people." },
  ),
  state: Type.String({ description: "The finer state behind the status." }),
  errCode: nullableString("The carrier's code, or one of Heliograph's own."),
  statusDescription: nullableString("The same in words."),
  segments: Type.Integer({ description: "SMS segments; 1 on the other channels." }),
  credits: Type.Integer({ description: "What it costs." }),
  campaignName: nullableString("The name given when sending."),
  test: Type.Boolean({ description: "Sent with a test key." }),
  createdAt: Type.Integer({ description: "When it was accepted, in epoch milliseconds." }),
  dueAt: nullableTime("Not sent before this time, while it waits; null afterwards, and while its campaign is paused."),
  submittedAt: nullableTime("When a carrier took it."),
  doneAt: nullableTime("When it came to its end."),
};

const MessageView = Type.Object(MESSAGE_FIELDS, { title: "Message" });

const MessageWithTimeline = Type.Object(
  {
    ...MESSAGE_FIELDS,
    timeline: Type.Array(
      Type.Object({
        at: Type.Integer({ description: "When, in epoch milliseconds." }),
        event: Type.Union(
          CUSTOMER_EVENTS.map((event) => Type.Literal(event)),
          { description: "What happened." },
        ),
        detail: Type.String({ description: "The same in words, with what comes next." }),
      }),
      { description: "What happened to it, in order." },
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
  group: "Messages",
  summary: "Read one message",
  description: "Tells what became of a message, and how it came to that.",
  params: { messageId: { meaning: "As in the send response: `<id>:<n>`.", example: exampleMessage.messageId } },
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

/** How a list of messages is narrowed down. */
export const LIST_QUERY = {
  status: { meaning: "Pending, Delivered or Failed.", example: "Delivered" },
  channel: `One of ${CHANNELS.join(", ")}.`,
  type: { meaning: `Route type: one of ${ROUTE_CLASSES.join(", ")}.`, example: "TRANS" },
  recipient: "A phone number.",
  campaignName: "The name given when sending.",
  templateName: "The template of a chat-app or RCS message, while its text is kept.",
  from: "Accepted at this time or later: epoch milliseconds or ISO 8601.",
  to: "Accepted before this time.",
  cursor: "The nextCursor of the page before.",
  limit: { meaning: "1 to 200, 50 unless given.", example: "20" },
};

export const listMessages: KeyedRoute = {
  method: "GET",
  path: "/v1/messages",
  family: "plain",
  scope: "read",
  group: "Messages",
  summary: "List messages",
  description:
    "Newest first. A page can be short, even empty, and still have a `nextCursor` when a filter matches little: go on until it is null.",
  query: LIST_QUERY,
  response: Type.Object({
    data: Type.Array(MessageView, { description: "One page of messages." }),
    nextCursor: nullableString("The cursor of the next page; null on the last."),
  }),
  responseExample: { data: [exampleMessage], nextCursor: null },
  handle: getList,
};
