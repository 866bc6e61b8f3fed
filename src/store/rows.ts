import type { Selectable } from "kysely";
import type { Receipt, ReceiptState } from "../carriers/carrier.ts";
import { accountOfCarrier } from "../model/catalog.ts";
import {
  ERASED,
  ROUTE_CLASSES,
  WAITING_STATES,
  type Channel,
  type Message,
  type MessageContent,
  type MessageRef,
  type RouteClass,
  type State,
} from "../model/message.ts";
import { ENDING, type PhoneMessage } from "../model/phone.ts";
import type { NodeInfo } from "./node-store.ts";
import type {
  MovedMessage,
  NewRecipient,
  ParkedReceipt,
  StoredMessage,
  Submission,
  UnmatchedReceipt,
} from "./store.ts";
import type { MessageRow, ParkedRow as StoredParkedRow, PhoneMessageRow } from "./tables.ts";

/** Lanes are numbered in the order they are served. */
export const laneOf = (routeClass: RouteClass): number => ROUTE_CLASSES.indexOf(routeClass);

const routeClassOf = (lane: number): RouteClass => ROUTE_CLASSES[lane] ?? "PROMO";

/** What waits for a carrier, as the index of it says it: SQLite uses that index only where it is said in the same words. */
export const IS_WAITING = `(${WAITING_STATES.map((state) => `state = '${state}'`).join(" or ")})`;

/** A message that has been through this much has a trail that nobody reads to the end. */
export const TRAIL_MAX = 16_000;

export function messageOf(row: MessageRow): Message {
  return {
    accountId: row.account_id,
    requestId: row.request_id,
    n: row.n,
    channel: row.channel as Channel,
    routeClass: routeClassOf(row.lane),
    test: row.test === 1,
    sender: row.sender,
    recipient: row.recipient,
    content: JSON.parse(row.content) as MessageContent,
    segments: row.segments,
    credits: row.credits,
    campaignName: row.campaign_name,
    tried: row.tried === null ? [] : (JSON.parse(row.tried) as string[]),
    carrier: row.carrier || null,
    state: row.state as State,
    attempts: row.attempts,
    repeats: row.repeats,
    createdAt: row.created_at,
    dueAt: row.due_at,
    expiresAt: row.expires_at,
  };
}

export function storedMessageOf(row: MessageRow): StoredMessage {
  return {
    ...messageOf(row),
    trail: row.trail,
    errorCode: row.error_code,
    description: row.description,
    submittedAt: row.submitted_at,
    doneAt: row.done_at,
  };
}

export type MovedRow = Pick<MessageRow, "channel" | "lane" | "recipient">;

export const movedOf = ({ channel, lane, recipient }: MovedRow, taken: boolean): MovedMessage => ({
  channel: channel as Channel,
  routeClass: routeClassOf(lane),
  recipient,
  taken,
});

export function phoneMessageOf(row: PhoneMessageRow): PhoneMessage {
  return {
    accountId: row.account_id,
    id: row.id,
    number: row.number,
    sender: row.sender,
    channel: row.channel as Channel,
    content: JSON.parse(row.content) as MessageContent,
    messageId: row.message_id,
    receivedAt: row.received_at,
    reportsDueAt: row.reports_due_at,
    carrier: row.carrier,
  };
}

export interface NodeRow {
  id: number;
  roles: string;
  started_at: number;
  silent_ms: number;
}

export const nodeOf = ({ id, roles, started_at: startedAt, silent_ms: silentMs }: NodeRow): NodeInfo => ({
  id,
  roles: roles.split(" ").filter((role) => role !== ""),
  startedAt,
  silentMs,
});

export interface RefRow {
  account_id: number;
  request_id: string;
  n: number;
}

const refOf = (row: RefRow): MessageRef => ({ accountId: row.account_id, requestId: row.request_id, n: row.n });

/** What a carrier's id names; that it names one part of several is said only where it does. */
export const submissionOf = (row: RefRow & { parts: number }): Submission =>
  row.parts > 1 ? { ...refOf(row), parts: row.parts } : refOf(row);

