import type { Encryption } from "../../lib/encryption.ts";
import type { Callback, WebhookRequest } from "../../model/callback.ts";
import type { StoredCredential } from "../../model/credential.ts";
import type { InboundMessage } from "../../model/inbound.ts";
import type { FacadeDelivery } from "../../webhooks/facade-delivery.ts";
import type { DeliveryResult, WebhookTransport } from "../../webhooks/transport/transport.ts";
import { inboundFields } from "./inbound-webhook.ts";
import { settingsOf } from "./settings.ts";
import { signatureOf } from "./signature.ts";
import { statusFields } from "./status-callback.ts";
import { readTwiml, type TwimlMessage } from "./twiml.ts";

/** A reply to an inbound message, which is sent once however often its callback is delivered. */
export interface TwimlReply {
  credential: StoredCredential;
  inbound: InboundMessage;
  message: TwimlMessage;
  /** Names the reply. */
  key: string;
}

export interface TwilioDeliveryDeps {
  transport: Pick<WebhookTransport, "sendWebhook">;
  encryption: Pick<Encryption, "decrypt">;
  /** Also revoked and expired ones. */
  credentialsOf(accountId: number): readonly StoredCredential[];
  isValid(credential: StoredCredential): boolean;
  /** Sends a reply; false if it has to be tried again. */
  sendReply(reply: TwimlReply): Promise<boolean>;
}

/** Delivers status callbacks and inbound messages as Twilio does, and sends the messages of TwiML responses. */
export const createTwilioDelivery = (deps: TwilioDeliveryDeps): FacadeDelivery => ({
  async deliver(callback) {
    const { accountId, endpointId, happening } = callback;
    const credentials = deps.credentialsOf(accountId).filter(({ kind }) => kind === "twilio");
    if (happening.kind === "state") {
      const own = happening.message.callback;
      const credential = credentials.find(({ id }) => id === own?.credentialId);
      if (!own?.url || !credential) return "nothing to send";
      const target = { url: own.url, method: own.method ?? "POST" } as const;
      return deps.transport.sendWebhook(
        requestOf(deps, credential, credentials, target, statusFields(happening, credential)),
      );
    }
    const credential = credentials.find(({ id }) => id === endpointId);
    const { inboundUrl = null, inboundMethod = "POST" } = credential ? settingsOf(credential) : {};
    if (!credential || inboundUrl === null || happening.kind !== "inbound") return "nothing to send";
    const target = { url: inboundUrl, method: inboundMethod };
    const fields = inboundFields(happening.inbound, credential);
    const result = await deps.transport.sendWebhook(requestOf(deps, credential, credentials, target, fields));
    return replyTo(deps, credential, callback, happening.inbound, result);
  },
});

interface Target {
  url: string;
  method: "GET" | "POST";
}

function requestOf(
  deps: TwilioDeliveryDeps,
  credential: StoredCredential,
  credentials: readonly StoredCredential[],
  { url, method }: Target,
  fields: Readonly<Record<string, string>>,
): WebhookRequest {
  const form = new URLSearchParams(fields).toString();
  const address = method === "GET" ? url + (url.includes("?") ? "&" : "?") + form : url;
  const token = signingToken(deps, credential, credentials);
  const headers = {
    ...(method === "POST" && { "content-type": "application/x-www-form-urlencoded; charset=utf-8" }),
    ...(token !== null && { "x-twilio-signature": signatureOf(token, address, method === "POST" ? fields : {}) }),
  };
  return { method, url: address, headers, body: method === "POST" ? form : null };
}

/**
 * The AuthToken that signs: that of the credential, or else the account's newest one of the same mode. A revoked one signs only
 * where there is no other, because its receivers know no other. Null where the account has API keys only.
 */
function signingToken(
  { encryption, isValid }: TwilioDeliveryDeps,
  credential: StoredCredential,
  credentials: readonly StoredCredential[],
): string | null {
  const newestFirst = credentials
    .filter(({ mode, sealed }) => mode === credential.mode && sealed !== null)
    .toSorted((a, b) => b.createdAt - a.createdAt);
  const own = newestFirst.filter(({ id }) => id === credential.id);
  const candidates = [...own, ...newestFirst];
  const sealed = (candidates.find(isValid) ?? candidates[0])?.sealed ?? null;
  return sealed === null ? null : encryption.decrypt(sealed);
}

async function replyTo(
  { sendReply, isValid }: TwilioDeliveryDeps,
  credential: StoredCredential,
  { eventId }: Callback,
  inbound: InboundMessage,
  result: DeliveryResult,
): Promise<DeliveryResult> {
  // A revoked credential sends no more, although an inbound message that was on its way still reaches its receiver.
  if (result.kind !== "delivered" || !isValid(credential)) return result;
  for (const [place, message] of (readTwiml(result.excerpt) ?? []).entries()) {
    const isSent = await sendReply({ credential, inbound, message, key: `${eventId} ${credential.id} ${place}` });
    if (!isSent)
      return {
        ...result,
        kind: "failed",
        reason: "its reply could not be accepted yet",
        timedOut: false,
        retryAfter: null,
        gone: false,
      };
  }
  return result;
}
