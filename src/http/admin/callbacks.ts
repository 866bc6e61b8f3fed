import type { Catalog, EndpointRecord } from "../../records/catalog.ts";
import { idFloor, isUuid } from "../../lib/ids.ts";
import { nullable, Type, type Schema } from "../../lib/schema.ts";
import { CALLBACK_STATES, messageIdIn, type CustomerEvent } from "../../model/callback.ts";
import { parseMessageId, type MessageRef } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import { HELD, type CallbackFilter, type CallbackPosition, type StoredCallback } from "../../store/callbacks.ts";
import { readAttempts } from "../../webhooks/attempt-log.ts";
import { eventName } from "../../webhooks/payloads/event-json.ts";
import { readLimit, readTime } from "../pagination.ts";
import { choiceParameter, pageParameters, phoneParameter, textParameter, timeParameter } from "../parameters.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { eventsVisibleTo, seesTestsOnly } from "../auth/test-mode.ts";
import { refuseDisabled } from "./find-endpoint.ts";
import { requestFields, requestNow, sentExample } from "./trials.ts";

/** Upper bound of callbacks per message, so that they can be read in one query. */
const OF_ONE_MESSAGE_MAX = 1000;
/** Latest messages to and from a phone whose callbacks are listed. */
const OF_ONE_PHONE = 50;

/** Finds the endpoint by id, enabled or not; null if it was deleted. */
export const endpointIn = (catalog: Catalog, accountId: number, id: string): EndpointRecord | null =>
  catalog.find(accountId, "webhook", id) ?? catalog.find(accountId, "dlrConfig", id);

/** The facade of a callback that a request asked for; null for others. */
export const facadeOf = (happening: CustomerEvent): string | null =>
  happening.kind === "state" ? (happening.message.callback?.kind ?? null) : null;

/** The status or state that a callback reports; null for other events. */
export function statusOf(happening: CustomerEvent): string | null {
  if (happening.kind === "state") return happening.state;
  return happening.kind === "status" ? happening.status : null;
}

const idOf = ({ eventId, endpointId }: CallbackPosition): string => `${eventId}:${endpointId}`;

/** Parses `<eventId>:<endpointId>`; null if the format is wrong. */
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
    endpoint: endpointIn(catalog, accountId, endpointId)?.name ?? facadeOf(happening),
    event: eventName(happening),
    status: statusOf(happening),
    messageId: messageIdIn(happening),
    happenedAt: happening.at,
    state,
    tries: attempts,
    nextTryAt: state === "waiting" && dueAt !== HELD ? dueAt : null,
    doneAt,
    lastAttempt: readAttempts(log).at(-1) ?? null,
  };
}

async function findNamed(services: Services, { params, caller }: AuthenticCall): Promise<StoredCallback> {
  const position = parseId(params.id ?? "");
  const { store } = services;
  const stored = position && (await store.findCallback({ accountId: caller.account.id, ...position }));
  const [found] = stored ? await eventsVisibleTo(store, caller, [stored]) : [];
  if (!found) throw new Problem("RECORD_NOT_FOUND", { message: "There is no callback with this id." });
  return found;
}

async function getOne(services: Services, call: AuthenticCall): Promise<object> {
  await services.catalog.refresh();
  const callback = await findNamed(services, call);
  const endpoint = endpointIn(services.catalog, callback.accountId, callback.endpointId);
  return {
    ...callbackView(services, callback),
    // Test keys may not see the URL and signature, which are live configuration.
    request: endpoint && !seesTestsOnly(call.caller) ? requestNow(services, endpoint, callback) : null,
    attempts: readAttempts(callback.log),
  };
}

