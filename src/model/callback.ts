import type { InboundMessage } from "./inbound.ts";
import type { AgentClass } from "./link.ts";
import { CHANNELS, messageIdOf, parseMessageId, type Channel, type MessageRef } from "./message.ts";
import type { Verification } from "./verification.ts";

/** What a customer can be told about the status of a message. */
export const STATUS_WORDS = ["sent", "delivered", "read", "failed", "unknown"] as const;
export type StatusWord = (typeof STATUS_WORDS)[number];

/** What a callback says of the message it is about. */
export interface MessageFacts {
  /** `<id>:<n>`. */
  messageId: string;
  channel: Channel;
  /** Digits without plus. */
  recipient: string;
  /** The sender, the bot or the business number. */
  sender: string;
  credits: number;
  createdAt: number;
  /** A chat-app message in the business's own words, rather than a template. */
  session: boolean;
  /** Whose network the phone is in, where the carrier has said so. */
  operator?: string;
  circle?: string;
}

/** What happened, as it is stored; each endpoint's own form of it is made when it is sent. */
export type Happening =
  | StatusHappening
  /** A carrier took the message. On the chat app this is told of by itself, besides the status `sent`. */
  | { kind: "sent"; at: number; message: MessageFacts }
  | { kind: "inbound"; at: number; inbound: InboundMessage }
  | {
      kind: "click";
      at: number;
      message: Pick<MessageFacts, "messageId" | "recipient" | "sender">;
      url: string;
      code: string;
      agent: AgentClass;
    }
  | VerificationHappening;

/** A verification was begun, or has come to its end. */
export interface VerificationHappening {
  kind: "verification";
  at: number;
  verification: Pick<Verification, "id" | "config" | "number" | "state" | "checks" | "test">;
}

export interface StatusHappening {
  kind: "status";
  /** `unknown` is a message of which no report came: SMS tells it as Pending, and the other channels do not tell it. */
  status: StatusWord;
  at: number;
  message: MessageFacts;
  /** Name of the carrier, as the account calls it; empty when none had it. */
  gateway: string;
  errorCode: string | null;
  description: string | null;
}

/** Events that a webhook can ask for. */
export const WEBHOOK_EVENTS = [
  "user_message",
  "message_status",
  "message_sent",
  "link_click",
  "verification_status",
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** What a webhook can be told about. A verification may go by several channels and is none of them. */
export const WEBHOOK_CHANNELS = [...CHANNELS, "verify"] as const;
export type WebhookChannel = (typeof WEBHOOK_CHANNELS)[number];

/** What a webhook of each channel can ask for. The status of a text message goes to delivery reports instead. */
export const CHANNEL_EVENTS: Readonly<Record<WebhookChannel, readonly WebhookEvent[]>> = {
  sms: ["user_message", "link_click"],
  rcs: ["user_message", "message_status"],
  chatapp: ["user_message", "message_status", "message_sent"],
  verify: ["verification_status"],
};

const EVENT_OF: Readonly<Record<Happening["kind"], WebhookEvent>> = {
  status: "message_status",
  sent: "message_sent",
  inbound: "user_message",
  click: "link_click",
  verification: "verification_status",
};

/** The event under which webhooks are told of a happening: each kind of happening is one event and no other. */
export const eventOf = ({ kind }: Pick<Happening, "kind">): WebhookEvent => EVENT_OF[kind];

/** Where callbacks of a channel go. */
export interface WebhookContent {
  channel: WebhookChannel;
  method: "POST";
  url: string;
  events: readonly WebhookEvent[];
  enabled: boolean;
  /** Why it was switched off by itself; null when it is on, or somebody did it. */
  disabledReason: string | null;
  /** Sealed; the first signs, the others are signed with as well until their time is over. */
  secrets: readonly EndpointSecret[];
}

/** The provider that stands for every carrier. */
export const EVERY_PROVIDER = "ALL";

/** Where delivery reports of SMS go. */
export interface DlrConfigContent {
  /** `ALL`, or the name of one carrier. */
  provider: string;
  method: "GET" | "POST";
  url: string;
  headers: readonly HeaderPair[];
  enabled: boolean;
  disabledReason: string | null;
  secrets: readonly EndpointSecret[];
}

export interface HeaderPair {
  key: string;
  /** One of the placeholders, such as `{{messageId}}`. */
  value: string;
}

interface EndpointSecret {
  sealed: string;
  /** When it stops counting; null while it is the current one. */
  until: number | null;
}

/** A request that tells a customer something, ready to be sent. */
export interface Push {
  method: "GET" | "POST";
  /** With its query, where the method is GET. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Null where the method is GET. */
  body: string | null;
}

/** `exhausted` ones were tried as often as they are; `dropped` ones have lost their endpoint, or it was switched off. */
export const CALLBACK_STATES = ["waiting", "delivered", "exhausted", "dropped"] as const;
export type CallbackState = (typeof CALLBACK_STATES)[number];

/** Something that one endpoint is to be told. */
export interface Callback {
  accountId: number;
  /** Names what happened, for every endpoint that is told of it. Ordered by time. */
  eventId: string;
  endpointId: string;
  happening: Happening;
  /** How often it was tried. */
  attempts: number;
}

/** The message whose other callbacks it is told in order with; clicks have no order, and anybody can make many. */
export function messageOf(happening: Happening): Pick<MessageRef, "requestId" | "n"> | null {
  if (happening.kind === "inbound") return happening.inbound.answers;
  if (happening.kind === "click") return null;
  if (happening.kind === "verification") return { requestId: happening.verification.id, n: 1 };
  return parseMessageId(happening.message.messageId);
}

/** The same as customers know it. */
export function messageIdIn(happening: Happening): string | null {
  if (happening.kind === "status" || happening.kind === "sent") return happening.message.messageId;
  const message = messageOf(happening);
  return message && messageIdOf(message);
}

/** How an endpoint has been lately. */
export interface EndpointHealth {
  /** Since when nothing has arrived; null while it does. */
  failingSince: number | null;
  lastSuccessAt: number | null;
  lastFailureAt: number | null;
  lastFailure: string | null;
}
