import type { AlertFacts } from "./alert.ts";
import type { InboundMessage } from "./inbound.ts";
import type { AgentClass } from "./link.ts";
import { SEND_CHANNELS, messageIdOf, parseMessageId, type Channel, type MessageRef, type State } from "./message.ts";
import type { Verification } from "./verification.ts";

/** Message statuses that callbacks report. */
export const STATUS_WORDS = ["sent", "delivered", "read", "failed", "unknown"] as const;
export type StatusWord = (typeof STATUS_WORDS)[number];

/** The message that a callback is about. */
export interface MessageSnapshot {
  /** `<id>:<n>`. */
  messageId: string;
  channel: Channel;
  /** Digits without plus. */
  recipient: string;
  /** The sender, the bot or the business number. */
  sender: string;
  credits: number;
  createdAt: number;
  /** A free text on the chat app, rather than a template. */
  session: boolean;
  /** The channel that delivered it, where it differs from the requested one: an RCS message that fell back to SMS. */
  via?: Channel;
  /** The operator of the phone, where the carrier reports it. */
  operator?: string;
  circle?: string;
  /** Only on a state event. */
  callback?: MessageCallback;
}

/**
 * The callback that a request of a facade asks for its messages. It is stored with each message, so that no state change is
 * committed without its callback, on any node.
 */
export interface MessageCallback {
  /** Names the queue, in which one receiver that fails does not delay others. */
  endpointId: string;
  /** The facade that renders, sends and judges the callback. */
  kind: string;
  /** The credential of the request. */
  credentialId: string;
  /** The states that it reports. */
  states: readonly State[];
  /** The target, and other choices of the request that only the facade reads. */
  url?: string;
  method?: "GET" | "POST";
  options?: Readonly<Record<string, string | number | boolean>>;
}

/** An event as it is stored. The payload of each endpoint is built when it is sent. */
export type CustomerEvent =
  | StatusEvent
  | StateEvent
  /** A carrier accepted the message. The chat app reports it as an event of its own, besides the status `sent`. */
  | { kind: "sent"; at: number; message: MessageSnapshot }
  | { kind: "inbound"; at: number; inbound: InboundMessage }
  | {
      kind: "click";
      at: number;
      message: Pick<MessageSnapshot, "messageId" | "recipient" | "sender">;
      url: string;
      code: string;
      agent: AgentClass;
    }
  | VerificationEvent
  | AlertEvent;

/** An alert opened or resolved. */
export interface AlertEvent {
  kind: "alert";
  at: number;
  alert: AlertFacts;
}

/** A verification started or ended. */
export interface VerificationEvent {
  kind: "verification";
  at: number;
  verification: Pick<Verification, "id" | "config" | "number" | "state" | "checks" | "test">;
}

export interface StatusEvent {
  kind: "status";
  /** `unknown`: no receipt came. SMS reports it as Pending; the other channels do not report it. */
  status: StatusWord;
  at: number;
  message: MessageSnapshot;
  /** The carrier's name in the account; empty when no carrier had the message. */
  gateway: string;
  errorCode: string | null;
  description: string | null;
}

/** A message with a callback of its own has changed its state. Webhooks get a `StatusEvent` instead. */
export interface StateEvent extends Omit<StatusEvent, "kind" | "status"> {
  kind: "state";
  state: State;
}

/** The states that the callback of a message can report at their transition; its acceptance is reported with the request. */
const REPORTED_STATES: ReadonlySet<State> = new Set<State>([
  "submitted", "enroute", "delivered", "read", "undelivered", "expired", "rejected", "unknown", "cancelled",
]); // prettier-ignore

export const isReportedState = (state: State): boolean => REPORTED_STATES.has(state);

