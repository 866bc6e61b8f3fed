import type { Callback } from "../../model/callback.ts";
import type { StoredCredential } from "../../model/credential.ts";
import type { FacadeDelivery } from "../../webhooks/facade-delivery.ts";
import type { DeliveryResult, WebhookTransport } from "../../webhooks/transport/transport.ts";
import { dlrRequest } from "./dlr.ts";
import { inboundRequest, replyIn, serviceFor } from "./inbound.ts";
import type { KannelReply } from "./send-reply.ts";

export interface KannelDeliveryDeps {
  transport: Pick<WebhookTransport, "sendWebhook">;
  /** Also revoked and expired ones. */
  credentialsOf(accountId: number): readonly StoredCredential[];
  isValid(credential: StoredCredential): boolean;
  /** Sends a reply; false if it has to be tried again. */
  sendReply(reply: KannelReply): Promise<boolean>;
}

/** Delivers reports to the `dlr-url` of a message, and inbound messages to the services of a credential. */
export const createKannelDelivery = (deps: KannelDeliveryDeps): FacadeDelivery => ({
  async deliver(callback) {
    if (callback.happening.kind === "inbound") return deliverInbound(deps, callback);
    const request = dlrRequest(callback);
    return request ? deps.transport.sendWebhook(request, null) : "nothing to send";
  },
});

async function deliverInbound(
  { transport, credentialsOf, isValid, sendReply }: KannelDeliveryDeps,
  { accountId, endpointId, eventId, happening }: Callback,
): Promise<DeliveryResult | "nothing to send"> {
  const credential = credentialsOf(accountId).find(({ id }) => id === endpointId);
  if (!credential || happening.kind !== "inbound") return "nothing to send";
  const { inbound } = happening;
  const service = serviceFor(credential, inbound);
  const request = inboundRequest(credential, inbound);
  if (!service || !request) return "nothing to send";
  const result = await transport.sendWebhook(request, null);
  const text = result.kind === "delivered" ? replyIn(service, result) : null;
  // A revoked credential sends no more, although an inbound message that was on its way still reaches its receiver.
  if (text === null || !isValid(credential)) return result;
  const reply = { credential, inbound, text, sender: service.fakedSender ?? null, key: `${eventId} ${credential.id}` };
  if (await sendReply(reply)) return result;
  const reason = "its reply could not be accepted yet";
  return { ...result, kind: "failed", reason, timedOut: false, retryAfter: null, gone: false };
}
