import type { WithFallback } from "./fallback.ts";
import type { ChatContent, ChatSessionContent } from "./chatapp.ts";
import { linkedFileOf, type LinkedFile } from "./chat-session.ts";
import type { RcsContent } from "./rcs.ts";
import type { MessageCallback } from "./callback.ts";
import type { MessageTlv } from "./message-tlv.ts";
import type { UserDataEncoding } from "./user-data.ts";

/**
 * A message to one recipient, and its state machine. Carriers repeat, reorder and contradict receipts; the table of legal
 * transitions decides all of these cases.
 */

/** Channels with an endpoint of their own, and with answers of recipients. */
export const SEND_CHANNELS = ["sms", "rcs", "chatapp"] as const;
export type SendChannel = (typeof SEND_CHANNELS)[number];

/** E-mail carries one-time passwords only. */
export const CHANNELS = [...SEND_CHANNELS, "email"] as const;
export type Channel = (typeof CHANNELS)[number];

export const ROUTE_CLASSES = ["OTP", "TRANS", "PROMO"] as const;
export type RouteClass = (typeof ROUTE_CLASSES)[number];

/** A request with at least this many recipients is a bulk request, whose work yields to the event loop. */
export const BULK = 100;

/** The identity of a message; `n` is its 1-based position in the request. */
export interface MessageRef {
  accountId: number;
  requestId: string;
  n: number;
}

export interface SmsContent extends WithFallback {
  /** The text; of a binary message, its octets in hexadecimal. */
  text: string;
  encoding: UserDataEncoding;
  flash: boolean;
  /** User data header in front of every part, in hexadecimal with its length octet. */
  udh?: string;
  /** SMPP's data_coding of a binary message. */
  dataCoding?: number;
  /** Message waiting indication: 0 to 3 switch on voice mail, fax, e-mail and other; 4 to 7 switch the same off. */
  waiting?: number;
  /** SMPP's protocol_id; absent for the ordinary 0. */
  protocolId?: number;
  /** Registration ids of the text with India's operators (DLT), sent with the message. */
  dlt?: Dlt;
  /** Further parameters for carriers that speak SMPP, from the client. */
  tlvs?: readonly MessageTlv[];
  /** The `templateId` of the request, where it had one. */
  templateName?: string;
}

/** Limits of an SMS request that are settings. */
export interface SmsLimits {
  recipientsMax: number;
  textMax: number;
  segmentsMax: number;
}

export const DEFAULT_SMS_LIMITS: SmsLimits = { recipientsMax: 1000, textMax: 1600, segmentsMax: 12 };

export interface Dlt {
  contentId: string | null;
  entityId: string | null;
}

/** An e-mail. Its message has the phone number that the code is for as its recipient. */
export interface EmailContent {
  /** The address. */
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Language tag; null if unknown. */
  language: string | null;
}

/** Content after the retention of texts. */
export interface ErasedContent {
  text: "";
  erased: true;
}

/** Content that the store keeps encrypted: decrypted just before it is sent, and erased once a carrier has it. */
export interface EncryptedContent {
  text: "";
  sealed: string;
  /** A one-time password for a test number of its configuration: it goes to the simulator, with a live key too. */
  simulated?: true;
}

/** The content of a message, by channel; every channel has `text`. */
export type MessageContent = SmsContent | ChatContent | RcsContent | EmailContent | EncryptedContent | ErasedContent;

/** True for SMS content. Stored content does not name its channel. */
export const isSms = (content: MessageContent): content is SmsContent => "encoding" in content;

/** True for RCS content. */
export const isRcs = (content: MessageContent): content is RcsContent => "botId" in content;

/** True for the content of an e-mail. */
export const isEmail = (content: MessageContent): content is EmailContent => "subject" in content;

/** True for a chat-app message without a template. */
export const isSessionContent = (content: MessageContent): content is ChatSessionContent =>
  "kind" in content && content.kind === "text" && !isRcs(content);

export const isErased = (content: MessageContent): content is ErasedContent => "erased" in content;

