import { isUuid } from "../../lib/ids.ts";
import { nullable, Type, type Infer } from "../../lib/schema.ts";
import { SESSION_MS } from "../../model/chatapp.ts";
import { CONVERSATION_STATES, type StoredConversation } from "../../model/conversation.ts";
import type { InboundMessage } from "../../model/inbound.ts";
import { SEND_CHANNELS } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import type { StoredMessage } from "../../store/store.ts";
import { CountView, countView } from "../count.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";
import { seesMasked } from "../hide-numbers.ts";
import { readLimit } from "../pagination.ts";
import { choiceParameter, pageParameters, phoneParameter, textParameter } from "../parameters.ts";
import { keyedRoute, type AuthenticCall, type KeyedRoute, type Services, type WithBody } from "../route.ts";
import { bookOf, contactExample, readNamePart } from "./contacts.ts";
import { inboundExample, InboundView, viewInbound } from "./inbound.ts";
import { exampleMessage, messageView, MessageView } from "./messages.ts";

export const EXAMPLE_CONVERSATION = "0198f3a2-7c40-8d1e-9a51-3f0c8e2b6d47";
const UNREAD_MAX = 99;
const USERS_MAX = 200;

/** The conversation of the path. */
export async function findConversation(
  { store }: Pick<Services, "store">,
  { params: { id = "" }, caller }: Pick<AuthenticCall, "params" | "caller">,
): Promise<StoredConversation> {
  const found = isUuid(id) ? await store.findConversation({ accountId: caller.account.id, id }) : null;
  if (!found || found.test !== seesTestsOnly(caller))
    throw new Problem("RECORD_NOT_FOUND", { message: "There is no conversation with this id." });
  return found;
}

/** End of the time in which free text may be sent; null where it always may. */
const windowOf = ({ channel, lastAt }: StoredConversation): number | null =>
  channel === "chatapp" ? lastAt + SESSION_MS : null;

/** The last inbound message, as it is stored and as it is shown. */
interface Last {
  stored: InboundMessage | undefined;
  view: object | null;
}

function view(conversation: StoredConversation, name: string | null, last: Last): object {
  const { id, channel, number, sender, state, unread, lastAt, assignedTo } = conversation;
  return {
    id,
    channel,
    number,
    name,
    sender,
    state,
    unread,
    lastAt,
    lastMessage: last.view,
    assignedTo,
    textUntil: windowOf(conversation),
    showsReads: channel !== "sms" && last.stored?.origin !== undefined,
  };
}

async function viewsOf(
  services: Services,
  caller: AuthenticCall["caller"],
  conversations: readonly StoredConversation[],
): Promise<object[]> {
  const { store } = services;
  const numbers = [...new Set(conversations.map(({ number }) => number))];
  const [last, names] = await Promise.all([
    store.findLastInbound(conversations),
    store.findContactNames(bookOf(caller), numbers),
  ]);
  const views = await viewInbound(services, [...last.values()]);
  const viewOfLast = new Map([...last.keys()].map((id, index) => [id, views[index] ?? null]));
  return conversations.map((conversation) => {
    const { id, number } = conversation;
    const lastOne = { stored: last.get(id), view: viewOfLast.get(id) ?? null };
    return view(conversation, names.get(number) ?? null, lastOne);
  });
}

async function viewOf(services: Services, call: AuthenticCall): Promise<object> {
  const [one = {}] = await viewsOf(services, call.caller, [await findConversation(services, call)]);
  return one;
}

const CURSOR = /^([01]):(\d{1,15}):([0-9a-f-]{36})$/;

