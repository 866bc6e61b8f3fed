import {
  isOfMessage,
  messageOf,
  type Callback,
  type CallbackState,
  type CustomerEvent,
  type MessageSnapshot,
  type StatusEvent,
} from "../model/callback.ts";
import { carrierNameOf } from "../model/catalog.ts";
import { messageIdOf, type Channel, type State } from "../model/message.ts";
import type { CallbackRef, StoredCallback } from "./callbacks.ts";
import type { CallbackRow } from "./tables.ts";
import type { AnyTransition, CallbackTarget } from "./transition.ts";

/** Longest stored attempt log of a callback, in characters. */
export const LOG_MAX = 16_000;

export const refRow = ({ accountId, eventId, endpointId }: CallbackRef) => ({
  account_id: accountId,
  event_id: eventId,
  endpoint_id: endpointId,
});

/** The columns of a new callback that differ within one account and request, with their types. */
export const OWN_COLUMNS = {
  event_id: "uuid",
  endpoint_id: "uuid",
  kind: "text",
  status: "text",
  n: "integer",
  at: "bigint",
  error_code: "text",
  description: "text",
  carrier: "text",
  facts: "text",
} as const satisfies Partial<Record<keyof CallbackRow, string>>;

/** A callback's row without its delivery state: owner, due time, sequence and attempts. */
type NewRow = Omit<CallbackRow, "state" | "owner" | "attempts" | "due_at" | "done_at" | "log" | "seq">;

export function callbackRow(callback: Callback): NewRow {
  const { happening } = callback;
  const message = messageOf(happening);
  return {
    ...refRow(callback),
    kind: happening.kind,
    request_id: message?.requestId ?? null,
    n: message?.n ?? null,
    at: happening.at,
    ...changeOf(happening),
    facts: JSON.stringify(factsOf(happening)),
  };
}

/** A status change has columns of its own, because the transition statement writes them. */
const changeOf = (happening: CustomerEvent): Pick<CallbackRow, "status" | "error_code" | "description" | "carrier"> =>
  happening.kind === "status" || happening.kind === "state"
    ? {
        status: happening.kind === "state" ? happening.state : happening.status,
        error_code: happening.errorCode,
        description: happening.description,
        carrier: happening.gateway,
      }
    : { status: null, error_code: null, description: null, carrier: null };

const factsOf = (happening: CustomerEvent): object => (isOfMessage(happening) ? happening.message : happening);

/** The facts of an ordinary message as a tuple. Field names would double its size, and the row has the id already. */
type PlainFacts = readonly [channel: Channel, recipient: string, sender: string, credits: number, createdAt: number];

/** Only for SQLite, which one process reads: nodes of an earlier version understand only the form with names. */
export function writeFacts(message: MessageSnapshot): string {
  const { channel, recipient, sender, credits, createdAt, session, operator, circle, via, callback } = message;
  if (session || via !== undefined || operator !== undefined || circle !== undefined || callback !== undefined)
    return JSON.stringify(message);
  return JSON.stringify([channel, recipient, sender, credits, createdAt] satisfies PlainFacts);
}

function readFacts(
  { request_id, n }: Pick<CallbackRow, "request_id" | "n">,
  facts: MessageSnapshot | PlainFacts,
): MessageSnapshot {
  if (!isPlain(facts)) return facts;
  const [channel, recipient, sender, credits, createdAt] = facts;
  const messageId = messageIdOf({ requestId: request_id ?? "", n: n ?? 0 });
  return { messageId, channel, recipient, sender, credits, createdAt, session: false };
}

const isPlain = (facts: MessageSnapshot | PlainFacts): facts is PlainFacts => Array.isArray(facts);

/** The event that a row reports. */
function readHappening(row: NewRow): CustomerEvent {
  const facts = JSON.parse(row.facts) as CustomerEvent | MessageSnapshot | PlainFacts;
  if (row.kind !== "status" && row.kind !== "state" && row.kind !== "sent") return facts as CustomerEvent;
  return happeningOf(row, readFacts(row, facts as MessageSnapshot | PlainFacts));
}

function happeningOf(
  { kind, status, at, error_code, description, carrier }: Omit<NewRow, "facts">,
  message: MessageSnapshot,
): CustomerEvent {
  if (kind === "sent") return { kind, at, message };
  const about = { at, message, gateway: carrierNameOf(carrier ?? ""), errorCode: error_code, description };
  return kind === "state"
    ? { kind, state: status as State, ...about }
    : { kind: "status", status: status as StatusEvent["status"], ...about };
}

export const callbackOf = (row: CallbackRow): Callback => ({
  accountId: row.account_id,
  eventId: row.event_id,
  endpointId: row.endpoint_id,
  happening: readHappening(row),
  attempts: row.attempts,
});

/** The row of a callback about a transition, without the facts of its message. */
export const callbackRowOf = (
  { accountId, requestId, n, at, errorCode = null, description = null }: AnyTransition,
  { eventId, endpointId, kind, status }: CallbackTarget & { endpointId: string },
  carrier: string | null,
): Omit<NewRow, "facts"> => ({
  account_id: accountId,
  event_id: eventId,
  endpoint_id: endpointId,
  kind,
  status,
  request_id: requestId,
  n,
  at,
  error_code: errorCode,
  description,
  carrier,
});

/** A callback that has just been stored, built from the facts that the caller still holds. */
export const newCallbackOf = (
  row: Omit<NewRow, "facts">,
  facts: MessageSnapshot,
  follows: readonly string[] = [],
): Callback => ({
  accountId: row.account_id,
  eventId: row.event_id,
  endpointId: row.endpoint_id,
  happening: happeningOf(row, facts),
  attempts: 0,
  ...(follows.length > 0 && { follows }),
});

export const storedCallbackOf = (row: CallbackRow): StoredCallback => ({
  ...callbackOf(row),
  state: row.state as CallbackState,
  dueAt: row.due_at,
  doneAt: row.done_at,
  log: row.log,
});
