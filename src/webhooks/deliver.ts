import type { Catalog, EndpointRecord } from "../records/catalog.ts";
import type { Clock } from "../lib/clock.ts";
import type { Encryption } from "../lib/encryption.ts";
import type { Account } from "../model/account.ts";
import {
  messageOf,
  type Callback,
  type CustomerEvent,
  type MessageSnapshot,
  type WebhookRequest,
} from "../model/callback.ts";
import { HELD, type CallbackRef, type Settlement } from "../store/callbacks.ts";
import { writeAttempt } from "./attempt-log.ts";
import type { FacadeDelivery } from "./facade-delivery.ts";
import { withConstantHeaders } from "./constant-headers.ts";
import { eventRequest } from "./payloads/event.ts";
import type { ReportFacts } from "./payloads/placeholders.ts";
import type { WebhookTransport, DeliveryResult } from "./transport/transport.ts";
import { deliveryReportRequest } from "./payloads/delivery-report.ts";
import { isBusy, nextTryAt, readRetryAfter } from "./retry-schedule.ts";
import { signed, type Signing } from "./sign.ts";

export interface DeliverDeps {
  catalog: Catalog;
  transport: Pick<WebhookTransport, "sendWebhook">;
  clock: Clock;
  encryption: Encryption;
  accountOf(accountId: number): Account | null;
  /** The facade that delivers a callback; null for webhooks and delivery reports. Absent without facades. */
  facadeOf?(callback: Callback): FacadeDelivery | null;
  /** The recipient's operator and circle if known; the carrier's own report takes precedence. */
  operatorOf(number: string, told: Pick<MessageSnapshot, "operator" | "circle">): string;
}

/** Outcome of one delivery. */
interface Delivered {
  /** Null if nothing was sent, because the endpoint no longer subscribes. */
  result: DeliveryResult | null;
  endpoint: EndpointRecord | null;
  settlement: Omit<Settlement, "ownedBy">;
}

/**
 * Delivers one callback: renders the payload, has it signed and sent, and gives the settlement to store.
 * Next: src/webhooks/transport/thread.ts
 */
export async function deliver(deps: DeliverDeps, callback: Callback): Promise<Delivered> {
  const facade = deps.facadeOf?.(callback);
  if (facade) return deliverByFacade(deps, facade, callback);
  let endpoint = endpointOf(deps, callback);
  let request = endpoint && unsignedFor(deps, endpoint, callback);
  if (!request) {
    // Another node may have changed the endpoint a moment ago.
    await deps.catalog.refresh();
    endpoint = endpointOf(deps, callback);
    request = endpoint && unsignedFor(deps, endpoint, callback);
  }
  if (!endpoint && isDisabled(deps, callback))
    return { result: null, endpoint: null, settlement: hold(deps, callback) };
  if (!endpoint || !request) {
    const reason = endpoint ? "its endpoint no longer asks for such events" : "its endpoint is gone";
    return { result: null, endpoint: null, settlement: drop(deps, callback, reason) };
  }
  const whole = withConstantHeaders(request, endpoint.content, deps.encryption);
  const result = await deps.transport.sendWebhook(whole, signingOf(deps, endpoint, callback));
  return { result, endpoint, settlement: settlementOf(deps, callback, result) };
}

async function deliverByFacade(deps: DeliverDeps, facade: FacadeDelivery, callback: Callback): Promise<Delivered> {
  const result = await facade.deliver(callback);
  if (result === "away") return { result: null, endpoint: null, settlement: hold(deps, callback) };
  if (result === "nothing to send") {
    const settlement = drop(deps, callback, "its API has no such event, or its credential is gone");
    return { result: null, endpoint: null, settlement };
  }
  return { result, endpoint: null, settlement: settlementOf(deps, callback, result) };
}

const endpointOf = (
  { catalog }: Pick<DeliverDeps, "catalog">,
  { accountId, endpointId }: Callback,
): EndpointRecord | null => catalog.of(accountId).endpoint(endpointId);

