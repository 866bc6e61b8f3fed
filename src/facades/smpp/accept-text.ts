import { readSms } from "../../channels/sms/read.ts";
import type { Clock } from "../../lib/clock.ts";
import type { MessageCallback } from "../../model/callback.ts";
import { STATES, type RouteClass, type SmsLimits } from "../../model/message.ts";
import { accept, type AcceptDeps } from "../../pipeline/accept/accept.ts";
import { refuseSingle, type PrepareDeps } from "../../pipeline/accept/prepare.ts";
import { prepareCurrent } from "../../pipeline/accept/prepare-current.ts";
import { prepareSms } from "../../pipeline/accept/prepare-sms.ts";
import type { Address } from "../../smpp/pdu.ts";
import type { SmppClient } from "./client.ts";
import type { Submission } from "./read-submit.ts";
import { wantsReceipt } from "./receipt.ts";

export interface AcceptTextDeps {
  prepareDeps: PrepareDeps;
  acceptDeps: AcceptDeps;
  smsRules: SmsLimits;
  clock: Clock;
}

/** A whole text that a client submitted. */
export interface SubmittedSms extends Omit<Submission, "body" | "registeredDelivery"> {
  text: string;
  recipients: readonly string[];
  source: Address;
  /** As the client wrote it; null for several recipients. */
  destination: Address | null;
  /** One entry per submit: several if the text came in parts. */
  receipts: readonly ReceiptWish[];
}

/** The receipts that a submit asked for: their states and their id. */
export interface ReceiptWish {
  /** The id in its submit response; null for the id of the request. */
  id: string | null;
  registeredDelivery: number;
}

/** A submit whose client waits for a response, or a text of stored parts, which its key keeps from being sent twice. */
type TextOrigin = { arrivedAt: number } | { idempotencyKey: string };

/** Accepts a text as the API does, and resolves with the id of its request once it is on disk. */
export async function acceptText(
  { prepareDeps, acceptDeps, smsRules, clock }: AcceptTextDeps,
  client: SmppClient,
  sms: SubmittedSms,
  origin: TextOrigin,
): Promise<string> {
  const { account, test, credentialId, address } = client;
  const now = clock.now();
  const { recipients, expiresAt, dlt, tlvs, userData } = sms;
  // The last part of a long text may come after the time at which the text was to be sent.
  const sendAt = sms.sendAt !== null && sms.sendAt > now ? sms.sendAt : null;
  const body = {
    sender: sms.sender,
    to: recipients.length === 1 ? recipients[0] : recipients,
    text: sms.text,
    type: sms.routeClass satisfies RouteClass,
    ...(sms.ucs2 && { unicode: 1 }),
    ...(sms.flash && { flash: 1 }),
    ...(sendAt !== null && { sendAt }),
  };
  const arrived = { by: "SMPP", from: address };
  const draft = {
    ...readSms(body, smsRules, account.settings, now),
    arrived,
    ...(dlt && { dlt }),
    ...(userData && { userData }),
    tlvs,
  };
  const request = { account, test, draft, dryRun: false };
  const prepared = await prepareCurrent(prepareDeps, () => prepareSms(prepareDeps, request));
  refuseSingle(prepared);
  const { answer } = await accept(acceptDeps, {
    prepared,
    ...("arrivedAt" in origin
      ? { idempotency: null, arrivedAt: origin.arrivedAt }
      : { idempotency: { path: `smpp ${credentialId}`, key: origin.idempotencyKey, body: null } }),
    answer: (requestId) => requestId,
    flow: credentialId,
    callback: callbackOf(credentialId, sms),
    ...(expiresAt !== null && { validForMs: Math.max(0, expiresAt - (sendAt ?? now)) }),
  });
  return answer;
}

/** The receipts of a message, as they are stored with it. Without receipts it still names the system id, for query_sm and cancel_sm. */
export function callbackOf(
  credentialId: string,
  sms: Pick<SubmittedSms, "source" | "destination" | "receipts">,
): MessageCallback {
  const { source, destination, receipts } = sms;
  const states = STATES.filter((state) =>
    receipts.some(({ registeredDelivery }) => wantsReceipt(registeredDelivery, state)),
  );
  // One queue per system id.
  const callback = { endpointId: credentialId, kind: "smpp", credentialId, states };
  if (states.length === 0) return callback;
  const options = { receipts: JSON.stringify(receipts), source: JSON.stringify(source) };
  return {
    ...callback,
    options: destination === null ? options : { ...options, destination: JSON.stringify(destination) },
  };
}
