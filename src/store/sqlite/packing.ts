import type { RouteClass, Message } from "../../model/message.ts";
import type { Acceptance } from "../store.ts";

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
  idempotency: Acceptance["idempotency"],
  numbers: readonly string[],
  /** Null when every number is right. */
  failures: readonly (string | null)[] | null,
];

export function pack({ message, recipients, owner, idempotency }: Acceptance): Packed {
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
    idempotency,
    recipients.map((recipient) => recipient.number),
    failing ? recipients.map((recipient) => recipient.failure) : null,
  ];
}
