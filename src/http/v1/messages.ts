import Type from "typebox";
import { CUSTOMER_STATUSES, customerStatus, messageIdOf, parseMessageId } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import type { MessageFilter, StoredMessage } from "../../store/store.ts";
import { readLimit, readTime, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

async function getOne({ store }: Services, { params, caller }: AuthenticCall): Promise<object> {
  const id = parseMessageId(params.messageId ?? "");
  const message = id && (await store.findMessage({ accountId: caller.account.id, ...id }));
  if (!message) throw new Problem("MESSAGE_NOT_FOUND");
  return messageView(message);
}

async function getList({ store }: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const filter = readFilter(query, faults);
  const after = query.cursor === undefined ? null : parseMessageId(query.cursor);
  if (query.cursor !== undefined && !after)
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier answer." });
  refuseFaults(faults);
  const { rows, next } = await store.listMessages(caller.account.id, filter, after, limit);
  return { data: rows.map(messageView), nextCursor: next && messageIdOf(next) };
}

function readFilter(query: AuthenticCall["query"], faults: Fault[]): MessageFilter {
  const status = CUSTOMER_STATUSES.find((known) => known.toLowerCase() === query.status?.toLowerCase());
  if (query.status !== undefined && !status) {
    faults.push({ parameter: "status", message: `status is one of ${CUSTOMER_STATUSES.join(", ")}.` });
  }
  const recipient = query.recipient === undefined ? undefined : readNumber(query.recipient.trim());
  if (recipient === null)
    faults.push({ parameter: "recipient", message: "recipient is an international phone number." });
  const from = readTime(query, "from", faults);
  const to = readTime(query, "to", faults);
  return {
    ...(status ? { status } : {}),
    ...(recipient ? { recipient } : {}),
    ...(query.channel === undefined ? {} : { channel: query.channel }),
    ...(query.campaignName === undefined ? {} : { campaignName: query.campaignName }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

/** A message as its customer sees it. */
function messageView(message: StoredMessage): object {
  return {
    messageId: messageIdOf(message),
    channel: message.channel,
    type: message.routeClass,
    sender: message.sender,
    recipient: message.recipient,
    text: message.content.text,
    status: customerStatus(message.state),
    state: message.state,
    errCode: message.errorCode,
    statusDescription: message.description,
    credits: message.segments,
    campaignName: message.campaignName,
    test: message.test,
    createdAt: message.createdAt,
    submittedAt: message.submittedAt,
    doneAt: message.doneAt,
  };
}

const nullableString = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const nullableTime = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description });

const MessageView = Type.Object(
  {
    messageId: Type.String({ description: "As in the send response: `<id>:<n>`." }),
    channel: Type.String({ description: "sms." }),
    type: Type.String({ description: "Route type: TRANS, PROMO or OTP." }),
    sender: Type.String({ description: "As it was sent." }),
    recipient: Type.String({ description: "The phone number, without plus." }),
    text: Type.String({ description: "As it was sent." }),
    status: Type.Union(
      CUSTOMER_STATUSES.map((status) => Type.Literal(status)),
      { description: "What to show people." },
    ),
    state: Type.String({ description: "The finer state behind the status." }),
    errCode: nullableString("The carrier's code, or one of Heliograph's own."),
    statusDescription: nullableString("The same in words."),
    credits: Type.Integer({ description: "SMS segments." }),
    campaignName: nullableString("The name given when sending."),
    test: Type.Boolean({ description: "Sent with a test key." }),
    createdAt: Type.Integer({ description: "When it was accepted, in epoch milliseconds." }),
    submittedAt: nullableTime("When a carrier took it."),
    doneAt: nullableTime("When it came to its end."),
  },
  { title: "Message" },
);

const example = {
  messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1",
  channel: "sms",
  type: "TRANS",
  sender: "HELIOG",
  recipient: "15550100100",
  text: "Your order 4711 is on its way.",
  status: "Delivered",
  state: "delivered",
  errCode: "000",
  statusDescription: "Delivered to the phone",
  credits: 1,
  campaignName: null,
  test: false,
  createdAt: 1767225600000,
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
  description: "Tells what became of a message.",
  params: { messageId: { meaning: "As in the send response: `<id>:<n>`.", example: example.messageId } },
  problems: ["MESSAGE_NOT_FOUND"],
  response: MessageView,
  responseExample: example,
  handle: getOne,
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
  query: {
    status: { meaning: "Pending, Delivered or Failed.", example: "Delivered" },
    channel: "sms.",
    recipient: "A phone number.",
    campaignName: "The name given when sending.",
    from: "Accepted at this time or later: epoch milliseconds or ISO 8601.",
    to: "Accepted before this time.",
    cursor: "The nextCursor of the page before.",
    limit: { meaning: "1 to 200, 50 unless given.", example: "20" },
  },
  response: Type.Object({
    data: Type.Array(MessageView, { description: "One page of messages." }),
    nextCursor: nullableString("The cursor of the next page; null on the last."),
  }),
  responseExample: { data: [example], nextCursor: null },
  handle: getList,
};
