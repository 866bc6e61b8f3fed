import { isUtf8 } from "node:buffer";
import { decodeGsm7, encodeGsm7, septetsOf } from "../lib/gsm7.ts";
import type { SmsContent } from "../model/message.ts";

/** The SMSC default alphabet (data_coding 0). */
export type Alphabet = "gsm7" | "latin1" | "ascii";

export interface CodingSettings {
  /** A wrong setting shows ¡ instead of @. */
  alphabet: Alphabet;
  /** data_coding of a flash message in the default alphabet: 0xF0 for most carriers, 0x10 for others. */
  flashGsm: number;
}

/** Accepted by nearly every carrier. */
export const DEFAULT_CODING: CodingSettings = { alphabet: "gsm7", flashGsm: 0xf0 };

/** Fields of a message that decide its encoding. */
export type SmppText = Pick<SmsContent, "text" | "encoding" | "flash" | "udh" | "dataCoding" | "waiting">;

export interface Coding {
  dataCoding: number;
  alphabet: Alphabet | "ucs2" | "binary";
}

export interface EncodedText {
  dataCoding: number;
  bytes: Buffer;
}

const DEFAULT_ALPHABET = 0x00;
const OCTETS = 0x04;
const UCS2 = 0x08;
const FLASH_UCS2 = 0x18;
/** Message waiting groups of GSM 03.38: the phone drops the text, or keeps it in either alphabet. */
const WAITING_DISCARD = 0xc0;
const WAITING_STORE = 0xd0;
const WAITING_STORE_UCS2 = 0xe0;
const WAITING_ACTIVE = 0x08;

/**
 * Chooses the encoding. Text outside the default alphabet is sent as UCS-2, which may need more parts than were charged but
 * is displayed correctly. With the GSM alphabet this never happens.
 */
export function codingFor(message: SmppText, settings: CodingSettings): Coding {
  const { alphabet } = settings;
  if (message.encoding === "binary") return { dataCoding: message.dataCoding ?? OCTETS, alphabet: "binary" };
  if (message.encoding === "gsm7" && hasAll(alphabet, message.text))
    return { dataCoding: defaultCoding(message, settings), alphabet };
  if (message.waiting !== undefined)
    return { dataCoding: WAITING_STORE_UCS2 | waitingBits(message.waiting), alphabet: "ucs2" };
  return { dataCoding: message.flash ? FLASH_UCS2 : UCS2, alphabet: "ucs2" };
}

/** data_coding of text in the default alphabet. A text that switches an indication off is dropped by the phone. */
export function defaultCoding(
  { flash, waiting }: Pick<SmppText, "flash" | "waiting">,
  { flashGsm }: Pick<CodingSettings, "flashGsm">,
): number {
  if (waiting === undefined) return flash ? flashGsm : DEFAULT_ALPHABET;
  return (waiting < KINDS_WAITING ? WAITING_STORE : WAITING_DISCARD) | waitingBits(waiting);
}

/** Voice mail, fax, e-mail and other, each switched on or off. */
const KINDS_WAITING = 4;

const waitingBits = (waiting: number): number =>
  (waiting % KINDS_WAITING) | (waiting < KINDS_WAITING ? WAITING_ACTIVE : 0);

function hasAll(alphabet: Alphabet, text: string): boolean {
  const last = alphabet === "ascii" ? 0x7f : 0xff;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (alphabet === "gsm7" ? septetsOf(unit) === 0 : unit > last) return false;
  }
  return true;
}

/** Encodes text that the alphabet can represent. */
export function encodeText(text: string, alphabet: Coding["alphabet"]): Buffer {
  if (alphabet === "binary") return Buffer.from(text, "hex");
  if (alphabet === "ucs2") return Buffer.from(text, "utf16le").swap16();
  if (alphabet !== "gsm7") return Buffer.from(text, "latin1");
  const octets = encodeGsm7(text);
  if (octets === null) throw new RangeError("the text does not fit the GSM-7 alphabet");
  return octets;
}

