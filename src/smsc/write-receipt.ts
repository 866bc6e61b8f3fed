import type { FatedReport } from "../carriers/simulator/fate.ts";
import { deliverSm, type DeliverSm, type SubmitSm } from "../smpp/pdu.ts";
import { tlv, type Tlv } from "../smpp/tlv.ts";
import type { Whims } from "./whims.ts";

const IS_RECEIPT = 0x04;
/** Tags that are free for carriers to use as they like. */
const OPERATOR = 0x1401;
const CIRCLE = 0x1402;

/** By the state of a report: the word in a receipt's text, and the number in its parameter. */
const STATES: Readonly<Record<FatedReport["state"], readonly [string, number]>> = {
  enroute: ["ENROUTE", 1],
  delivered: ["DELIVRD", 2],
  read: ["DELIVRD", 2],
  expired: ["EXPIRED", 3],
  undelivered: ["UNDELIV", 5],
  unknown: ["UNKNOWN", 7],
  rejected: ["REJECTD", 8],
};

/** A receipt as SMSCs write it: as if the phone had sent it to whoever sent the message. */
export function writeReceipt(
  submit: Pick<SubmitSm, "source" | "destination" | "shortMessage">,
  id: string,
  { state, errorCode }: FatedReport,
  { receiptsAs, operator, circle }: Pick<Whims, "receiptsAs" | "operator" | "circle">,
  times: { submittedAt: number; now: number },
): DeliverSm {
  const [word, number] = STATES[state];
  const delivered = state === "delivered" ? "001" : "000";
  const text = `id:${id} sub:001 dlvrd:${delivered} submit date:${dateOf(times.submittedAt)} done date:${dateOf(times.now)} stat:${word} err:${errorCode ?? "000"} text:`;
  return deliverSm({
    source: submit.destination,
    destination: submit.source,
    esmClass: IS_RECEIPT,
    shortMessage: receiptsAs === "parameters" ? Buffer.alloc(0) : Buffer.from(text, "latin1"),
    tlvs: [
      ...(receiptsAs === "text" ? [] : [tlv("receipted_message_id", id), tlv("message_state", number)]),
      ...vendorTlv(OPERATOR, operator),
      ...vendorTlv(CIRCLE, circle),
    ],
  });
}

const vendorTlv = (tag: number, text: string | null): Tlv[] =>
  text === null ? [] : [{ tag, value: Buffer.from(`${text}\0`) }];

/** YYMMDDhhmm, in UTC. */
function dateOf(at: number): string {
  const [, year, month, day, hour, minute] =
    /^\d\d(\d\d)-(\d\d)-(\d\d)T(\d\d):(\d\d)/.exec(new Date(at).toISOString()) ?? [];
  return `${year}${month}${day}${hour}${minute}`;
}
