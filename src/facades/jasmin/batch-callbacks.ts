import { derivedId, newId } from "../../lib/ids.ts";
import type { Callback, MessageCallback, StateEvent, WebhookRequest } from "../../model/callback.ts";
import { messageIdOf } from "../../model/message.ts";
import type { StoredCredential } from "../../model/credential.ts";
import { formEncode } from "../parameters.ts";
import { withoutUserInfo } from "../request-url.ts";
import { refused } from "./arguments.ts";

/** Addresses that a batch calls once per recipient: for one that was accepted, and for one that was refused. */
export interface BatchAddresses {
  callbackUrl: string | null;
  errbackUrl: string | null;
}

const URL_MAX = 2000;

/** Reads `callback_url` or `errback_url`; null if it is absent. */
export function readBatchUrl(config: Readonly<Record<string, unknown>>, name: string): string | null {
  const written = config[name];
  if (written === undefined || written === null) return null;
  const isAddress =
    typeof written === "string" && written.length <= URL_MAX && /^https?:\/\//i.test(written) && URL.canParse(written);
  if (isAddress) return written;
  throw refused(`Argument [${name}] has an invalid value: it is an http:// or https:// address.`, name);
}

/** The outcome of one entry of a batch. */
export interface EntryOutcome {
  to: readonly string[];
  sender: string;
  /** The id of the request; null for a refused entry. */
  requestId: string | null;
  /** The reason of a refusal. */
  reason: string;
}

/** The calls of a batch, as callbacks that are stored and repeated like any other. */
export function batchCallbacks(
  { accountId, id: credentialId }: Pick<StoredCredential, "accountId" | "id">,
  { callbackUrl, errbackUrl }: BatchAddresses,
  { batchId, outcomes, at }: { batchId: string; outcomes: readonly EntryOutcome[]; at: number },
): Callback[] {
  return outcomes.flatMap(({ to, sender, requestId, reason }) => {
    const url = requestId === null ? errbackUrl : callbackUrl;
    if (url === null) return [];
    const own: MessageCallback = {
      endpointId: derivedId(JSON.stringify(["jasmin batch", accountId, new URL(url).origin])),
      kind: "jasmin",
      credentialId,
      states: [],
      url,
      method: "GET",
    };
    return to.map((recipient, index): Callback => {
      const messageId = messageIdOf({ requestId: requestId ?? newId(at), n: index + 1 });
      const options = { batchId, text: requestId === null ? reason : `Success "${messageId}"` };
      const message = {
        messageId,
        channel: "sms" as const,
        recipient,
        sender,
        credits: 0,
        createdAt: at,
        session: false,
        callback: { ...own, options },
      };
      const state = requestId === null ? "rejected" : "accepted";
      const happening: StateEvent = {
        kind: "state",
        state,
        at,
        message,
        gateway: "",
        errorCode: null,
        description: null,
      };
      return { accountId, eventId: newId(at), endpointId: own.endpointId, happening, attempts: 0 };
    });
  });
}

/** The request of a batch callback; null for the report of a message. */
export function batchRequest({ state, message }: StateEvent): WebhookRequest | null {
  const { url: address, options: { batchId, text = "" } = {} } = message.callback ?? {};
  if (address === undefined || batchId === undefined) return null;
  const fields = {
    batchId: String(batchId),
    to: message.recipient,
    status: state === "accepted" ? "1" : "0",
    statusText: String(text),
  };
  const query = Object.entries(fields)
    .map(([name, value]) => `${name}=${formEncode(value)}`)
    .join("&");
  const { url, headers } = withoutUserInfo(address);
  return { method: "GET", url: `${url}${url.includes("?") ? "&" : "?"}${query}`, headers, body: null };
}