/** Encodes the whole text, for a single message or message_payload. */
export function codeText(message: SmppText, settings: CodingSettings): EncodedText {
  const { dataCoding, alphabet } = codingFor(message, settings);
  return { dataCoding, bytes: encodeText(message.text, alphabet) };
}

export interface Decoded {
  /** Decoded text; hex for binary data. */
  text: string;
  binary: boolean;
}

/** Decodes text from a phone or a carrier. Any input yields a text. */
export function decodeText(bytes: Buffer, dataCoding: number, alphabet: Alphabet): Decoded {
  const form = formOf(dataCoding);
  if (form === "binary") return { text: bytes.toString("hex"), binary: true };
  return { text: form === "default" ? decodeDefault(bytes, alphabet) : decodeAs(form, bytes), binary: false };
}

/** True for a data_coding of octets. */
export const isBinary = (dataCoding: number): boolean => formOf(dataCoding) === "binary";

export const isUcs2 = (dataCoding: number): boolean => formOf(dataCoding) === "ucs2";

type Form = "default" | "ascii" | "latin1" | "ucs2" | "binary" | OtherLabel;
type OtherLabel = "iso-8859-5" | "iso-8859-8" | "shift_jis" | "iso-2022-jp" | "euc-kr";

// Values defined by SMPP; higher ones are coding groups of GSM 03.38.
const NAMED: Readonly<Record<number, Form>> = {
  0x01: "ascii",
  0x02: "binary",
  0x03: "latin1",
  0x04: "binary",
  0x05: "shift_jis",
  0x06: "iso-8859-5",
  0x07: "iso-8859-8",
  0x08: "ucs2",
  0x09: "binary",
  0x0a: "iso-2022-jp",
  0x0e: "euc-kr",
};

function formOf(dataCoding: number): Form {
  if (dataCoding <= 0x0f) return NAMED[dataCoding] ?? "default";
  // General group: bit 5 is compression, which is not supported; bits 3 and 2 are the alphabet.
  if (dataCoding <= 0x7f)
    return dataCoding & 0x20
      ? "binary"
      : ((["default", "binary", "ucs2"] as const)[(dataCoding >> 2) & 3] ?? "default");
  // Message waiting in UCS-2, and the group with a class and one bit for 8-bit data.
  if (dataCoding >= 0xe0 && dataCoding <= 0xef) return "ucs2";
  return dataCoding >= 0xf0 && dataCoding & 0x04 ? "binary" : "default";
}

function decodeDefault(bytes: Buffer, alphabet: Alphabet): string {
  if (alphabet === "gsm7" && bytes.every((octet) => octet <= 0x7f)) return decodeGsm7(bytes);
  return decodeEightBits(bytes);
}

/** An octet above 0x7F is neither GSM nor ASCII, so the carrier's default alphabet differs from the setting. */
const decodeEightBits = (bytes: Buffer): string => bytes.toString(isUtf8(bytes) ? "utf8" : "latin1");

function decodeAs(form: Exclude<Form, "default" | "binary">, bytes: Buffer): string {
  if (form === "ascii") return decodeEightBits(bytes);
  if (form === "latin1") return bytes.toString("latin1");
  return form === "ucs2" ? decodeUcs2(bytes) : new TextDecoder(form).decode(bytes);
}

/** Big-endian unless a byte order mark says otherwise; a trailing half unit is dropped. */
function decodeUcs2(bytes: Buffer): string {
  const units = bytes.subarray(0, bytes.length & ~1);
  const mark = units.length >= 2 ? units.readUInt16BE(0) : 0;
  if (mark === 0xfffe) return units.toString("utf16le", 2);
  // A copy, because swap16 works in place.
  const text = Buffer.from(units).swap16();
  return text.toString("utf16le", mark === 0xfeff ? 2 : 0);
}
