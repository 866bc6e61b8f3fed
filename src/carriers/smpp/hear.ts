import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { readNumber } from "../../model/number.ts";
import type { SmppSettings } from "../../model/smpp-line.ts";
import type { DataSm, DeliverSm } from "../../smpp/pdu.ts";
import type { OnInbound, OnInboundPart, OnReceipt, Receipt } from "../carrier.ts";
import { decodeText } from "./coding.ts";
import { bodyOf } from "./incoming.ts";
import { formsOf } from "./message-id.ts";
import { countedText, partOf } from "./reassemble.ts";
import { readReceipt, type SmppReceipt } from "./receipt.ts";
import { readTlvs } from "./tlvs.ts";

export interface HearNeeds {
  accountId: number;
  carrier: string;
  settings: SmppSettings;
  clock: Clock;
  log: Log;
  /** The id in a receipt as the answer to the submit spelt it, as far as that has been learned. */
  spell(id: string): string;
  onReceipt: OnReceipt;
  onInbound: OnInbound;
  onInboundPart: OnInboundPart;
}

/** Takes what a carrier delivers: receipts, and what phones send. Resolves once it is on disk, so that it may be acknowledged. */
export async function hear(needs: HearNeeds, pdu: DeliverSm | DataSm): Promise<void> {
  const { settings, clock, log, carrier } = needs;
  const now = clock.now();
  const { zone, errorTexts: errors, unmarkedReceipts } = settings;
  const receipt = readReceipt(pdu, { zone, errors, unmarkedReceipts }, now);
  if (receipt === null) return hearPhone(needs, pdu, now);
  if (receipt.messageId === null) {
    log.warn({ carrier, state: receipt.state }, "receipt names no message: nobody can tell which it means");
    return;
  }
  await needs.onReceipt({
    ...receiptOf(needs, receipt, receipt.messageId, pdu.source.address),
    ...readTlvs(settings.receiptTlvs, pdu.tlvs),
  });
}

/** The carrier writes it as if the phone had sent it: its source is our recipient. */
function receiptOf({ carrier, settings, spell }: HearNeeds, receipt: SmppReceipt, id: string, phone: string): Receipt {
  const { state, errorCode, description, at } = receipt;
  const carrierMessageId = spell(id);
  const respell = (): string[] =>
    formsOf(id).flatMap((spelling) => (spelling.id === carrierMessageId ? [] : [spelling.id]));
  const recipient = readNumber(phone) ?? phone;
  return {
    carrier,
    carrierMessageId,
    spelt: id,
    ...(settings.idForm === "auto" ? { respell } : {}),
    recipient,
    channel: "sms",
    state,
    errorCode,
    description,
    at,
  };
}

async function hearPhone(needs: HearNeeds, pdu: DeliverSm | DataSm, at: number): Promise<void> {
  const { accountId, carrier, settings, log } = needs;
  const from = readNumber(pdu.source.address) ?? pdu.source.address;
  const to = pdu.destination.address;
  if (settings.senders.length > 0 && !settings.senders.includes(to)) {
    log.warn({ carrier }, "text from a phone to a number that is none of this line's senders: not taken");
    return;
  }
  const part = partOf(pdu) ?? countedText(pdu);
  if (part) {
    const { reference, total, index, bytes, dataCoding } = part;
    const { alphabet } = settings;
    // A view of what was read would keep all of that in memory for as long as the part waits to be written.
    const octets = Buffer.from(bytes);
    return needs.onInboundPart({
      accountId,
      carrier,
      from,
      to,
      reference,
      total,
      index,
      octets,
      dataCoding,
      alphabet,
      at,
    });
  }
  const { text } = decodeText(bodyOf(pdu).bytes, pdu.dataCoding, settings.alphabet);
  const content = { kind: "text", text: text.toWellFormed() } as const;
  await needs.onInbound({ accountId, channel: "sms", from, to, content, answers: null, at });
}