async function list(services: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const state = CONVERSATION_STATES.find((known) => known === query.state);
  if (query.state !== undefined && !state)
    faults.push({ parameter: "state", message: `state is one of ${CONVERSATION_STATES.join(", ")}.` });
  const channel = SEND_CHANNELS.find((known) => known === query.channel);
  if (query.channel !== undefined && !channel)
    faults.push({ parameter: "channel", message: `channel is one of ${SEND_CHANNELS.join(", ")}.` });
  const number = query.number === undefined ? undefined : readNumber(query.number.trim());
  if (number === null) faults.push({ parameter: "number", message: "number is an international phone number." });
  const text = readNamePart(query, faults);
  const assignedTo = readAssignee(query.assignedTo, caller);
  if (assignedTo !== null && assignedTo !== undefined && !isUuid(assignedTo))
    faults.push({ parameter: "assignedTo", message: "assignedTo is me, nobody, or the id of a user." });
  if (query.unread !== undefined && query.unread !== "true")
    faults.push({ parameter: "unread", message: "unread is true, or left out." });
  const [, isUnread, lastAt, id = ""] = CURSOR.exec(query.cursor ?? "") ?? [];
  if (query.cursor !== undefined && !isUuid(id))
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
  refuseFaults(faults);
  const filter = {
    test: seesTestsOnly(caller),
    ...(state && { state }),
    ...(channel && { channel }),
    ...(number !== undefined && number !== null && { number }),
    ...(text !== undefined && { search: { text, isMasked: seesMasked(caller) } }),
    ...(assignedTo !== undefined && { assignedTo }),
    ...(query.unread === "true" && { unread: true as const }),
  };
  const after = query.cursor === undefined ? null : { isUnread: isUnread === "1", lastAt: Number(lastAt), id };
  const { rows, next } = await services.store.listConversations(caller.account.id, filter, after, limit);
  return {
    data: await viewsOf(services, caller, rows),
    nextCursor: next && `${next.isUnread ? 1 : 0}:${next.lastAt}:${next.id}`,
  };
}

/** A key has no user, so that "me" matches nothing. */
const NO_USER = "00000000-0000-0000-0000-000000000000";

function readAssignee(written: string | undefined, { actor }: AuthenticCall["caller"]): string | null | undefined {
  if (written === "nobody") return null;
  return written === "me" ? (actor.kind === "user" ? (actor.id ?? NO_USER) : NO_USER) : written;
}

/** A message of a conversation in one of both directions, with its place in the order. */
type Item = { id: string; n: number } & ({ inbound: InboundMessage } | { message: StoredMessage });

const ITEM_CURSOR = /^([0-9a-f-]{36}):(\d{1,9})$/;

/** Both directions in one order, newest first: the ids of both begin with their time. */
async function listItems(services: Services, call: AuthenticCall): Promise<object> {
  const { store } = services;
  const faults: Fault[] = [];
  const limit = readLimit(call.query, faults);
  const [, cursorId = "", cursorN] = ITEM_CURSOR.exec(call.query.cursor ?? "") ?? [];
  if (call.query.cursor !== undefined && !isUuid(cursorId))
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
  refuseFaults(faults);
  const conversation = await findConversation(services, call);
  const { accountId, channel, number, sender, test } = conversation;
  const after = cursorId === "" ? null : { requestId: cursorId, n: Number(cursorN) };
  const spellings = [...new Set([sender, sender.replace(/^\+/, ""), `+${sender.replace(/^\+/, "")}`])];
  const [received, sent] = await Promise.all([
    store.listInbound(accountId, { channel, from: number, to: sender, test }, after?.requestId ?? null, limit + 1),
    store.listMessages(accountId, { channel, recipient: number, senders: spellings, test }, after, limit + 1),
  ]);
  const items: Item[] = [
    ...received.rows.map((inbound) => ({ id: inbound.id, n: 0, inbound })),
    ...sent.rows.map((message) => ({ id: message.requestId, n: message.n, message })),
  ];
  // A direction whose page is short before its end bounds the other one.
  const bounds = [
    received.next === null ? null : { id: received.next, n: 0 },
    sent.next && { id: sent.next.requestId, n: sent.next.n },
  ].flatMap((bound) => bound ?? []);
  const known = items.filter((item) => bounds.every((bound) => compare(item, bound) <= 0)).toSorted(compare);
  const page = known.slice(0, limit);
  const last = page.at(-1);
  const hasMore = known.length > limit || bounds.length > 0;
  const views = await viewInbound(
    services,
    page.flatMap((item) => ("inbound" in item ? [item.inbound] : [])),
  );
  const inboundViews = views.values();
  return {
    data: page.map((item) => itemView(item, inboundViews)),
    nextCursor: last && hasMore ? `${last.id}:${last.n}` : null,
  };
}

