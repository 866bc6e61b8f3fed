import type { ReceiptState } from "../../model/receipt.ts";
import { decodeText } from "../../smpp-text/coding.ts";
import { readDoneDate } from "./done-date.ts";
import { bodyOf, numberOf, valueOf, type Incoming } from "../../smpp-text/incoming.ts";
import { readReceiptText, type ReceiptText } from "./receipt-text.ts";

export interface ReceiptSettings {
  /** Time zone of the dates in receipts, which do not say, for example Asia/Kolkata. */
  zone: string;
  /** Descriptions of the carrier's error codes. */
  errors: Readonly<Record<string, string>>;
  /**
   * Treats text that looks like a receipt as one even if esm_class does not mark it. Any phone can send such text, so
   * enable it only for carriers that never mark receipts.
   */
  unmarkedReceipts: boolean;
}

/** Correct for nearly every carrier. */
export const DEFAULT_RECEIPTS: ReceiptSettings = { zone: "UTC", errors: {}, unmarkedReceipts: false };

export interface SmppReceipt {
  /** As written in the receipt; null if absent, and then the receipt cannot be matched. */
  messageId: string | null;
  state: ReceiptState;
  /** True for a final state; a late delivery may still follow `unknown`. */
  final: boolean;
  /** The carrier's code as written. */
  errorCode: string | null;
  description: string;
  at: number;
}

interface Meaning {
  state: ReceiptState;
  final: boolean;
  description: string;
}

const MARKS = 0x04 | 0x08 | 0x20;
const TYPE_BITS = 0x3c;
const INTERMEDIATE = 0x20;
const RECEIPTED_MESSAGE_ID = 0x001e;
const ADDITIONAL_STATUS_INFO_TEXT = 0x001d;
const NETWORK_ERROR_CODE = 0x0423;
const MESSAGE_STATE = 0x0427;
const UCS2 = 0x08;
const LATIN1 = 0x03;

const ON_ITS_WAY: Meaning = { state: "enroute", final: false, description: "On its way" };

/** By message_state. */
const STATES: readonly Meaning[] = [
  { state: "enroute", final: false, description: "The network will send it later" },
  ON_ITS_WAY,
  { state: "delivered", final: true, description: "Delivered to the phone" },
  { state: "expired", final: true, description: "The network gave up after the validity period" },
  { state: "undelivered", final: true, description: "The network deleted the message" },
  { state: "undelivered", final: true, description: "The phone could not be reached" },
  { state: "enroute", final: false, description: "Taken over by the network" },
  { state: "unknown", final: true, description: "The network does not know what became of the message" },
  { state: "rejected", final: true, description: "The network rejected the message" },
  { state: "undelivered", final: true, description: "The network skipped the message" },
];

/** State words of the specification, by message_state. */
const SPECIFIED = ["", "ENROUTE", "DELIVRD", "EXPIRED", "DELETED", "UNDELIV", "ACCEPTD", "UNKNOWN", "REJECTD"];

/** Other words seen in practice, letters only and in upper case. */
const WORDS: readonly (readonly [RegExp, number])[] = [
  [/^(?:SCHEDULED|SCHEDLD)$/, 0],
  [/^(?:ENROUT|ACKED|BUFF|QUEUED|PENDING|SENT$|SUBMI|RETRY)/, 1],
  [/^DE?LI?VE?RE?D$/, 2],
  [/^EXPIR/, 3],
  [/^(?:DELET|CANCEL)/, 4],
  [/^(?:UNDE?LI?V|FAIL|DELIVERYFAIL|NOTDELIV|NOROUTE|ABSENT)/, 5],
  [/^ACCEPT/, 6],
  [/^UNKNO?WN?/, 7],
  [/^(?:REJE?CT|BLOCKED|BLACKLIST|DND)/, 8],
  [/^SKIPP/, 9],
];