async function getList(services: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const filter = readFilter(query, faults);
  const after = query.cursor === undefined ? null : parseId(query.cursor);
  if (query.cursor !== undefined && !after)
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
  const message = query.messageId === undefined ? null : parseMessageId(query.messageId);
  if (query.messageId !== undefined && !message)
    faults.push({ parameter: "messageId", message: "messageId must be as in the send response: <id>:<n>." });
  const phone = query.phone === undefined ? undefined : readNumber(query.phone.trim());
  if (phone === null) faults.push({ parameter: "phone", message: "phone must be a whole international phone number." });
  refuseFaults(faults);
  await services.catalog.refresh();
  const accountId = caller.account.id;
  const { rows, next } = message
    ? pageOf(await newestOfMessage(services, { accountId, ...message }, phone ?? null), filter, after, limit)
    : phone
      ? pageOf(await newestOfPhone(services, accountId, phone), filter, after, limit)
      : await services.store.listCallbacks(accountId, filter, after, limit);
  const visible = await eventsVisibleTo(services.store, caller, rows);
  return { data: visible.map((row) => callbackView(services, row)), nextCursor: next && idOf(next) };
}

/** Callbacks about a message; none if it is not of the given phone. */
async function newestOfMessage(
  { store }: Services,
  ref: MessageRef,
  phone: string | null,
): Promise<readonly StoredCallback[]> {
  if (phone !== null && (await store.findMessage(ref))?.recipient !== phone) return [];
  return (await store.listCallbacksOfMessage(ref, OF_ONE_MESSAGE_MAX)).toReversed();
}

/** Callbacks about the latest messages to and from one phone. */
async function newestOfPhone(
  { store }: Services,
  accountId: number,
  phone: string,
): Promise<readonly StoredCallback[]> {
  const [sent, received] = await Promise.all([
    store.listMessages(accountId, { recipient: phone }, null, OF_ONE_PHONE),
    store.listInbound(accountId, { from: phone }, null, OF_ONE_PHONE),
  ]);
  const inboundIds = received.rows.map(({ id }) => id);
  return store.listCallbacksAbout(accountId, sent.rows, inboundIds, OF_ONE_MESSAGE_MAX);
}

/** Filters and paginates in memory, because a message or a phone has few callbacks. */
function pageOf(
  newestFirst: readonly StoredCallback[],
  { endpointId, state, from, to }: CallbackFilter,
  after: CallbackPosition | null,
  limit: number,
): { rows: StoredCallback[]; next: CallbackPosition | null } {
  const last = after && newestFirst.findIndex((row) => idOf(row) === idOf(after));
  const left = newestFirst
    .slice(last === null ? 0 : last === -1 ? newestFirst.length : last + 1)
    .filter((row) => endpointId === undefined || row.endpointId === endpointId)
    .filter((row) => state === undefined || row.state === state)
    .filter(({ eventId }) => from === undefined || eventId >= idFloor(from))
    .filter(({ eventId }) => to === undefined || eventId < idFloor(to));
  const rows = left.slice(0, limit);
  return { rows, next: left.length > limit ? (rows.at(-1) ?? null) : null };
}

function readFilter(query: AuthenticCall["query"], faults: Fault[]): CallbackFilter {
  const state = CALLBACK_STATES.find((known) => known === query.state);
  if (query.state !== undefined && !state)
    faults.push({ parameter: "state", message: `state must be one of ${CALLBACK_STATES.join(", ")}.` });
  const { endpointId } = query;
  if (endpointId !== undefined && !isUuid(endpointId))
    faults.push({ parameter: "endpointId", message: "endpointId must be the id of a webhook or dlr-config." });
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
  const { store, catalog, clock, webhookDispatcher } = services;
  await catalog.refresh();
  const callback = await findNamed(services, call);
  const endpoint = endpointIn(catalog, callback.accountId, callback.endpointId);
  if (!endpoint)
    throw new Problem("NOT_RESENDABLE", {
      message: "Its webhook or dlr-config was deleted, so it cannot be resent.",
    });
  refuseDisabled(endpoint);
  const now = clock.now();
  if (!(await store.resendCallback(callback, now))) {
    const due = new Date(callback.dueAt).toISOString();
    throw new Problem("NOT_RESENDABLE", { message: `The callback is already waiting; its next attempt is at ${due}.` });
  }
  webhookDispatcher?.claimSoon();
  // As it was stored: the attempt may be over before it is read again.
  return callbackView(services, { ...callback, state: "waiting", attempts: 0, dueAt: now, doneAt: null });
}

const time = (description: string): Schema => nullable(Type.Integer(), description);

