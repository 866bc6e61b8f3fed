import type { ScriptedReceipt } from "../carriers/simulator/scripted-outcome.ts";
import { deliverSm, type DeliverSm, type SubmitSm } from "../smpp/pdu.ts";
import { tlv, type Tlv } from "../smpp/tlv.ts";
import type { SmscBehavior } from "./behavior.ts";

const IS_RECEIPT = 0x04;
/** Tags reserved for vendors. */
const OPERATOR = 0x1401;
const CIRCLE = 0x1402;

/** By receipt state: the word in the text and the number in message_state. */
const STATES: Readonly<Record<ScriptedReceipt["state"], readonly [string, number]>> = {
  enroute: ["ENROUTE", 1],
  delivered: ["DELIVRD", 2],
  read: ["DELIVRD", 2],
  expired: ["EXPIRED", 3],
  undelivered: ["UNDELIV", 5],
  unknown: ["UNKNOWN", 7],
  rejected: ["REJECTD", 8],
};

/** Creates a receipt as SMSCs do: its source is the phone, its destination the sender. */
export function writeReceipt(
  submit: Pick<SubmitSm, "source" | "destination" | "shortMessage">,
  id: string,
  { state, errorCode }: ScriptedReceipt,
  { receiptsAs, operator, circle }: Pick<SmscBehavior, "receiptsAs" | "operator" | "circle">,
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

/** YYMMDDhhmm in UTC. */
function dateOf(at: number): string {
  const [, year, month, day, hour, minute] =
    /^\d\d(\d\d)-(\d\d)-(\d\d)T(\d\d):(\d\d)/.exec(new Date(at).toISOString()) ?? [];
  return `${year}${month}${day}${hour}${minute}`;
}