export const isEncrypted = (content: MessageContent): content is EncryptedContent => "sealed" in content;

/** True for messages of test keys and to test numbers, which go to the simulator regardless of routes. */
export const isSimulatorOnly = ({ test, content }: Pick<Message, "test" | "content">): boolean =>
  test || (isEncrypted(content) && content.simulated === true);

/** The content of an erased message. */
export const ERASED: ErasedContent = { text: "", erased: true };

/** The text by which two messages count as duplicates: the message text, or the template name for cards. */
export function textOf(content: MessageContent): string {
  if (content.text === "" && isRcs(content)) return content.templateName ?? "";
  if (isSessionContent(content) && content.part) return JSON.stringify(content.part);
  return isSms(content) && needsSmpp(content)
    ? [content.udh, content.waiting, content.protocolId, content.text].join(" ")
    : content.text;
}

/** True for a text that only carriers that speak SMPP can send as it is meant, and for octets. */
export const needsSmpp = ({ encoding, udh, waiting, protocolId }: SmsContent): boolean =>
  encoding === "binary" || udh !== undefined || waiting !== undefined || protocolId !== undefined;

/** The media file of a chat-app message; null when there is none. */
export function mediaOf(content: MessageContent): LinkedFile | null {
  if (isSessionContent(content)) return content.part ? linkedFileOf(content.part) : null;
  return "header" in content && content.header !== null && "link" in content.header ? content.header : null;
}

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
  /** The price in credits. */
  credits: number;
  campaignName: string | null;
  /** Ids of routes that were tried without a delivery, and the keys of their carriers. */
  tried: readonly string[];
  /** The carrier of the last submit; null before the first one and while it waits for another route. */
  carrier: string | null;
  state: State;
  attempts: number;
  /** The number of repeated submits while it was in doubt. */
  repeats: number;
  createdAt: number;
  /** Not sent before this time. */
  dueAt: number;
  /** Not sent after this time. */
  expiresAt: number;
  /** When a carrier took it first; null or absent if none has. */
  submittedAt?: number | null | undefined;
  /** The callback of its own, if its request asked for one through a facade. It never changes. */
  callback?: MessageCallback | undefined;
}

export const STATES = [
  "accepted", "scheduled", "submitting", "submitted", "enroute",
  "delivered", "read", "undelivered", "expired", "rejected", "unknown", "cancelled",
] as const; // prettier-ignore
export type State = (typeof STATES)[number];

/**
 * The legal transitions from each state.
 * - `submitting → accepted` the carrier was busy; the message waits for its next attempt.
 * - `submitted → accepted`, `enroute → accepted` and `unknown → accepted` failover: the route brought no delivery and the next
 *   one is tried. The first route's delivery may still come: `accepted → delivered`.
 * - `accepted → accepted` every carrier is down; the message waits for its next attempt.
 * - `accepted → scheduled` its campaign was paused, or quiet hours began.
 * - `submitting → submitting` a repeated submit after a crash left the first one in doubt.
 * - A receipt may come before the submit ack, hence the transitions from `submitting` to every outcome.
 * - `enroute → submitted` the receipt overtook the submit ack: see `stateAfter`.
 * - `accepted → cancelled`: never for a message that was with a carrier and waits for its next route.
 * - `expired → delivered`: a late delivery after the network reported an expiry.
 * - `delivered → read`, where the channel reports reads. A read message counts as delivered even without a delivery receipt.
 * No other final state is ever left.
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
  enroute: ["accepted", "submitted", "delivered", "undelivered", "expired", "rejected", "unknown"],
  unknown: ["accepted", "delivered", "undelivered", "expired", "rejected"],
  expired: ["delivered"],
  delivered: ["read"],
  read: [],
  undelivered: [],
  rejected: [],
  cancelled: [],
};

export const mayTransition = (from: State, to: State): boolean => MOVES[from].includes(to);

/** A receipt that overtook the submit ack: the ack does not move the message backwards. */
export const OVERTAKEN = { from: "enroute", to: "submitted" } as const satisfies Record<string, State>;