/** Newest first. */
const compare = (a: Pick<Item, "id" | "n">, b: Pick<Item, "id" | "n">): number =>
  a.id === b.id ? b.n - a.n : a.id < b.id ? 1 : -1;

/** The views of inbound messages come in the order of the page. */
const itemView = (item: Item, views: Iterator<object>): object =>
  "inbound" in item
    ? { direction: "in", at: item.inbound.at, inbound: views.next().value, message: null }
    : { direction: "out", at: item.message.createdAt, inbound: null, message: messageView(item.message) };

async function change(services: Services, call: WithBody<AuthenticCall, typeof ConversationChanges>): Promise<object> {
  const { store } = services;
  const { state, assignedTo, read } = call.body;
  const conversation = await findConversation(services, call);
  const { accountId } = conversation;
  if (typeof assignedTo === "string") {
    const user = isUuid(assignedTo) ? await store.findUserById({ accountId, id: assignedTo }) : null;
    if (!user || user.role === "viewer")
      throw new Problem("INVALID_REQUEST", {
        faults: [
          {
            parameter: "assignedTo",
            message: "The id of a member or owner: GET /v1/conversations/assignees lists them.",
          },
        ],
      });
  }
  await store.changeConversation(conversation, { state, assignedTo, ...(read && { read: conversation.unread }) });
  return viewOf(services, call);
}

const ConversationChanges = Type.Object({
  state: Type.Optional(
    Type.Union(
      CONVERSATION_STATES.map((state) => Type.Literal(state)),
      { description: "closed: done. The next message of the user opens it again." },
    ),
  ),
  assignedTo: Type.Optional(nullable(Type.String(), "ID of the user who answers; null for none.")),
  read: Type.Optional(Type.Literal(true, { description: "Marks the messages so far as read." })),
});

const ConversationView = Type.Object(
  {
    id: Type.String({ description: "ID of the conversation." }),
    channel: Type.String({ description: `${SEND_CHANNELS.join(", ")}.` }),
    number: Type.String({ description: "Phone number of the user, without plus." }),
    name: nullable(Type.String(), "Name of the contact with this number; null if there is none."),
    sender: Type.String({ description: "Sender ID, bot or business number that the user writes to." }),
    state: Type.Union(
      CONVERSATION_STATES.map((state) => Type.Literal(state)),
      { description: "closed until the user writes again." },
    ),
    unread: Type.Integer({ description: "Inbound messages since it was read." }),
    lastAt: Type.Integer({ description: "Time of the last inbound message, in epoch milliseconds." }),
    lastMessage: nullable(InboundView, "The last inbound message; null once it is deleted."),
    assignedTo: nullable(Type.String(), "ID of the user who answers; null for none."),
    textUntil: nullable(
      Type.Integer(),
      "Chat app: until then free text may be sent, 24 hours after the user's last message; null on other channels.",
    ),
    showsReads: Type.Boolean({
      description:
        "True if the user can be shown that the last message was read, and that an answer is being typed: `POST /v1/inbound/{id}/read`.",
    }),
  },
  { title: "Conversation" },
);

const example = {
  id: EXAMPLE_CONVERSATION,
  channel: "chatapp",
  number: "15550100100",
  name: contactExample.name,
  sender: "+15550100199",
  state: "open",
  unread: 1,
  lastAt: inboundExample.receivedAt,
  lastMessage: inboundExample,
  assignedTo: null,
  textUntil: inboundExample.receivedAt + SESSION_MS,
  showsReads: true,
};

const ItemView = Type.Object({
  direction: Type.Union([Type.Literal("in"), Type.Literal("out")], {
    description: "in: from the user. out: to the user.",
  }),
  at: Type.Integer({ description: "Epoch milliseconds." }),
  inbound: nullable(InboundView, "The message from the user; null for out."),
  message: nullable(MessageView, "The message to the user; null for in."),
});

const AssigneeView = Type.Object({
  id: Type.String({ description: "User ID." }),
  name: Type.String({ description: "Name, or the e-mail address." }),
});

type AssigneeFields = Infer<typeof AssigneeView>;

const reading = { method: "GET", family: "plain", scope: "read", testKeys: "read", group: "Conversations" } as const;
const ofOne = {
  params: { id: { meaning: "ID of the conversation.", example: EXAMPLE_CONVERSATION } },
  problems: ["RECORD_NOT_FOUND"],
} as const;
const nextCursor = nullable(Type.String(), "Cursor of the next page; null on the last page.");