/** Events that a webhook can subscribe to. */
export const WEBHOOK_EVENTS = [
  "user_message",
  "delivery_report",
  "message_status",
  "message_sent",
  "link_click",
  "verification_status",
  "alert_status",
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Subjects of webhooks. A verification may use several channels, so it is a subject of its own; `system` is for alerts. */
export const WEBHOOK_CHANNELS = [...SEND_CHANNELS, "verify", "system"] as const;
export type WebhookChannel = (typeof WEBHOOK_CHANNELS)[number];

/** Subjects of events. No webhook subscribes to e-mails: their verifications report how they end. */
export type EventChannel = Channel | "verify" | "system";

/** The events of each subject. The status of an SMS is the delivery report, which says more than a status. */
export const CHANNEL_EVENTS: Readonly<Record<WebhookChannel, readonly WebhookEvent[]>> = {
  sms: ["user_message", "delivery_report", "link_click"],
  rcs: ["user_message", "message_status"],
  chatapp: ["user_message", "message_status", "message_sent"],
  verify: ["verification_status"],
  system: ["alert_status"],
};

const EVENT_OF: Readonly<Record<CustomerEvent["kind"], WebhookEvent>> = {
  status: "message_status",
  state: "message_status",
  sent: "message_sent",
  inbound: "user_message",
  click: "link_click",
  verification: "verification_status",
  alert: "alert_status",
};

/** The webhook event of a kind of event on a channel. */
export const eventOf = (kind: CustomerEvent["kind"], channel: EventChannel): WebhookEvent =>
  kind === "status" && channel === "sms" ? "delivery_report" : EVENT_OF[kind];

/** A webhook: the URL for callbacks of one or more channels. */
export interface WebhookContent {
  /** The first of its channels. */
  channel: WebhookChannel;
  /** Absent in records of earlier releases, which have one channel. */
  channels?: readonly WebhookChannel[];
  method: "POST";
  url: string;
  events: readonly WebhookEvent[];
  constantHeaders?: readonly ConstantHeader[];
  enabled: boolean;
  /** The reason of an automatic switch-off; null when it is on or a person switched it off. */
  disabledReason: string | null;
  /** Encrypted. The first signs; the others sign as well until they expire. */
  secrets: readonly EndpointSecret[];
}

export const channelsOf = ({
  channel,
  channels,
}: Pick<WebhookContent, "channel" | "channels">): readonly WebhookChannel[] => channels ?? [channel];

/** True if a webhook follows this event on this channel. */
export const follows = (webhook: WebhookContent, event: WebhookEvent, channel: EventChannel): boolean =>
  webhook.events.includes(event) &&
  channelsOf(webhook).some((one) => one === channel && CHANNEL_EVENTS[one].includes(event));

/** A header that every request to an endpoint has, such as Authorization. Its value is encrypted. */
export interface ConstantHeader {
  name: string;
  sealed: string;
}

/** The provider value for all carriers. */
export const EVERY_PROVIDER = "ALL";

/** The URL for delivery reports of SMS. */
export interface DlrConfigContent {
  /** `ALL`, or the name of one carrier. */
  provider: string;
  method: "GET" | "POST";
  url: string;
  headers: readonly HeaderPair[];
  /** The fields of the report; null when `headers` choose them. Absent in records of earlier releases. */
  fields?: readonly ReportField[] | null;
  constantHeaders?: readonly ConstantHeader[];
  enabled: boolean;
  disabledReason: string | null;
  secrets: readonly EndpointSecret[];
}

export interface HeaderPair {
  key: string;
  /** One of the placeholders, such as `{{messageId}}`. */
  value: string;
}

/** A field of a delivery report under a name of the customer's own. */
export interface ReportField {
  name: string;
  /** A placeholder, or a constant text. */
  value: string;
}

interface EndpointSecret {
  sealed: string;
  /** The time at which it expires; null for the current one. */
  until: number | null;
}

/** A callback request, ready to send. */
export interface WebhookRequest {
  method: "GET" | "POST";
  /** With its query, where the method is GET. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Null where the method is GET. */
  body: string | null;
}

/** `exhausted`: all attempts failed. `dropped`: the endpoint was removed or unsubscribed from the event. */
export const CALLBACK_STATES = ["waiting", "delivered", "exhausted", "dropped"] as const;
export type CallbackState = (typeof CALLBACK_STATES)[number];

/** The delivery of one event to one endpoint. */
export interface Callback {
  accountId: number;
  /** The event's id, equal for all endpoints. Ordered by time. */
  eventId: string;
  endpointId: string;
  happening: CustomerEvent;
  /** The number of attempts. */
  attempts: number;
  /**
   * Events of the same message that were not yet sent to the endpoint when this one was stored, where this node has all
   * of them. Absent where there are none, and on callbacks that are read from the store.
   */
  follows?: readonly string[];
}

/** The message within which callbacks keep their order. Clicks have no order: anyone can cause many of them. */
export function messageOf(happening: CustomerEvent): Pick<MessageRef, "requestId" | "n"> | null {
  if (happening.kind === "inbound") return happening.inbound.answers;
  if (happening.kind === "click" || happening.kind === "alert") return null;
  if (happening.kind === "verification") return { requestId: happening.verification.id, n: 1 };
  return parseMessageId(happening.message.messageId);
}

/** The inbound message of an event; null for other events. */
export const inboundIdOf = (happening: CustomerEvent): string | null =>
  happening.kind === "inbound" ? happening.inbound.id : null;

/** True for events whose facts are a snapshot of the message. */
export const isOfMessage = (
  happening: CustomerEvent,
): happening is Extract<CustomerEvent, { kind: "status" | "state" | "sent" }> =>
  happening.kind === "status" || happening.kind === "state" || happening.kind === "sent";

/** The public message id. */
export function messageIdIn(happening: CustomerEvent): string | null {
  if (isOfMessage(happening)) return happening.message.messageId;
  const message = messageOf(happening);
  return message && messageIdOf(message);
}

/** The recent health of an endpoint. */
export interface EndpointHealth {
  /** The start of the current outage; null when there is none. */
  failingSince: number | null;
  lastSuccessAt: number | null;
  lastFailureAt: number | null;
  lastFailure: string | null;
}