/** The state after a legal transition. */
export const stateAfter = (from: State, to: State): State =>
  from === OVERTAKEN.from && to === OVERTAKEN.to ? from : to;

/** The states in which a message is stored. */
export const FIRST_STATES = {
  refused: "rejected",
  later: "scheduled",
  /** It has its submit intent: a slot at a carrier is reserved. */
  direct: "submitting",
  queued: "accepted",
} as const satisfies Record<string, State>;

/** The states with a legal transition to `to`: the condition of every state change in the store. */
export const sourceStatesOf = (to: State): State[] => STATES.filter((from) => mayTransition(from, to));

/** States of messages that are still to be sent; only these rows have an owner. */
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

/** The three statuses that customers see. */
export const customerStatus = (state: State): CustomerStatus => CUSTOMER_STATUS[state];

export const CUSTOMER_STATUSES = ["Pending", "Delivered", "Failed"] as const satisfies readonly CustomerStatus[];

export const statesShownAs = (status: CustomerStatus): State[] =>
  STATES.filter((state) => customerStatus(state) === status);

const AFTER_SUBMIT = new Set<State>(["submitted", "enroute", "delivered", "undelivered"]);

/** True for states that prove that a carrier accepted the message; a receipt can prove it before the submit ack. */
export const provesSubmit = (state: State): boolean => AFTER_SUBMIT.has(state);

/** True for states that no transition leads to another customer status. */
export const isSettled = (state: State): boolean =>
  isFinal(state) && MOVES[state].every((to) => customerStatus(to) === customerStatus(state));

/** Only a late delivery or a read can follow a final state. */
export const isFinal = (state: State): boolean => customerStatus(state) !== "Pending";

/** True for states whose entry sets the end time; a later read does not. */
export const reachesFinal = (state: State): boolean => isFinal(state) && state !== "read";

export const messageIdOf = ({ requestId, n }: Pick<MessageRef, "requestId" | "n">): string => `${requestId}:${n}`;

const MESSAGE_ID = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}):([1-9][0-9]{0,5})$/;

/** Reads `<id>:<n>`; null for anything else. */
export function parseMessageId(value: string): Pick<MessageRef, "requestId" | "n"> | null {
  const match = MESSAGE_ID.exec(value);
  return match?.[1] ? { requestId: match[1], n: Number(match[2]) } : null;
}

/** Failure codes of Heliograph; carriers' own codes are passed on unchanged. */
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
  REVOKED: "The message was called back from its carrier before a delivery was reported.",
  EXPIRED_IN_QUEUE: "The message waited longer than its validity and was not sent.",
  NOT_REPORTED: "The carrier took the message and reported nothing about it in time.",
  DROPPED_AFTER_RESTORE:
    "The message was in a restored backup. It may have been sent since the backup, and was not sent again.",
  SUBMIT_UNCONFIRMED: "The carrier may or may not have taken the message, and no report came while it was valid.",
} as const;

/** Descriptions of messages that a carrier had and that wait for their next route or fallback, where they differ. */
const AFTER_A_CARRIER: Partial<Record<keyof typeof FAILURES, string>> = {
  CANCELLED: "The message was cancelled before its next route was tried.",
  EXPIRED_IN_QUEUE: "The message waited longer than its validity for its next route.",
};

/**
 * The end of a message that is not sent. If a carrier has had it and may still deliver it, it ends as expired: a late delivery
 * corrects no other end.
 */
export function unsentEnd<S extends State>(
  { submittedAt = null }: Pick<Message, "submittedAt">,
  to: S,
  errorCode: keyof typeof FAILURES,
): { to: S | "expired"; errorCode: string; description: string } {
  const description = FAILURES[errorCode];
  if (submittedAt === null) return { to, errorCode, description };
  return { to: "expired", errorCode, description: AFTER_A_CARRIER[errorCode] ?? description };
}

/** The description of one of these codes; null for a carrier's own. */
export const describeFailure = (code: string | null): string | null =>
  code === null ? null : (FAILURES[code as keyof typeof FAILURES] ?? null);
