import { t } from "../../i18n/t.ts";
/** What the API answers about addresses that are told what happens. */

export interface Webhook {
  id: string;
  name: string;
  channel: string;
  method: string;
  url: string;
  events: readonly string[];
  enabled: boolean;
  disabledReason: string | null;
  oldSecretUntil: number | null;
  origin: string;
}

export interface DlrConfig extends Omit<Webhook, "channel" | "events"> {
  provider: string;
  headers: readonly HeaderPair[];
}

export interface HeaderPair {
  key: string;
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

/** Where the API has both kinds of endpoint. */
export type EndpointPath = "/api/webhooks" | "/api/dlr-configs";

/** What the events of webhooks are called for people. */
export const EVENT_NAMES: Readonly<Record<string, string>> = {
  user_message: t("Incoming messages"),
  message_status: t("Message status"),
  message_sent: t("Sent messages"),
  link_click: t("Short-link clicks"),
  verification_status: t("Verification status"),
};