/** Parses a receipt in any dialect; null if it is an inbound message. TLVs take precedence over the text. */
export function readReceipt(pdu: Incoming, settings: ReceiptSettings, receivedAt: number): SmppReceipt | null {
  const { esmClass, tlvs } = pdu;
  const givenId = stringOf(valueOf(tlvs, RECEIPTED_MESSAGE_ID));
  const text = readReceiptText(textOf(pdu));
  const isMarked = (esmClass & MARKS) !== 0;
  // Phones cannot set TLVs, so a receipted_message_id marks a receipt too.
  if (!isMarked && givenId === null && !(settings.unmarkedReceipts && looksLikeReceipt(text))) return null;

  const reported = STATES[numberOf(tlvs, MESSAGE_STATE) ?? -1] ?? meaningOf(text);
  // After an intermediate notification the network keeps trying, whatever the state says.
  const isEarly =
    (esmClass & TYPE_BITS) === INTERMEDIATE && reported.state !== "delivered" && reported.state !== "enroute";
  const { state, final, description } = isEarly ? { ...ON_ITS_WAY, description: "Not delivered yet" } : reported;
  const errorCode = errorOf(text.err, valueOf(tlvs, NETWORK_ERROR_CODE));
  return {
    messageId: givenId ?? text.id ?? null,
    state,
    final,
    errorCode,
    description:
      lookUp(settings.errors, errorCode) ?? stringOf(valueOf(tlvs, ADDITIONAL_STATUS_INFO_TEXT)) ?? description,
    at: readDoneDate(text.doneDate, settings.zone, receivedAt),
  };
}

function textOf(pdu: Incoming): string {
  const { bytes } = bodyOf(pdu);
  // Receipts are in ASCII, independent of the default alphabet for messages.
  return decodeText(bytes, pdu.dataCoding === UCS2 ? UCS2 : LATIN1, "latin1").text;
}

/** A string TLV may lack its NUL or have several. */
function stringOf(value: Buffer | undefined): string | null {
  const text = value?.toString("latin1").replaceAll("\0", " ").trim();
  return text ? text : null;
}

const looksLikeReceipt = ({ id, stat }: ReceiptText): boolean =>
  id !== undefined && stat !== undefined && stateNumber(stat) !== null;

function meaningOf({ stat, sub, dlvrd }: ReceiptText): Meaning {
  if (stat !== undefined) return STATES[stateNumber(stat) ?? -1] ?? unknownState(stat);
  // Without a state, the delivered count decides.
  const delivered = Number(dlvrd ?? 0);
  return (delivered > 0 && delivered >= Number(sub ?? 1) ? STATES[2] : STATES[7]) ?? ON_ITS_WAY;
}

const unknownState = (stat: string): Meaning => ({
  state: "unknown",
  final: false,
  description: `The network says ${JSON.stringify(stat.slice(0, 40))}, which is no state that SMPP knows`,
});

/** A state word may be followed by other text. */
function stateNumber(stat: string): number | null {
  const known = SPECIFIED.indexOf(stat);
  if (known !== -1) return known;
  for (const candidate of [stat, /^\S+/.exec(stat)?.[0] ?? ""]) {
    if (/^\d$/.test(candidate)) return Number(candidate);
    const letters = candidate.toUpperCase().replaceAll(/[^A-Z]/g, "");
    const found = WORDS.find(([word]) => word.test(letters));
    if (found) return found[1];
  }
  return null;
}

/** The code in the text is the documented one, unless it is zero and the network has one. */
function errorOf(written: string | undefined, network: Buffer | undefined): string | null {
  const code =
    network && network.length > 0
      ? network.readUIntBE(Math.max(0, network.length - 2), Math.min(2, network.length))
      : 0;
  if (written !== undefined && (code === 0 || /[^0]/.test(written))) return written;
  return network && network.length > 0 ? String(code) : null;
}

/** Error texts by normalised code, cached because every receipt needs them. */
const plainErrors = new WeakMap<ReceiptSettings["errors"], ReadonlyMap<string, string>>();

function lookUp(errors: ReceiptSettings["errors"], code: string | null): string | null {
  if (code === null) return null;
  if (Object.hasOwn(errors, code)) return errors[code] ?? null;
  let byPlainCode = plainErrors.get(errors);
  if (byPlainCode === undefined) {
    byPlainCode = new Map(Object.entries(errors).map(([known, meaning]) => [plainCode(known), meaning]));
    plainErrors.set(errors, byPlainCode);
  }
  return byPlainCode.size === 0 ? null : (byPlainCode.get(plainCode(code)) ?? null);
}

/** Normalises 001, 01 and 1, and upper case. */
const plainCode = (code: string): string =>
  code
    .trim()
    .toLowerCase()
    .replace(/^0+(?=.)/, "");
