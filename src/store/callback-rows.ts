import {
  messageOf,
  type Callback,
  type CallbackState,
  type Happening,
  type MessageFacts,
  type StatusHappening,
} from "../model/callback.ts";
import { carrierNameOf } from "../model/catalog.ts";
import { messageIdOf, type Channel } from "../model/message.ts";
import type { CallbackRef, StoredCallback } from "./callback-store.ts";
import type { AnnouncementTarget, Move } from "./store.ts";
import type { CallbackRow } from "./tables.ts";

/** A callback that has been through this much has a log that nobody reads to the end. */
export const LOG_MAX = 16_000;

/** The key of a callback's row. */
export const refRow = ({ accountId, eventId, endpointId }: CallbackRef) => ({
  account_id: accountId,
  event_id: eventId,
  endpoint_id: endpointId,
});

/** The columns of a new callback that are its own, not those of its account or of the request it tells of; and their types. */
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

/** A callback's row, but for whose it is, when it is due and what became of it. */
type NewRow = Omit<CallbackRow, "state" | "owner" | "attempts" | "due_at" | "done_at" | "log">;

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

/** What changed with a status has columns of its own, because the statement that moves a message writes them. */
const changeOf = (happening: Happening): Pick<CallbackRow, "status" | "error_code" | "description" | "carrier"> =>
  happening.kind === "status"
    ? {
        status: happening.status,
        error_code: happening.errorCode,
        description: happening.description,
        carrier: happening.gateway,
      }
    : { status: null, error_code: null, description: null, carrier: null };

const factsOf = (happening: Happening): object =>
  happening.kind === "status" || happening.kind === "sent" ? happening.message : happening;

/** The facts of an ordinary message in a row that has its id already: with names they would be half of it. */
type PlainFacts = readonly [channel: Channel, recipient: string, sender: string, credits: number, createdAt: number];

/** For a store that one process alone reads: nodes of an earlier version know only the names. */
export function writeFacts(message: MessageFacts): string {
  const { channel, recipient, sender, credits, createdAt, session, operator, circle } = message;
  if (session || operator !== undefined || circle !== undefined) return JSON.stringify(message);
  return JSON.stringify([channel, recipient, sender, credits, createdAt] satisfies PlainFacts);
}

function readFacts(
  { request_id, n }: Pick<CallbackRow, "request_id" | "n">,
  told: MessageFacts | PlainFacts,
): MessageFacts {
  if (!isPlain(told)) return told;
  const [channel, recipient, sender, credits, createdAt] = told;
  const messageId = messageIdOf({ requestId: request_id ?? "", n: n ?? 0 });
  return { messageId, channel, recipient, sender, credits, createdAt, session: false };
}

const isPlain = (told: MessageFacts | PlainFacts): told is PlainFacts => Array.isArray(told);

/** What a row tells happened. */
function readHappening(row: NewRow): Happening {
  const told = JSON.parse(row.facts) as Happening | MessageFacts | PlainFacts;
  if (row.kind !== "status" && row.kind !== "sent") return told as Happening;
  return happeningOf(row, readFacts(row, told as MessageFacts | PlainFacts));
}

function happeningOf(
  { kind, status, at, error_code, description, carrier }: Omit<NewRow, "facts">,
  message: MessageFacts,
): Happening {
  if (kind === "sent") return { kind, at, message };
  return {
    kind: "status",
    status: status as StatusHappening["status"],
    at,
    message,
    gateway: carrierNameOf(carrier ?? ""),
    errorCode: error_code,
    description,
  };
}

export const callbackOf = (row: CallbackRow): Callback => ({
  accountId: row.account_id,
  eventId: row.event_id,
  endpointId: row.endpoint_id,
  happening: readHappening(row),
  attempts: row.attempts,
});

/** The row of a callback that tells of a move, but for the facts of its message. */
export const rowOfMove = (
  { accountId, requestId, n, at, errorCode = null, description = null }: Move,
  { eventId, endpointId, kind, status }: AnnouncementTarget,
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

/** A callback that has just been written down, by whoever still has its facts at hand. */
export const newCallbackOf = (row: Omit<NewRow, "facts">, facts: MessageFacts): Callback => ({
  accountId: row.account_id,
  eventId: row.event_id,
  endpointId: row.endpoint_id,
  happening: happeningOf(row, facts),
  attempts: 0,
});

export const storedCallbackOf = (row: CallbackRow): StoredCallback => ({
  ...callbackOf(row),
  state: row.state as CallbackState,
  dueAt: row.due_at,
  doneAt: row.done_at,
  log: row.log,
});
