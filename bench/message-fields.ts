import { idOf, type BareStore } from "./bare-store.ts";

const DAY_MS = 86_400_000;
const DAYS = 90;
export const SPAN_MS = DAYS * DAY_MS;
export const RECIPIENTS = 10;

/** Rare values: of a few messages of the first day, and of a small share of all messages. */
export const RARE = { recipient: "15558675309", template: "winter_sale", message: 5, templated: 1000 };
export const TEMPLATE = "order_shipped";

/** A phone receives four messages in 90 days. */
export const phonesOf = (rows: number): number => Math.min(9_000_000, Math.max(1000, Math.ceil(rows / 4)));

/** The recipient of a message of the first account, given the number of all messages. */
export const recipientOf = (message: number, rows: number): string =>
  message === RARE.message ? RARE.recipient : `1556${1_000_000 + ((message * STRIDE) % phonesOf(rows))}`;

/** The carrier's id of a message of the first account. */
export const carrierIdOf = (message: number): string => `b${message.toString(16).padStart(15, "0")}`;

/** The priority class of all messages: PROMO. */
export const LANE = 2;

/** Neighbours in time go to different phones. */
const STRIDE = 7919;

export interface Chunk {
  campaigns: number;
  account: number;
  requests: number;
  firstAt: number;
  from: number;
  to: number;
  phones: number;
}

/** SQL for the fields of message `i` of an account. */
export function messageFields(store: BareStore, { requests, firstAt, phones, campaigns }: Omit<Chunk, "from" | "to">) {
  const request = `(i / ${RECIPIENTS})`;
  const at = `(${firstAt} + ${request} * ${Math.max(1, Math.floor(SPAN_MS / requests))})`;
  const isDelivered = "i % 20 > 1";
  return {
    at,
    isDelivered,
    id: idOf(store, at, request),
    n: `i % ${RECIPIENTS} + 1`,
    recipient: `case when i = ${RARE.message} then '${RARE.recipient}' else '1556' || (1000000 + i * ${STRIDE} % ${phones}) end`,
    template: `case when i < ${RARE.templated} then '${RARE.template}' when i % 50 = 3 then '${TEMPLATE}' end`,
    campaign: `case when ${request} % 5 = 0 then 'campaign-' || (${request} * ${campaigns} / ${requests}) end`,
    state: `case when i % 100000 = 7 then 'unknown' when ${isDelivered} then 'delivered' when i % 20 = 1 then 'expired' else 'undelivered' end`,
  };
}
