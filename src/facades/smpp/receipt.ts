import type { State } from "../../model/message.ts";
import type { SmppAccess } from "../../model/smpp-access.ts";
import { deliverSm, type Address, type DeliverSm } from "../../smpp/pdu.ts";
import { tlv, TLVS } from "../../smpp/tlv.ts";
import { writeMessageId } from "./message-id.ts";
import { writeReceiptDate } from "./time.ts";

const IS_RECEIPT = 0x04;
const IS_INTERMEDIATE = 0x20;
/** registered_delivery: which final states are reported, and whether intermediate ones are. */
const FINAL_BITS = 0x03;
const ALL = 1;
const FAILURES_ONLY = 2;
const SUCCESS_ONLY = 3;
const INTERMEDIATE = 0x10;
/** network_error_code of an error whose network is not known. */
const NETWORK_UNKNOWN = 0;
const ERROR_DIGITS = 3;

const REQUIRED_TLVS = ["receipted_message_id", "message_state"] as const;

/** By state: the usual word in the text and the number in message_state. States that are absent are not reported. */
const STATES: Readonly<Partial<Record<State, readonly [word: string, number: number]>>> = {
  submitted: ["ENROUTE", 1],
  delivered: ["DELIVRD", 2],
  expired: ["EXPIRED", 3],
  cancelled: ["DELETED", 4],
  undelivered: ["UNDELIV", 5],
  unknown: ["UNKNOWN", 7],
  rejected: ["REJECTD", 8],
};

/** True if a client that set these bits wants a receipt of this state. */
export function wantsReceipt(registeredDelivery: number, state: State): boolean {
  if (STATES[state] === undefined) return false;
  if (state === "submitted") return (registeredDelivery & INTERMEDIATE) !== 0;
  const wish = registeredDelivery & FINAL_BITS;
  return wish === ALL || wish === (state === "delivered" ? SUCCESS_ONLY : FAILURES_ONLY);
}

export interface ReceiptFacts {
  /** The id that the submit response had. */
  id: string;
  state: State;
  errorCode: string | null;
  /** Addresses of the submit: the receipt goes the opposite way. */
  source: Address;
  destination: Address;
  submittedAt: number;
  at: number;
}

/** Number of a state in message_state; zero for states that are not reported. */
export const messageStateOf = (state: State): number => STATES[state]?.[1] ?? 1;

export type ReceiptFormat = Pick<
  SmppAccess,
  "messageIdForm" | "receiptForm" | "receiptWords" | "receiptErrors" | "receiptTlvs"
>;

/** Creates a receipt in the form of the client. */
export function receiptOf(facts: ReceiptFacts, access: ReceiptFormat): DeliverSm {
  const { state, errorCode } = facts;
  const [usual, number] = STATES[state] ?? ["UNKNOWN", 7];
  const word = access.receiptWords[state] ?? usual;
  const id = writeMessageId(facts.id, access.messageIdForm);
  const delivered = state === "delivered" ? "001" : "000";
  const error = errorText(errorCode, access);
  const dates = `submit date:${writeReceiptDate(facts.submittedAt)} done date:${writeReceiptDate(facts.at)}`;
  const text = `id:${id} sub:001 dlvrd:${delivered} ${dates} stat:${word} err:${error} text:`;
  const tlvs = [tlv("receipted_message_id", id), tlv("message_state", number)];
  const cause = /^[0-9]{1,4}$/.test(error) ? Number(error) : OTHER_ERROR;
  if (cause > 0) tlvs.push(tlv("network_error_code", Buffer.from([NETWORK_UNKNOWN, cause >> 8, cause & 0xff])));
  // Without text, the id and the state would be nowhere.
  const required = access.receiptForm === "parameters" ? REQUIRED_TLVS : [];
  const tags = new Set<number>([...access.receiptTlvs, ...required].map((name) => TLVS[name].tag));
  return deliverSm({
    source: facts.destination,
    destination: facts.source,
    esmClass: state === "submitted" ? IS_INTERMEDIATE : IS_RECEIPT,
    shortMessage: access.receiptForm === "parameters" ? Buffer.alloc(0) : Buffer.from(text, "latin1"),
    tlvs: access.receiptForm === "text" ? [] : tlvs.filter(({ tag }) => tags.has(tag)),
  });
}

/** Our own failures, which have words in place of numbers. */
const OWN_ERRORS: Readonly<Record<string, number>> = {
  INVALID_RECIPIENT: 11,
  NO_ROUTE: 12,
  RECIPIENT_OPTED_OUT: 13,
  COUNTRY_NOT_ALLOWED: 14,
  SAME_TEXT_FLOOD: 15,
  CANCELLED: 16,
  EXPIRED_IN_QUEUE: 17,
  NOT_REPORTED: 18,
  SUBMIT_UNCONFIRMED: 19,
  DROPPED_AFTER_RESTORE: 20,
  PARTS_MISSING: 21,
  REVOKED: 22,
};

const OTHER_ERROR = 999;
const ERROR_MAX = 999;

/** `err` of a receipt: as the client wants it, or three digits. */
const errorText = (code: string | null, { receiptErrors }: Pick<SmppAccess, "receiptErrors">): string =>
  (code !== null && Object.hasOwn(receiptErrors, code) ? receiptErrors[code] : undefined) ??
  String(numberOfError(code)).padStart(ERROR_DIGITS, "0");

/** `err` has three digits: a carrier's number as it is, our own codes by the table above. */
export function numberOfError(code: string | null): number {
  if (code === null) return 0;
  const own = OWN_ERRORS[code];
  if (own !== undefined) return own;
  const number = /^[0-9]{1,6}$/.test(code) ? Number(code) : OTHER_ERROR;
  return number <= ERROR_MAX ? number : OTHER_ERROR;
}