const isDisabled = ({ catalog }: Pick<DeliverDeps, "catalog">, { accountId, endpointId }: Callback): boolean =>
  (catalog.find(accountId, "webhook", endpointId) ?? catalog.find(accountId, "dlrConfig", endpointId)) !== null;

/** The signed request for an endpoint; null if it does not subscribe. */
export function requestFor(deps: DeliverDeps, endpoint: EndpointRecord, callback: Callback): WebhookRequest | null {
  const request = unsignedFor(deps, endpoint, callback);
  if (!request) return null;
  return signed(withConstantHeaders(request, endpoint.content, deps.encryption), signingOf(deps, endpoint, callback));
}

/** The request without a signature, for samples. */
export function unsignedFor(
  deps: DeliverDeps,
  { kind, content }: EndpointRecord,
  callback: Callback,
): WebhookRequest | null {
  const { accountId, eventId, happening } = callback;
  const facts = reportFacts(deps, accountId, happening);
  return kind === "dlrConfig"
    ? deliveryReportRequest(content, happening, facts)
    : eventRequest(content, happening, eventId, facts);
}

function signingOf({ clock, encryption }: DeliverDeps, { content }: EndpointRecord, { eventId }: Callback): Signing {
  const now = clock.now();
  const counting = content.secrets.filter(({ until }) => until === null || until > now);
  return {
    id: eventId,
    timestampSeconds: Math.floor(now / 1000),
    secrets: counting.map(({ sealed }) => encryption.decrypt(sealed)),
  };
}

/** Values of a delivery report that are not part of the event. */
export function reportFacts(
  { accountOf, operatorOf }: Pick<DeliverDeps, "accountOf" | "operatorOf">,
  accountId: number,
  happening: CustomerEvent,
): ReportFacts {
  return {
    operatorCircle: () =>
      happening.kind === "status" ? operatorOf(happening.message.recipient, happening.message) : operatorOf("", {}),
    zone: accountOf(accountId)?.settings.zone ?? "UTC",
  };
}

function settlementOf({ clock }: DeliverDeps, callback: Callback, result: DeliveryResult): Omit<Settlement, "ownedBy"> {
  const at = clock.now();
  const common = { ...settledRef(callback), at, attempted: true };
  if (result.kind === "delivered") {
    const { status, ms, excerpt } = result;
    const log = writeAttempt({ at, ms, status, excerpt, nextTryAt: null });
    return { ...common, state: "delivered", dueAt: at, message: null, log };
  }
  // Also after a 410: it disables the endpoint, and the next attempt finds it disabled.
  const next = nextTryAt({
    attempts: callback.attempts + 1,
    now: at,
    retryAfterMs: readRetryAfter(result.retryAfter, at),
    busy: isBusy(result),
    random: Math.random,
  });
  const log = writeAttempt({ at, ...result, nextTryAt: next });
  if (next === null) return { ...common, state: "exhausted", dueAt: at, message: null, log };
  return { ...common, state: "waiting", dueAt: next, message: messageOf(callback.happening), log };
}

/** Holds the callback until its endpoint is enabled again. */
function hold({ clock }: DeliverDeps, callback: Callback): Omit<Settlement, "ownedBy"> {
  const at = clock.now();
  const message = messageOf(callback.happening);
  return { ...settledRef(callback), at, attempted: false, state: "waiting", dueAt: HELD, message, log: "" };
}

function drop({ clock }: DeliverDeps, callback: Callback, reason: string): Omit<Settlement, "ownedBy"> {
  const at = clock.now();
  const log = writeAttempt({ at, ms: 0, status: null, reason, excerpt: "", nextTryAt: null });
  return { ...settledRef(callback), at, attempted: false, state: "dropped", dueAt: at, message: null, log };
}

/** Key of a callback and of the attempt that is settled. */
export const settledRef = (callback: Callback): CallbackRef & Pick<Settlement, "attempts"> => {
  const { accountId, eventId, endpointId, attempts } = callback;
  return { accountId, eventId, endpointId, attempts };
};
