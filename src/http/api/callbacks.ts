import type { Catalog, EndpointRecord } from "../../catalog/catalog.ts";
import { idFloor, isUuid } from "../../lib/ids.ts";
import { nullable } from "../../lib/nullable.ts";
import { Type, type Schema } from "../../lib/schema.ts";
import { CALLBACK_STATES, messageIdIn } from "../../model/callback.ts";
import { parseMessageId, type MessageRef } from "../../model/message.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import type { CallbackFilter, CallbackPosition, StoredCallback } from "../../store/callback-store.ts";
import { readAttempts } from "../../webhooks/attempt-log.ts";
import { eventName } from "../../webhooks/event-json.ts";
import { readLimit, readTime, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { refuseDisabled } from "./find-endpoint.ts";
import { requestFields, requestNow, sentExample } from "./trials.ts";

/** No message has more to be told of it than can be looked at in one go. */
const OF_ONE_MESSAGE_MAX = 1000;

/** The endpoint of an id, on or off; null when it is gone. */
export const endpointIn = (catalog: Catalog, accountId: number, id: string): EndpointRecord | null =>
  catalog.find(accountId, "webhook", id) ?? catalog.find(accountId, "dlrConfig", id);

const idOf = ({ eventId, endpointId }: CallbackPosition): string => `${eventId}:${endpointId}`;

/** Reads `<eventId>:<endpointId>`; null for anything else. */
function parseId(written: string): CallbackPosition | null {
  const [eventId = "", endpointId = "", ...rest] = written.split(":");
  return isUuid(eventId) && isUuid(endpointId) && rest.length === 0 ? { eventId, endpointId } : null;
}

function callbackView({ catalog }: Services, callback: StoredCallback): object {
  const { accountId, eventId, endpointId, happening, state, attempts, dueAt, doneAt, log } = callback;
  return {
    id: idOf(callback),
    eventId,
    endpointId,
    endpoint: endpointIn(catalog, accountId, endpointId)?.name ?? null,
    event: eventName(happening),
    status: happening.kind === "status" ? happening.status : null,
    messageId: messageIdIn(happening),
    happenedAt: happening.at,
    state,
    tries: attempts,
    nextTryAt: state === "waiting" ? dueAt : null,
    doneAt,
    lastAttempt: readAttempts(log).at(-1) ?? null,
  };
}

async function findNamed(services: Services, { params, caller }: AuthenticCall): Promise<StoredCallback> {
  const position = parseId(params.id ?? "");
  const found = position && (await services.store.findCallback({ accountId: caller.account.id, ...position }));
  if (!found) throw new Problem("RECORD_NOT_FOUND", { message: "There is no callback of this id." });
  return found;
}

async function getOne(services: Services, call: AuthenticCall): Promise<object> {
  await services.catalog.refresh();
  const callback = await findNamed(services, call);
  const endpoint = endpointIn(services.catalog, callback.accountId, callback.endpointId);
  return {
    ...callbackView(services, callback),
    request: endpoint && requestNow(services, endpoint, callback),
    attempts: readAttempts(callback.log),
  };
}

async function getList(services: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const filter = readFilter(query, faults);
  const after = query.cursor === undefined ? null : parseId(query.cursor);
  if (query.cursor !== undefined && !after)
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier answer." });
  const message = query.messageId === undefined ? null : parseMessageId(query.messageId);
  if (query.messageId !== undefined && !message)
    faults.push({ parameter: "messageId", message: "messageId is as in the send response: <id>:<n>." });
  refuseFaults(faults);
  await services.catalog.refresh();
  const accountId = caller.account.id;
  const { rows, next } = message
    ? await listOfMessage(services, { accountId, ...message }, filter, after, limit)
    : await services.store.listCallbacks(accountId, filter, after, limit);
  return { data: rows.map((row) => callbackView(services, row)), nextCursor: next && idOf(next) };
}

/** The few callbacks of one message are read together and narrowed down here. */
async function listOfMessage(
  { store }: Services,
  ref: MessageRef,
  filter: CallbackFilter,
  after: CallbackPosition | null,
  limit: number,
): Promise<{ rows: StoredCallback[]; next: CallbackPosition | null }> {
  const { endpointId, state, from, to } = filter;
  const all = await store.listCallbacksOfMessage(ref, OF_ONE_MESSAGE_MAX);
  const left = all
    .filter((row) => endpointId === undefined || row.endpointId === endpointId)
    .filter((row) => state === undefined || row.state === state)
    .filter(({ eventId }) => from === undefined || eventId >= idFloor(from))
    .filter(({ eventId }) => to === undefined || eventId < idFloor(to))
    .filter((row) => after === null || idOf(row) < idOf(after))
    .toSorted((a, b) => (idOf(a) < idOf(b) ? 1 : -1));
  const rows = left.slice(0, limit);
  return { rows, next: left.length > limit ? (rows.at(-1) ?? null) : null };
}

function readFilter(query: AuthenticCall["query"], faults: Fault[]): CallbackFilter {
  const state = CALLBACK_STATES.find((known) => known === query.state);
  if (query.state !== undefined && !state)
    faults.push({ parameter: "state", message: `state is one of ${CALLBACK_STATES.join(", ")}.` });
  const { endpointId } = query;
  if (endpointId !== undefined && !isUuid(endpointId))
    faults.push({ parameter: "endpointId", message: "endpointId is the id of a webhook or of a dlr-config." });
  const from = readTime(query, "from", faults);
  const to = readTime(query, "to", faults);
  return {
    ...(endpointId === undefined ? {} : { endpointId }),
    ...(state ? { state } : {}),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

async function resend(services: Services, call: AuthenticCall): Promise<object> {
  const { store, catalog, clock, teller } = services;
  await catalog.refresh();
  const callback = await findNamed(services, call);
  const endpoint = endpointIn(catalog, callback.accountId, callback.endpointId);
  if (!endpoint) throw new Problem("NOT_RESENDABLE", { message: "Its endpoint is gone: there is nobody to tell." });
  refuseDisabled(endpoint);
  if (!(await store.resendCallback(callback, clock.now()))) {
    const due = new Date(callback.dueAt).toISOString();
    throw new Problem("NOT_RESENDABLE", { message: `It waits already; the next try is at ${due}.` });
  }
  const waiting = await findNamed(services, call);
  teller?.claimSoon();
  return callbackView(services, waiting);
}

const time = (description: string): Schema => nullable(Type.Integer(), description);

const Attempt = {
  at: Type.Integer({ description: "When it ended, in epoch milliseconds." }),
  ms: Type.Integer({ description: "How long it took." }),
  status: nullable(Type.Integer(), "Of the answer; null when there was none, or nothing was sent."),
  reason: nullable(Type.String(), "Why it failed; null when it did not."),
  excerpt: Type.String({ description: "The beginning of what was answered." }),
  nextTryAt: time("When the next try was to be; null when there was to be none."),
};

const fields = {
  id: Type.String({ description: "`<eventId>:<endpointId>`." }),
  eventId: Type.String({ description: "Names what happened: the `webhook-id` of every try." }),
  endpointId: Type.String({ description: "The webhook or dlr-config that is told." }),
  endpoint: nullable(Type.String(), "Its name; null when it is gone."),
  event: Type.String({
    description: "delivery_report, message_status, message_sent, user_message, link_click or verification_status.",
  }),
  status: nullable(Type.String(), "Of a status, which: sent, delivered, read, failed, or unknown."),
  messageId: nullable(Type.String(), "The message that it is about; null where that is not known."),
  happenedAt: Type.Integer({ description: "When it happened, in epoch milliseconds." }),
  state: Type.Union(
    CALLBACK_STATES.map((state) => Type.Literal(state)),
    {
      description:
        "waiting: for its first or next try. delivered: a 2xx came back. exhausted: tried as often as it is. dropped: its endpoint is gone, was switched off, or asks for something else.",
    },
  ),
  tries: Type.Integer({ description: "How often it was tried, since it was last sent again." }),
  nextTryAt: time("When it is tried next; null unless it waits."),
  doneAt: time("When it came to its end."),
  lastAttempt: nullable(Type.Object(Attempt), "The last try; null before the first."),
};

const CallbackView = Type.Object(fields, { title: "Callback" });

const CallbackWithAttempts = Type.Object(
  {
    ...fields,
    request: nullable(requestFields, "The request as it would be made now; null when there is nobody to tell."),
    attempts: Type.Array(Type.Object(Attempt), { description: "Every try, in order." }),
  },
  { title: "CallbackWithAttempts" },
);

const attempts = [
  {
    at: 1767225600310,
    ms: 52,
    status: 500,
    reason: "answered 500",
    excerpt: "Something went wrong",
    nextTryAt: 1767225605120,
  },
  { at: 1767225605170, ms: 41, status: 200, reason: null, excerpt: "ok", nextTryAt: null },
];
const sample = sentExample(true);
const example = {
  id: `${sample.eventId}:0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47`,
  eventId: sample.eventId,
  endpointId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
  endpoint: "RCS events",
  event: "message_status",
  status: "delivered",
  messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1",
  happenedAt: 1767225600250,
  state: "delivered",
  tries: 2,
  nextTryAt: null,
  doneAt: 1767225605170,
  lastAttempt: attempts[1],
};

const common = { family: "plain", scope: "manage", group: "Callback log" } as const;
const ofOne = {
  params: { id: { meaning: "`<eventId>:<endpointId>`, as a list shows it.", example: example.id } },
} as const;

export const listCallbacks: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/callbacks",
  summary: "List callbacks",
  description:
    "What webhooks and delivery reports were told, or are to be told, newest first. A page can be short, even empty, and still have a `nextCursor` when a filter matches little: go on until it is null.",
  query: {
    endpointId: "Only those of this webhook or dlr-config.",
    state: { meaning: `One of ${CALLBACK_STATES.join(", ")}.`, example: "delivered" },
    messageId: "Only those about this message.",
    from: "What happened at this time or later: epoch milliseconds or ISO 8601.",
    to: "What happened before this time.",
    cursor: "The nextCursor of the page before.",
    limit: { meaning: "1 to 200, 50 unless given.", example: "20" },
  },
  response: Type.Object({
    data: Type.Array(CallbackView, { description: "One page of callbacks." }),
    nextCursor: nullable(Type.String(), "The cursor of the next page; null on the last."),
  }),
  responseExample: { data: [example], nextCursor: null },
  handle: getList,
};

export const getCallback: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "GET",
  path: "/api/callbacks/:id",
  summary: "Read a callback",
  description: "One callback with every try: what was answered, how long it took, why it failed and when the next was.",
  problems: ["RECORD_NOT_FOUND"],
  response: CallbackWithAttempts,
  responseExample: { ...example, request: sample.request, attempts },
  handle: getOne,
};

export const resendCallback: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "POST",
  path: "/api/callbacks/:id/resend",
  summary: "Send a callback again",
  description:
    "Puts a callback that has come to its end, delivered or not, back to waiting, with all its tries before it. It goes out at once, under the same `webhook-id`.",
  problems: ["RECORD_NOT_FOUND", "NOT_RESENDABLE"],
  response: CallbackView,
  responseExample: { ...example, state: "waiting", tries: 0, nextTryAt: 1767225700000, doneAt: null },
  handle: resend,
};