export const conversationRoutes: readonly KeyedRoute[] = [
  {
    ...reading,
    path: "/v1/conversations",
    summary: "List conversations",
    description:
      "Lists what users wrote, by number, channel and sender: unread ones first, then the newest. A filtered page may be short and still have a `nextCursor`; continue until it is null. Test keys have conversations of their own.",
    query: {
      state: { ...choiceParameter(CONVERSATION_STATES, "Only conversations in this state."), example: "open" },
      unread: choiceParameter(["true"], "Only those with unread messages."),
      channel: choiceParameter(SEND_CHANNELS, "Only those on this channel."),
      number: phoneParameter("Only those with this number."),
      q: textParameter("Part of the number, or of the name of its contact.", "Ada"),
      assignedTo: textParameter("Only those assigned to `me`, to `nobody`, or to the user with this id.", "nobody"),
      ...pageParameters(`1:1767225604880:${EXAMPLE_CONVERSATION}`),
    },
    response: Type.Object({
      data: Type.Array(ConversationView, { description: "Conversations on this page." }),
      nextCursor,
    }),
    responseExample: { data: [example], nextCursor: null },
    handle: list,
  },
  {
    ...reading,
    path: "/v1/conversations/unread-count",
    summary: "Count unread conversations",
    description: `Counts the conversations with unread messages, up to ${UNREAD_MAX}.`,
    response: CountView,
    responseExample: { count: 3, more: false },
    handle: async ({ store }, { caller }) =>
      countView(
        await store.countUnreadConversations(caller.account.id, seesTestsOnly(caller), UNREAD_MAX + 1),
        UNREAD_MAX,
      ),
  },
  {
    ...reading,
    testKeys: null,
    path: "/v1/conversations/assignees",
    summary: "List assignees",
    description: "Lists the users to whom a conversation can be assigned: members and owners, at most 200.",
    response: Type.Object({ data: Type.Array(AssigneeView, { description: "Users." }) }),
    responseExample: { data: [{ id: EXAMPLE_CONVERSATION, name: "Grace" }] },
    handle: async ({ store }, { caller }) => {
      const { rows } = await store.listUsers(caller.account.id, null, USERS_MAX);
      const answering = rows.filter(({ role, disabled }) => role !== "viewer" && !disabled);
      return { data: answering.map(({ id, name, email }): AssigneeFields => ({ id, name: name || email })) };
    },
  },
  {
    ...reading,
    ...ofOne,
    path: "/v1/conversations/:id",
    summary: "Get a conversation",
    description: "Returns a conversation with its last inbound message.",
    response: ConversationView,
    responseExample: example,
    handle: viewOf,
  },
  keyedRoute({
    ...ofOne,
    method: "PATCH",
    family: "plain",
    scope: "sms",
    testKeys: "sms",
    group: "Conversations",
    path: "/v1/conversations/:id",
    summary: "Update a conversation",
    description: "Assigns a conversation to a user, marks it as read, closes it or opens it again.",
    body: ConversationChanges,
    requestExamples: { read: { read: true }, close: { state: "closed" }, release: { assignedTo: null } },
    response: ConversationView,
    responseExample: { ...example, unread: 0 },
    handle: change,
  }),
  {
    ...reading,
    ...ofOne,
    path: "/v1/conversations/:id/messages",
    summary: "List messages of a conversation",
    description:
      "Lists the messages in both directions, newest first: those of `GET /v1/inbound` from the number to the sender, and those of `GET /v1/messages` from the sender to the number. A page may be short and still have a `nextCursor`; continue until it is null.",
    query: pageParameters(`${inboundExample.id}:0`),
    response: Type.Object({ data: Type.Array(ItemView, { description: "Messages on this page." }), nextCursor }),
    responseExample: {
      data: [
        { direction: "out", at: exampleMessage.createdAt, inbound: null, message: exampleMessage },
        { direction: "in", at: inboundExample.receivedAt, inbound: inboundExample, message: null },
      ],
      nextCursor: null,
    },
    handle: listItems,
  },
];
