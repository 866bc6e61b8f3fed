import type { Selectable } from "kysely";
import type { MessageCallback } from "../model/callback.ts";
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
import type { Receipt, ReceiptState } from "../model/receipt.ts";
import { costOf } from "./charge.ts";
import type { NodeInfo } from "./nodes.ts";
import type {
  NewLinks,
  NewRecipient,
  StoredReceipt,
  StoredMessage,
  SubmittedMessage,
  UnmatchedReceipt,
} from "./store.ts";
import type { ChangedMessage } from "./transition.ts";
import type { MessageRow, UnmatchedReceiptRow, PhoneMessageRow } from "./tables.ts";

/** Lanes are numbered in priority order. */
export const laneOf = (routeClass: RouteClass): number => ROUTE_CLASSES.indexOf(routeClass);

const routeClassOf = (lane: number): RouteClass => ROUTE_CLASSES[lane] ?? "PROMO";

/** The condition of the partial index of waiting messages: SQLite uses the index only for the same expression. */
export const IS_WAITING = `(${WAITING_STATES.map((state) => `state = '${state}'`).join(" or ")})`;

/** Longest stored timeline of a message, in characters. */
export const TIMELINE_MAX = 16_000;

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
    ...(row.submitted_at !== null && { submittedAt: row.submitted_at }),
    ...(row.callback && { callback: JSON.parse(row.callback) as MessageCallback }),
  };
}

export function storedMessageOf(row: MessageRow): StoredMessage {
  return {
    ...messageOf(row),
    cost: costOf(row),
    timeline: row.trail,
    errorCode: row.error_code,
    description: row.description,
    submittedAt: row.submitted_at,
    doneAt: row.done_at,
  };
}

export type ChangedRow = Pick<MessageRow, "channel" | "lane" | "recipient" | "campaign_name" | "test">;

export const changedMessageOf = (row: ChangedRow, taken: boolean): ChangedMessage => ({
  channel: row.channel as Channel,
  routeClass: routeClassOf(row.lane),
  recipient: row.recipient,
  taken,
  ...(row.campaign_name !== null && { campaign: { name: row.campaign_name, test: row.test === 1 } }),
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
    test: row.test === 1,
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

export const refOf = (row: RefRow): MessageRef => ({ accountId: row.account_id, requestId: row.request_id, n: row.n });

/** The message of a carrier's id; `parts` is set only for one part of several. */
export const submissionOf = (row: RefRow & { parts: number }): SubmittedMessage =>
  row.parts > 1 ? { ...refOf(row), parts: row.parts } : refOf(row);

/**
 * SQL: true if the phone number in a receipt may be the recipient of the message at `ref`, as in `mayBePhone`. A scalar
 * expression, so that both engines read only one row.
 */
export const isAbout = (written: string, ref: string): string => `case
  when ${written} is null or length(${written}) < ${ENDING} or ltrim(${written}, '+0123456789') <> '' then true
  else substr(${written}, length(${written}) - ${ENDING - 1}) = (
    select substr(addressed.recipient, length(addressed.recipient) - ${ENDING - 1}) from messages as addressed
    where addressed.account_id = ${ref}.account_id and addressed.request_id = ${ref}.request_id and addressed.n = ${ref}.n)
  end`;

/** Carriers reuse ids: the newest message then takes the id over. Storing the same id again changes nothing. */
export const ON_ID_USED_AGAIN = `on conflict (carrier, carrier_message_id) do update set
  account_id = excluded.account_id, request_id = excluded.request_id, n = excluded.n, part = excluded.part,
  parts = excluded.parts, whole = excluded.whole, state = null, error_code = null, description = null
  where submissions.request_id <> excluded.request_id or submissions.n <> excluded.n
    or submissions.account_id <> excluded.account_id`;

export type UnmatchedRow = Selectable<
  Omit<UnmatchedReceiptRow, "parked_at" | "account_id" | "other_ids" | "recipient"> &
    // Unset on matched receipts.
    Partial<Pick<UnmatchedReceiptRow, "other_ids" | "recipient">>
>;

export const storedReceiptOf = (row: UnmatchedRow): StoredReceipt => ({
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

export const unmatchedOf = (row: Selectable<UnmatchedReceiptRow>): UnmatchedReceipt => ({
  ...storedReceiptOf(row),
  parkedAt: row.parked_at,
});

/** The columns of a receipt that wait for its message. */
export const unmatchedRow = (receipt: Receipt) => ({
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

/** True if a recipient differs from the rest of its request in more than its number. */
export const hasOwn = ({ content, dueAt, timeline }: NewRecipient): boolean =>
  content !== undefined || dueAt !== undefined || timeline !== undefined;

/** Stored prefix of encrypted content. */
const SEALED_PREFIX = '{"text":"","sealed":';

/** Content after the message has ended: encrypted content is erased in every final state. */
export const contentAtEnd = (content: string): string =>
  `case when substr(${content}, 1, ${SEALED_PREFIX.length}) = '${SEALED_PREFIX}' then '${JSON.stringify(ERASED)}' else ${content} end`;

/** Stored prefix of the content of a session message, which is free text without a template. */
export const SESSION_PREFIX = '{"kind":"text"';

/** The same test for content that is not stored yet. */
export const isSession = ({ channel, content }: Pick<Message, "channel" | "content">): boolean =>
  channel === "chatapp" && JSON.stringify(content).startsWith(SESSION_PREFIX);

export const oldestFirst = (a: Message, b: Message): number => a.dueAt - b.dueAt;

/** Counts the recipients with a link to each target of a request. */
export function recipientsOf({ targets, codes }: NewLinks): number[] {
  const recipients = targets.map(() => 0);
  for (const { k } of codes) recipients[k - 1] = (recipients[k - 1] ?? 0) + 1;
  return recipients;
}
