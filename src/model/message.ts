import type { ChatContent, ChatMedia } from "./chatapp.ts";
import type { RcsContent } from "./rcs.ts";

/**
 * A message to one recipient: where it is, and which moves are legal.
 * Carriers repeat, reorder and contradict themselves; this one table answers for all of them.
 */

export const CHANNELS = ["sms", "rcs", "chatapp"] as const;
export type Channel = (typeof CHANNELS)[number];

export const ROUTE_CLASSES = ["OTP", "TRANS", "PROMO"] as const;
export type RouteClass = (typeof ROUTE_CLASSES)[number];

/** From so many recipients on a request is a bulk: long for the event loop, and cheap for each of them. */
export const BULK = 100;

/** Everything that tells one message from all others; `n` is its 1-based place in the request. */
export interface MessageRef {
  accountId: number;
  requestId: string;
  n: number;
}

export interface SmsContent {
  text: string;
  encoding: "gsm7" | "ucs2";
  flash: boolean;
  /** Ids under which the text is registered with the operators of India; they travel with the message. */
  dlt?: Dlt;
}

export interface Dlt {
  contentId: string | null;
  entityId: string | null;
}

/** What is left once the time for which words are kept is over. */
export interface ErasedContent {
  text: "";
  erased: true;
}

/** What must not lie readable in the store: it is opened just before it is sent, and erased once a carrier has it. */
export interface SealedContent {
  text: "";
  sealed: string;
}

/** What is sent, by channel; `text` is the words of it on every one. */
export type MessageContent = SmsContent | ChatContent | RcsContent | SealedContent | ErasedContent;

/** Whether content is a text message; the store keeps content as it was given, beside its channel. */
export const isSms = (content: MessageContent): content is SmsContent => "encoding" in content;

/** Whether content is an RCS message. */
export const isRcs = (content: MessageContent): content is RcsContent => "botId" in content;

export const isErased = (content: MessageContent): content is ErasedContent => "erased" in content;

export const isSealed = (content: MessageContent): content is SealedContent => "sealed" in content;

/** What is left of a text that was erased. */
export const ERASED: ErasedContent = { text: "", erased: true };

/** What makes two messages the same to whoever reads them: their words, or the template where cards hold these. */
export const wordsOf = (content: MessageContent): string =>
  content.text === "" && isRcs(content) ? content.templateName : content.text;

/** The file that a platform fetches to show it above the words; null where there is none. */
export const mediaOf = (content: MessageContent): ChatMedia | null =>
  "header" in content && content.header !== null && content.header.type !== "text" ? content.header : null;

export interface Message extends MessageRef {
  channel: Channel;
  routeClass: RouteClass;
  /** Sent with a test key: it never leaves the simulator. */
  test: boolean;
  sender: string;
  /** Digits of the international number, without plus. */
  recipient: string;
  content: MessageContent;
  segments: number;
  /** What it costs. */
  credits: number;
  campaignName: string | null;
  /** Ids of routes that were used and brought nothing. */
  tried: readonly string[];
  /** The carrier it was last handed to; null while there is none, and while it waits for another route. */
  carrier: string | null;
  state: State;
  attempts: number;
  /** How often it was sent again while it was in doubt. */
  repeats: number;
  createdAt: number;
  /** Not sent before this time. */
  dueAt: number;
  /** Not sent after this time. */
  expiresAt: number;
}

const STATES = [
  "accepted", "scheduled", "submitting", "submitted", "enroute",
  "delivered", "read", "undelivered", "expired", "rejected", "unknown", "cancelled",
] as const; // prettier-ignore
export type State = (typeof STATES)[number];

/**
 * From each state, the states it may go to.
 * - `submitting → accepted` is a carrier that was busy: the message waits for its next try.
 * - `submitted → accepted`, `enroute → accepted` and `unknown → accepted` are a route that brought no delivery: the next one is
 *   tried. While it waits for that, the first one's delivery may still come: `accepted → delivered`.
 * - `accepted → accepted` is a message that finds every carrier down: it waits for its next try.
 * - `accepted → scheduled` is a campaign that was paused, or quiet hours that began.
 * - `submitting → submitting` is a second try after a crash left the first one in doubt.
 * - A receipt may come before the answer to the submit, hence the moves from `submitting` to every outcome.
 * - `expired → delivered`: the network gave up and the phone got it all the same.
 * - `delivered → read`, where the channel tells. What is read has been delivered, also where nobody said so.
 * No other end is ever left.
 */
