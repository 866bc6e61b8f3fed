import { t } from "../../i18n/t.ts";
/** Response types of webhooks and delivery-report configurations. */

export interface Webhook {
  id: string;
  name: string;
  channel: string;
  channels: readonly string[];
  method: string;
  url: string;
  events: readonly string[];
  enabled: boolean;
  disabledReason: string | null;
  oldSecretUntil: number | null;
  origin: string;
}

export interface DlrConfig extends Omit<Webhook, "channel" | "channels" | "events"> {
  provider: string;
  headers: readonly HeaderPair[];
  fields: readonly ReportField[] | null;
}

export interface HeaderPair {
  key: string;
  value: string;
}

export interface ReportField {
  name: string;
  /** A placeholder, or a constant text. */
  value: string;
}

export type Endpoint = Webhook | DlrConfig;

interface PushRequest {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
}

export interface Trial {
  eventId: string;
  request: PushRequest;
  response: { delivered: boolean; status: number | null; ms: number; excerpt: string; reason: string | null };
}

export interface EndpointHealth {
  enabled: boolean;
  disabledReason: string | null;
  failingSince: number | null;
  lastSuccessAt: number | null;
  lastFailureAt: number | null;
  lastFailure: string | null;
  node: { inFlight: number; allowed: number; waiting: number; breaker: string; openForMs: number } | null;
}

/** API path of a kind of endpoint. */
export type EndpointPath = "/api/webhooks" | "/api/dlr-configs";

/** Names of the webhook events. */
export const EVENT_NAMES: Readonly<Record<string, string>> = {
  user_message: t("Incoming messages"),
  delivery_report: t("Delivery reports"),
  message_status: t("Message status"),
  message_sent: t("Sent messages"),
  link_click: t("Short-link clicks"),
  verification_status: t("Verification status"),
  alert_status: t("Alerts"),
};

/** The subjects of webhooks in the order of the forms, with the events of each. */
const CHANNEL_EVENTS: Readonly<Record<string, readonly string[]>> = {
  sms: ["user_message", "delivery_report", "link_click"],
  rcs: ["user_message", "message_status"],
  chatapp: ["user_message", "message_status", "message_sent"],
  verify: ["verification_status"],
  system: ["alert_status"],
};

export const ALL_CHANNELS = Object.keys(CHANNEL_EVENTS);

/** The events of the given channels, without duplicates. */
export const eventsOf = (channels: readonly string[]): string[] =>
  Object.keys(EVENT_NAMES).filter((event) => channels.some((channel) => CHANNEL_EVENTS[channel]?.includes(event)));
