import type { Callback, StateEvent, WebhookRequest } from "../../model/callback.ts";
import { FAILURES, parseMessageId, type State } from "../../model/message.ts";
import type { FacadeDelivery } from "../../webhooks/facade-delivery.ts";
import type { DeliveryResult, WebhookTransport } from "../../webhooks/transport/transport.ts";
import type { StoredCredential } from "../../model/credential.ts";
import { formEncode } from "../parameters.ts";
import { withoutUserInfo } from "../request-url.ts";
import { batchRequest } from "./batch-callbacks.ts";
import { inboundRequest } from "./inbound.ts";

/** The text of a receiver's response, which must also be a 200. */
const ACKNOWLEDGED = "ACK/Jasmin";

export interface JasminDeliveryDeps {
  transport: Pick<WebhookTransport, "sendWebhook">;
  /** Also revoked and expired ones. */
  credentialsOf(accountId: number): readonly StoredCredential[];
}

/** Delivers reports to the `dlr-url` of a message, and inbound messages to the address of a credential. */
export const createJasminDelivery = ({ transport, credentialsOf }: JasminDeliveryDeps): FacadeDelivery => ({
  async deliver(callback) {
    const { happening } = callback;
    const batched = happening.kind === "state" ? batchRequest(happening) : null;
    // Jasmin does not read the response to a batch callback.
    if (batched) return transport.sendWebhook(batched, null);
    const request = requestOf(callback, credentialsOf);
    return request ? requireAcknowledgement(await transport.sendWebhook(request, null)) : "nothing to send";
  },
});

function requestOf(callback: Callback, credentialsOf: JasminDeliveryDeps["credentialsOf"]): WebhookRequest | null {
  const { accountId, endpointId, happening } = callback;
  if (happening.kind !== "inbound") return dlrRequest(callback);
  const credential = credentialsOf(accountId).find(({ id }) => id === endpointId);
  return credential ? inboundRequest(credential, happening.inbound) : null;
}

/** A response without the acknowledgement is a failure, so the report is repeated. */
export function requireAcknowledgement(result: DeliveryResult): DeliveryResult {
  if (result.kind === "failed" || result.excerpt.trim() === ACKNOWLEDGED) return result;
  const reason = `the response was not ${ACKNOWLEDGED}`;
  return { ...result, kind: "failed", reason, timedOut: false, retryAfter: null, gone: false };
}

/** The statuses of a report of the second level. */
const STATUSES: Partial<Record<State, string>> = {
  delivered: "DELIVRD",
  undelivered: "UNDELIV",
  expired: "EXPIRED",
  rejected: "REJECTD",
  cancelled: "DELETED",
  unknown: "UNKNOWN",
};

/** The request that reports a state; null if the level of the message does not ask for it. */
function dlrRequest({ happening }: Callback): WebhookRequest | null {
  if (happening.kind !== "state") return null;
  const { callback } = happening.message;
  if (callback?.url === undefined) return null;
  const { level, single } = callback.options ?? {};
  const fields = fieldsOf(happening, Number(level), single === true);
  if (!fields) return null;
  const form = Object.entries(fields)
    .map(([name, value]) => `${name}=${formEncode(value)}`)
    .join("&");
  const { url, headers } = withoutUserInfo(callback.url);
  if (callback.method === "POST")
    return {
      method: "POST",
      url,
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
      body: form,
    };
  return { method: "GET", url: `${url}${url.includes("?") ? "&" : "?"}${form}`, headers, body: null };
}

function fieldsOf(event: StateEvent, level: number, single: boolean): Record<string, string> | null {
  const { state, at, gateway, errorCode, message } = event;
  // A message of `/send` is named by its request; one of a batch has a place within it.
  const id = (single ? parseMessageId(message.messageId)?.requestId : null) ?? message.messageId;
  if (isFirstLevel(event, level)) {
    const status = state === "submitted" ? "ESME_ROK" : "ESME_RSUBMITFAIL";
    return { id, message_status: status, level: "1", connector: gateway };
  }
  const status = STATUSES[state];
  if (level === 1 || status === undefined) return null;
  return {
    id,
    id_smsc: message.messageId,
    message_status: status,
    level: "2",
    subdate: dateOf(message.createdAt),
    donedate: dateOf(at),
    sub: "001",
    dlvrd: state === "delivered" ? "001" : "000",
    err: errorCode ?? "000",
    text: "",
    connector: gateway,
  };
}

/** Level 1 reports what the carrier answered to the submit, and a message that never came so far. */
function isFirstLevel({ state, gateway, errorCode }: StateEvent, level: number): boolean {
  if (state === "submitted") return true;
  if (level === 2) return false;
  if (state === "rejected" || state === "cancelled") return true;
  return state === "expired" && (gateway === "" || (errorCode !== null && Object.hasOwn(FAILURES, errorCode)));
}

/** `YYMMDDhhmm` in UTC. */
const dateOf = (epochMs: number): string => new Date(epochMs).toISOString().replaceAll(/\D/g, "").slice(2, 12);
