import type { RouteClass, Message } from "../../model/message.ts";
import { callbackRow } from "../callback-rows.ts";
import { hasOwn } from "../rows.ts";
import type { Acceptance, NewRecipient } from "../store.ts";

/**
 * An acceptance on its way to the writer, as a list without names: it is the one message that crosses for every request,
 * and names cost as much as values to write and to read again.
 */
export type Packed = readonly [
  accountId: number,
  requestId: string,
  channel: Message["channel"],
  routeClass: RouteClass,
  test: boolean,
  sender: string,
  content: string,
  segments: number,
  campaignName: string | null,
  createdAt: number,
  dueAt: number,
  expiresAt: number,
  owner: number,
  trail: string | null,
  metered: boolean,
  links: Acceptance["links"],
  idempotency: Acceptance["idempotency"],
  numbers: readonly string[],
  credits: readonly number[],
  /** Null when every number is right. */
  failures: readonly (string | null)[] | null,
  /** Null when no recipient has anything of its own. */
  own: readonly Own[] | null,
  /** Null when nobody is told anything. */
  callbacks: readonly NewCallbackRow[] | null,
  verification: Acceptance["verification"] | null,
  /** The carrier that they are handed to at once, or null. */
  carrier: string | null,
];

type NewCallbackRow = ReturnType<typeof callbackRow>;

type Own = readonly [content: string | null, segments: number | null, dueAt: number | null, trail: string | null];

export function pack({
  message,
  recipients,
  trail,
  owner,
  carrier,
  metered,
  links,
  idempotency,
  callbacks = [],
  verification,
}: Acceptance): Packed {
  const failing = recipients.some((recipient) => recipient.failure !== null);
  return [
    message.accountId,
    message.requestId,
    message.channel,
    message.routeClass,
    message.test,
    message.sender,
    JSON.stringify(message.content),
    message.segments,
    message.campaignName,
    message.createdAt,
    message.dueAt,
    message.expiresAt,
    owner,
    trail,
    metered,
    links,
    idempotency,
    recipients.map((recipient) => recipient.number),
    recipients.map((recipient) => recipient.credits),
    failing ? recipients.map((recipient) => recipient.failure) : null,
    recipients.some(hasOwn) ? recipients.map(ownOf) : null,
    callbacks.length === 0 ? null : callbacks.map(callbackRow),
    verification ?? null,
    carrier ?? null,
  ];
}

const ownOf = ({ content, segments, dueAt, trail }: NewRecipient): Own => [
  content === undefined ? null : JSON.stringify(content),
  segments ?? null,
  dueAt ?? null,
  trail ?? null,
];
