import type { ReceiptState } from "../carrier.ts";
import { decodeText } from "./coding.ts";
import { readDoneDate } from "./done-date.ts";
import { bodyOf, numberOf, valueOf, type Incoming } from "./incoming.ts";
import { readReceiptText, type ReceiptText } from "./receipt-text.ts";

export interface ReceiptSettings {
  /** Zone of the carrier's clocks, like Asia/Kolkata; its dates do not say. */
  zone: string;
  /** What the carrier's error codes mean, by code. */
  errors: Readonly<Record<string, string>>;
  /**
   * Whether a text that looks like a receipt is one even if the carrier does not mark it. Anybody's phone can send such a
   * text, so only for a carrier that never marks its own.
   */
  unmarkedReceipts: boolean;
}

/** What nearly every carrier does. */
export const USUAL_RECEIPTS: ReceiptSettings = { zone: "UTC", errors: {}, unmarkedReceipts: false };

export interface SmppReceipt {
  /** As the receipt spells it; null when it names no message, and then nobody can tell which it means. */
  messageId: string | null;
  state: ReceiptState;
  /** Whether the carrier means it as its last word; a late delivery may follow `unknown` all the same. */
  final: boolean;
  /** The carrier's own code, as it wrote it. */
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

/** By the number of message_state. */
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

/** The words for the same, by the same number, as the specification spells them. */
const SPECIFIED = ["", "ENROUTE", "DELIVRD", "EXPIRED", "DELETED", "UNDELIV", "ACCEPTD", "UNKNOWN", "REJECTD"];

/** And in every other spelling that has been seen; their letters only, in capitals. */
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

/**
 * Reads a receipt in any dialect; null when it is none and a phone's owner wrote it. What the carrier says in parameters
 * counts before what it says in the text.
 */
export function readReceipt(pdu: Incoming, settings: ReceiptSettings, receivedAt: number): SmppReceipt | null {
  const { esmClass, tlvs } = pdu;
  const givenId = stringOf(valueOf(tlvs, RECEIPTED_MESSAGE_ID));
  const text = readReceiptText(textOf(pdu));
  const isMarked = (esmClass & MARKS) !== 0;
  // Only a carrier can set the parameter, so it is a mark as well.
  if (!isMarked && givenId === null && !(settings.unmarkedReceipts && looksLikeReceipt(text))) return null;

  const said = STATES[numberOf(tlvs, MESSAGE_STATE) ?? -1] ?? meaningOf(text);
  // The network tries on after an intermediate notification, whatever it says of the last try.
  const isEarly = (esmClass & TYPE_BITS) === INTERMEDIATE && said.state !== "delivered" && said.state !== "enroute";
  const { state, final, description } = isEarly ? { ...ON_ITS_WAY, description: "Not delivered yet" } : said;
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
  // Carriers write receipts in ASCII, whatever their alphabet for messages is.
  return decodeText(bytes, pdu.dataCoding === UCS2 ? UCS2 : LATIN1, "latin1").text;
}

/** A string parameter may lack its NUL, and may have more than one. */
function stringOf(value: Buffer | undefined): string | null {
  const text = value?.toString("latin1").replaceAll("\0", " ").trim();
  return text ? text : null;
}

const looksLikeReceipt = ({ id, stat }: ReceiptText): boolean =>
  id !== undefined && stat !== undefined && stateNumber(stat) !== null;

function meaningOf({ stat, sub, dlvrd }: ReceiptText): Meaning {
  if (stat !== undefined) return STATES[stateNumber(stat) ?? -1] ?? strange(stat);
  // Without a word for it, the count of what was delivered is one.
  const delivered = Number(dlvrd ?? 0);
  return (delivered > 0 && delivered >= Number(sub ?? 1) ? STATES[2] : STATES[7]) ?? ON_ITS_WAY;
}

const strange = (stat: string): Meaning => ({
  state: "unknown",
  final: false,
  description: `The network says ${JSON.stringify(stat.slice(0, 40))}, which is no state that SMPP knows`,
});

/** The whole of what was written may be a state, or its first word with anything behind it. */
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

/** The text's code is the one that the carrier documents, unless it says that there is none and the network has one. */
function errorOf(written: string | undefined, network: Buffer | undefined): string | null {
  const code =
    network && network.length > 0
      ? network.readUIntBE(Math.max(0, network.length - 2), Math.min(2, network.length))
      : 0;
  if (written !== undefined && (code === 0 || /[^0]/.test(written))) return written;
  return network && network.length > 0 ? String(code) : null;
}

/** The errors of each carrier by plain code, made once: every receipt asks, and most find nothing. */
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

/** 001, 01 and 1 are one code, and 0A and 0a as well. */
const plainCode = (code: string): string =>
  code
    .trim()
    .toLowerCase()
    .replace(/^0+(?=.)/, "");
