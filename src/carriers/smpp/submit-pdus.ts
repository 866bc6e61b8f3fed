import { isSms, type Message } from "../../model/message.ts";
import type { SmppSettings } from "../../model/smpp-connection.ts";
import { submitSm, type SubmitSm } from "../../smpp/pdu.ts";
import { recipientAddress, senderAddress } from "./addresses.ts";
import { partsOf, type References } from "../../smpp-text/parts.ts";
import { clientTlvs, submitTlvs } from "./tlvs.ts";
import { registeredDelivery, relativeValidity } from "./validity.ts";

/** Reason why a message cannot be sent over SMPP. */
export interface Unsendable {
  code: string;
  description: string;
}

/** One submit_sm per part, in order. */
export function submitPdusOf(
  message: Message,
  settings: SmppSettings,
  references: References,
  now: number,
): readonly SubmitSm[] | Unsendable {
  const { content, sender, recipient, routeClass, expiresAt } = message;
  if (!isSms(content)) return { code: "NOT_SMS", description: "The carrier takes text messages only" };
  const source = senderAddress(sender, settings.addresses);
  if (source === null)
    return {
      code: "BAD_SENDER",
      description: "No network can show this sender: at most 11 plain characters, or a number",
    };
  const parts = partsOf(
    content,
    {
      alphabet: settings.alphabet,
      flashGsm: Number(settings.flashGsm),
      longMessage: settings.longMessages,
      messagingMode: settings.esmMode,
    },
    () => references.next(recipient),
  );
  if (parts === null) return { code: "TOO_LONG", description: "The text has more parts than a phone puts together" };
  const common = {
    serviceType: settings.serviceType,
    source,
    destination: recipientAddress(recipient, settings.addresses),
    ...(content.protocolId !== undefined && { protocolId: content.protocolId }),
    priorityFlag: settings.priorities[routeClass],
    validityPeriod: settings.validity ? relativeValidity(expiresAt - now) : "",
    registeredDelivery: registeredDelivery({
      receipts: settings.receipts,
      intermediate: settings.intermediateReceipts,
    }),
  };
  const { dlt, tlvs: given } = content;
  const registered =
    settings.tlvs.length === 0 ? [] : submitTlvs(settings.tlvs, { ...(dlt && { dlt }), chain: settings.chain });
  const added = given ? [...registered, ...clientTlvs(given, settings.tlvs)] : registered;
  return parts.map(({ esmClass, dataCoding, shortMessage, tlvs }) =>
    submitSm({ ...common, esmClass, dataCoding, shortMessage, tlvs: [...tlvs, ...added] }),
  );
}
