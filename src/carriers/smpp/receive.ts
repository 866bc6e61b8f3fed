import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { readNumber } from "../../model/number.ts";
import type { Receipt } from "../../model/receipt.ts";
import type { SmppSettings } from "../../model/smpp-connection.ts";
import type { DataSm, DeliverSm } from "../../smpp/pdu.ts";
import type { OnInbound, OnInboundPart, OnReceipt } from "../carrier.ts";
import { decodeText } from "../../smpp-text/coding.ts";
import { bodyOf } from "../../smpp-text/incoming.ts";
import { alternateIds } from "./message-id.ts";
import { countedText, partOf } from "../../smpp-text/reassemble.ts";
import { readReceipt, type SmppReceipt } from "./parse-receipt.ts";
import { readTlvs } from "./tlvs.ts";

export interface ReceiveSmppDeps {
  accountId: number;
  carrier: string;
  settings: SmppSettings;
  clock: Clock;
  log: Log;
  /** Converts the id in a receipt to the format of the submit response, as far as it has been learned. */
  canonicalId(id: string): string;
  onReceipt: OnReceipt;
  onInbound: OnInbound;
  onInboundPart: OnInboundPart;
}

/** Processes receipts and inbound messages. Resolves once they are committed, so that the PDU can be acknowledged. */
export async function handleDeliverSm(deps: ReceiveSmppDeps, pdu: DeliverSm | DataSm): Promise<void> {
  const { settings, clock, log, carrier } = deps;
  const now = clock.now();
  const { zone, errorTexts: errors, unmarkedReceipts } = settings;
  const receipt = readReceipt(pdu, { zone, errors, unmarkedReceipts }, now);
  if (receipt === null) return receiveInbound(deps, pdu, now);
  if (receipt.messageId === null) {
    log.warn({ carrier, state: receipt.state }, "SMPP receipt without message id ignored");
    return;
  }
  await deps.onReceipt({
    ...receiptOf(deps, receipt, receipt.messageId, pdu.source.address),
    ...readTlvs(settings.receiptTlvs, pdu.tlvs),
  });
}

/** The source address of a receipt is our recipient. */
function receiptOf(
  { carrier, settings, canonicalId: spell }: ReceiveSmppDeps,
  receipt: SmppReceipt,
  id: string,
  phone: string,
): Receipt {
  const { state, errorCode, description, at } = receipt;
  const carrierMessageId = spell(id);
  const alternates = (): string[] =>
    alternateIds(id).flatMap((spelling) => (spelling.id === carrierMessageId ? [] : [spelling.id]));
  const recipient = readNumber(phone) ?? phone;
  return {
    carrier,
    carrierMessageId,
    spelt: id,
    ...(settings.idForm === "auto" ? { alternateIds: alternates } : {}),
    recipient,
    channel: "sms",
    state,
    errorCode,
    description,
    at,
  };
}

async function receiveInbound(deps: ReceiveSmppDeps, pdu: DeliverSm | DataSm, at: number): Promise<void> {
  const { accountId, carrier, settings, log } = deps;
  const from = readNumber(pdu.source.address) ?? pdu.source.address;
  const to = pdu.destination.address;
  if (settings.senders.length > 0 && !settings.senders.includes(to)) {
    log.warn({ carrier }, "SMPP inbound message to unknown sender ignored");
    return;
  }
  const part = partOf(pdu) ?? countedText(pdu);
  if (part) {
    const { reference, total, index, bytes, dataCoding } = part;
    const { alphabet } = settings;
    // Copied: a view would keep the whole read buffer in memory until the part is committed.
    const octets = Buffer.from(bytes);
    return deps.onInboundPart({
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
  await deps.onInbound({ accountId, channel: "sms", from, to, content, answers: null, at });
}