const MOVES: Record<State, readonly State[]> = {
  accepted: ["accepted", "scheduled", "submitting", "delivered", "rejected", "expired", "cancelled"],
  scheduled: ["scheduled", "accepted", "submitting", "delivered", "rejected", "expired", "cancelled"],
  submitting: [
    "submitting",
    "accepted",
    "submitted",
    "enroute",
    "delivered",
    "undelivered",
    "expired",
    "rejected",
    "unknown",
  ],
  submitted: ["accepted", "enroute", "delivered", "undelivered", "expired", "rejected", "unknown"],
  enroute: ["accepted", "delivered", "undelivered", "expired", "rejected", "unknown"],
  unknown: ["accepted", "delivered", "undelivered", "expired", "rejected"],
  expired: ["delivered"],
  delivered: ["read"],
  read: [],
  undelivered: [],
  rejected: [],
  cancelled: [],
};

export const mayMove = (from: State, to: State): boolean => MOVES[from].includes(to);

/** The states from which a message may come into `to`: the condition of every state change in the store. */
export const movesInto = (to: State): State[] => STATES.filter((from) => mayMove(from, to));

/** What still has to be sent; only these rows are anybody's work. */
export const WAITING_STATES = ["accepted", "scheduled", "submitting"] as const satisfies readonly State[];

export type CustomerStatus = "Pending" | "Delivered" | "Failed";

const CUSTOMER_STATUS: Record<State, CustomerStatus> = {
  accepted: "Pending",
  scheduled: "Pending",
  submitting: "Pending",
  submitted: "Pending",
  enroute: "Pending",
  unknown: "Pending",
  delivered: "Delivered",
  read: "Delivered",
  undelivered: "Failed",
  expired: "Failed",
  rejected: "Failed",
  cancelled: "Failed",
};

/** The three words a customer sees. */
export const customerStatus = (state: State): CustomerStatus => CUSTOMER_STATUS[state];

export const CUSTOMER_STATUSES = ["Pending", "Delivered", "Failed"] as const satisfies readonly CustomerStatus[];

export const statesShownAs = (status: CustomerStatus): State[] =>
  STATES.filter((state) => customerStatus(state) === status);

const AFTER_SUBMIT = new Set<State>(["submitted", "enroute", "delivered", "undelivered"]);

/** Whether being here means that the carrier has taken it; a receipt can say so before the answer to the submit does. */
export const provesSubmit = (state: State): boolean => AFTER_SUBMIT.has(state);

/** Nothing but a late delivery, or that it was read, can follow these. */
export const isFinal = (state: State): boolean => customerStatus(state) !== "Pending";

/** Whether coming here is the end whose time is told; that it was read later is not. */
export const bringsToEnd = (state: State): boolean => isFinal(state) && state !== "read";

export const messageIdOf = ({ requestId, n }: Pick<MessageRef, "requestId" | "n">): string => `${requestId}:${n}`;

const MESSAGE_ID = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}):([1-9][0-9]{0,5})$/;

/** Reads `<id>:<n>`; null for anything else. */
export function parseMessageId(value: string): Pick<MessageRef, "requestId" | "n"> | null {
  const match = MESSAGE_ID.exec(value);
  return match?.[1] ? { requestId: match[1], n: Number(match[2]) } : null;
}

/** Why a message failed inside Heliograph; a carrier's own codes stand beside these unchanged. */
export const FAILURES = {
  INVALID_RECIPIENT: "The number is not an international phone number.",
  NO_ROUTE: "No route takes this message.",
  RECIPIENT_OPTED_OUT: "The recipient has asked for no more promotions.",
  COUNTRY_NOT_ALLOWED: "The account may not send to this country.",
  SAME_TEXT_FLOOD: "The same text has gone to this number too often within a short time.",
  MEDIA_TYPE_UNSUPPORTED: "The file that the header links to is of another kind than the header shows.",
  MEDIA_TOO_LARGE: "The file that the header links to is larger than the platform takes.",
  SESSION_CLOSED: "The recipient had not written for 24 hours when its turn came.",
  CANCELLED: "The message was cancelled before it was sent.",
  EXPIRED_IN_QUEUE: "The message waited longer than its validity and was not sent.",
  SUBMIT_UNCONFIRMED: "The carrier may or may not have taken the message, and no report came while it was valid.",
} as const;

/** The words that stand beside one of these codes; null for a carrier's own. */
export const describeFailure = (code: string | null): string | null =>
  code === null ? null : (FAILURES[code as keyof typeof FAILURES] ?? null);