const Attempt = {
  at: Type.Integer({ description: "End of the attempt, in epoch milliseconds." }),
  ms: Type.Integer({ description: "Duration of the attempt." }),
  status: nullable(Type.Integer(), "HTTP status of the response; null if there was none or nothing was sent."),
  reason: nullable(Type.String(), "Reason of the failure; null if the attempt succeeded."),
  excerpt: Type.String({ description: "First part of the response body." }),
  nextTryAt: time("Time of the following attempt; null if none was planned."),
};

const fields = {
  id: Type.String({ description: "`<eventId>:<endpointId>`." }),
  eventId: Type.String({ description: "Event ID, sent as `webhook-id` with every attempt." }),
  endpointId: Type.String({ description: "ID of the webhook or dlr-config that receives the callback." }),
  endpoint: nullable(Type.String(), "Name of the endpoint; null if it was deleted."),
  event: Type.String({
    description:
      "delivery_report, message_status, message_sent, user_message, link_click, verification_status or alert_status.",
  }),
  status: nullable(
    Type.String(),
    "For status events: sent, delivered, read, failed or unknown. For callbacks of a facade: the message's state.",
  ),
  messageId: nullable(Type.String(), "Message that the event belongs to; null if unknown."),
  happenedAt: Type.Integer({ description: "Time of the event, in epoch milliseconds." }),
  state: Type.Union(
    CALLBACK_STATES.map((state) => Type.Literal(state)),
    {
      description:
        "waiting: before its first or next attempt. delivered: the endpoint answered 2xx. exhausted: all attempts failed. dropped: the endpoint was deleted, disabled or no longer subscribes to the event.",
    },
  ),
  tries: Type.Integer({ description: "Attempts since it was created or last resent." }),
  nextTryAt: time("Time of the next attempt; null unless waiting, and while the endpoint is disabled."),
  doneAt: time("Time at which it left the state waiting."),
  lastAttempt: nullable(Type.Object(Attempt), "Most recent attempt; null before the first."),
};

const CallbackView = Type.Object(fields, { title: "Callback" });

const CallbackWithAttempts = Type.Object(
  {
    ...fields,
    request: nullable(requestFields, "Request as it would be sent now; null if the endpoint was deleted."),
    attempts: Type.Array(Type.Object(Attempt), { description: "All attempts, oldest first." }),
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

const common = { family: "plain", scope: "manage", testKeys: "read", group: "Callback log" } as const;
const ofOne = {
  params: { id: { meaning: "`<eventId>:<endpointId>`, as in the list.", example: example.id } },
} as const;

export const listCallbacks: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/callbacks",
  summary: "List callbacks",
  description:
    "Lists the callbacks of webhooks and delivery reports, sent and waiting, newest first. A filtered page may be short and still have a `nextCursor`; continue until it is null.",
  query: {
    endpointId: textParameter("Filter by webhook or dlr-config ID.", example.endpointId),
    state: { ...choiceParameter(CALLBACK_STATES, "Filter by state."), example: "delivered" },
    messageId: textParameter("Filter by message ID.", example.messageId),
    phone: phoneParameter(
      `Filter by phone number: callbacks about the latest ${OF_ONE_PHONE} messages to it and from it.`,
    ),
    from: timeParameter("Events at or after this time: epoch milliseconds or ISO 8601."),
    to: timeParameter("Events before this time.", "end"),
    ...pageParameters(example.id),
  },
  response: Type.Object({
    data: Type.Array(CallbackView, { description: "Callbacks on this page." }),
    nextCursor: nullable(Type.String(), "Cursor of the next page; null on the last page."),
  }),
  responseExample: { data: [example], nextCursor: null },
  handle: getList,
};

export const getCallback: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "GET",
  path: "/api/callbacks/:id",
  summary: "Get a callback",
  description:
    "Returns one callback with all attempts: response, duration, failure reason and time of the next attempt.",
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
  summary: "Resend a callback",
  description:
    "Resends a callback in any state, also one that waits for its next attempt. It is sent at once with the same `webhook-id` and gets the full number of attempts again.",
  problems: ["RECORD_NOT_FOUND", "NOT_RESENDABLE"],
  response: CallbackView,
  responseExample: { ...example, state: "waiting", tries: 0, nextTryAt: 1767225700000, doneAt: null },
  handle: resend,
};