/**
 * Whether what a receipt writes as its phone may be the recipient of the message that `ref` names, as `mayBePhone` says it. A question for one value, so that no engine reads more than the one row for it.
 */
export const isAbout = (written: string, ref: string): string => `case
  when ${written} is null or length(${written}) < ${ENDING} or ltrim(${written}, '+0123456789') <> '' then true
  else substr(${written}, length(${written}) - ${ENDING - 1}) = (
    select substr(addressed.recipient, length(addressed.recipient) - ${ENDING - 1}) from messages as addressed
    where addressed.account_id = ${ref}.account_id and addressed.request_id = ${ref}.request_id and addressed.n = ${ref}.n)
  end`;

/** Carriers begin their ids anew: the newest message has the id then. One that is written down again stays as it is. */
export const ON_ID_USED_AGAIN = `on conflict (carrier, carrier_message_id) do update set
  account_id = excluded.account_id, request_id = excluded.request_id, n = excluded.n, part = excluded.part,
  parts = excluded.parts, whole = excluded.whole, state = null, error_code = null, description = null
  where submissions.request_id <> excluded.request_id or submissions.n <> excluded.n
    or submissions.account_id <> excluded.account_id`;

export type ParkedRow = Selectable<
  Omit<StoredParkedRow, "parked_at" | "account_id" | "other_ids" | "recipient"> &
    // What is matched already has no use for these.
    Partial<Pick<StoredParkedRow, "other_ids" | "recipient">>
>;

export const parkedOf = (row: ParkedRow): ParkedReceipt => ({
  id: row.id,
  receipt: {
    carrier: row.carrier,
    carrierMessageId: row.carrier_message_id,
    ...(row.channel === null ? {} : { channel: row.channel as Channel }),
    state: row.state as ReceiptState,
    errorCode: row.error_code,
    description: row.description,
    at: row.at,
    ...(row.other_ids ? (JSON.parse(row.other_ids) as Pick<Receipt, "spelt" | "otherIds">) : {}),
    ...(row.recipient ? { recipient: row.recipient } : {}),
    ...(row.operator === null ? {} : { operator: row.operator }),
    ...(row.circle === null ? {} : { circle: row.circle }),
  },
});

export const unmatchedOf = (row: Selectable<StoredParkedRow>): UnmatchedReceipt => ({
  ...parkedOf(row),
  parkedAt: row.parked_at,
});

/** What of a receipt is kept with it until it is known which message it is about. */
export const parkedRow = (receipt: Receipt) => ({
  carrier: receipt.carrier,
  carrier_message_id: receipt.carrierMessageId,
  channel: receipt.channel ?? null,
  state: receipt.state,
  error_code: receipt.errorCode,
  description: receipt.description,
  at: receipt.at,
  account_id: accountOfCarrier(receipt.carrier),
  other_ids: receipt.otherIds?.length ? JSON.stringify({ spelt: receipt.spelt, otherIds: receipt.otherIds }) : null,
  recipient: receipt.recipient ?? "",
  operator: receipt.operator ?? null,
  circle: receipt.circle ?? null,
});

/** Whether a recipient differs from the rest of its request in anything but its number. */
export const hasOwn = ({ content, dueAt, trail }: NewRecipient): boolean =>
  content !== undefined || dueAt !== undefined || trail !== undefined;

/** How content that lies sealed begins, as it is written. */
const SEALED_PREFIX = '{"text":"","sealed":';

/** Content after its message has come to its end: what was sealed is gone then, whatever brought the end about. */
export const contentAtEnd = (content: string): string =>
  `case when substr(${content}, 1, ${SEALED_PREFIX.length}) = '${SEALED_PREFIX}' then '${JSON.stringify(ERASED)}' else ${content} end`;

/** How the content of a message in the business's own words begins, as it is written. */
export const SESSION_PREFIX = '{"kind":"text"';

/** The same of content that is yet to be written. */
export const isSession = ({ channel, content }: Pick<Message, "channel" | "content">): boolean =>
  channel === "chatapp" && JSON.stringify(content).startsWith(SESSION_PREFIX);

export const oldestFirst = (a: Message, b: Message): number => a.dueAt - b.dueAt;
