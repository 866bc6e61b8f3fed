import type { InboundMessage } from "../../model/inbound.ts";
import type { StoredCredential } from "../../model/credential.ts";
import { smppAccessOf, type SmppAccess } from "../../model/smpp-access.ts";
import { deliverSm, type Address, type DeliverSm } from "../../smpp/pdu.ts";
import { firstUcs2Character } from "../../channels/sms/segment.ts";
import { partsOf } from "../../smpp-text/parts.ts";

/** Message from a phone as PDUs, one per part; empty if it has no text. */
export function inboundPdus(
  { from, to, content }: Pick<InboundMessage, "from" | "to" | "content">,
  { alphabet, longMessages }: Pick<SmppAccess, "alphabet" | "longMessages">,
  nextReference: () => number,
): DeliverSm[] {
  const text = content.kind === "text" ? content.text : content.kind === "suggestion" ? content.plainText : "";
  if (text === "") return [];
  const encoding = firstUcs2Character(text) === null ? ("gsm7" as const) : ("ucs2" as const);
  const settings = { alphabet, longMessage: longMessages, messagingMode: 0 as const, flashGsm: 0xf0 };
  const parts = partsOf({ text, encoding, flash: false }, settings, nextReference) ?? [];
  return parts.map(({ esmClass, dataCoding, shortMessage, tlvs }) =>
    deliverSm({
      source: { ton: 1, npi: 1, address: from },
      destination: receiverAddress(to),
      esmClass,
      dataCoding,
      shortMessage,
      tlvs,
    }),
  );
}

const SHORT_CODE_DIGITS = 6;

/** The number or sender id that the phone wrote to. */
function receiverAddress(to: string): Address {
  if (!/^\+?[0-9]+$/.test(to)) return { ton: 5, npi: 0, address: to };
  const digits = to.replace(/^\+/, "");
  return digits.length <= SHORT_CODE_DIGITS ? { ton: 3, npi: 0, address: digits } : { ton: 1, npi: 1, address: digits };
}

/** True if a system id gets this message: a text to one of its senders, or to any if it has none of its own. */
export function wantsSmppInbound(
  { settings }: Pick<StoredCredential, "settings">,
  { channel, to }: InboundMessage,
): boolean {
  const { features, senders } = smppAccessOf(settings);
  return channel === "sms" && features.includes("inbound") && (senders.length === 0 || senders.includes(to));
}
