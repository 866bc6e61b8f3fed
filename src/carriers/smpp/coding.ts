import { isUtf8 } from "node:buffer";
import { decodeGsm7, encodeGsm7, septetsOf } from "../../lib/gsm7.ts";
import type { SmsContent } from "../../model/message.ts";

/** What a carrier takes an octet for when no other coding is named. */
export type Alphabet = "gsm7" | "latin1" | "ascii";

export interface CodingSettings {
  /** The carrier's default alphabet; the wrong one shows as ¡ where @ was written. */
  alphabet: Alphabet;
  /** data_coding of a flash message in the default alphabet: 0xF0 for most carriers, 0x10 for the others. */
  flashGsm: number;
}

/** What nearly every carrier takes. */
export const USUAL_CODING: CodingSettings = { alphabet: "gsm7", flashGsm: 0xf0 };

/** What of a text message decides its octets. */
export type Words = Pick<SmsContent, "text" | "encoding" | "flash">;

export interface Coding {
  dataCoding: number;
  alphabet: Alphabet | "ucs2";
}

export interface Coded {
  dataCoding: number;
  bytes: Buffer;
}

const DEFAULT_ALPHABET = 0x00;
const UCS2 = 0x08;
const FLASH_UCS2 = 0x18;

/**
 * How a text goes to a carrier. What its default alphabet does not have goes as UCS-2, which may take more parts than were
 * paid for but shows what was written; with the GSM alphabet that never happens.
 */
export function codingFor(words: Words, settings: CodingSettings): Coding {
  const { alphabet } = settings;
  if (words.encoding === "gsm7" && hasAll(alphabet, words.text))
    return { dataCoding: defaultCoding(words, settings), alphabet };
  return { dataCoding: words.flash ? FLASH_UCS2 : UCS2, alphabet: "ucs2" };
}

/** data_coding of a text in the carrier's default alphabet. */
export const defaultCoding = (
  { flash }: Pick<Words, "flash">,
  { flashGsm }: Pick<CodingSettings, "flashGsm">,
): number => (flash ? flashGsm : DEFAULT_ALPHABET);

function hasAll(alphabet: Alphabet, text: string): boolean {
  const last = alphabet === "ascii" ? 0x7f : 0xff;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (alphabet === "gsm7" ? septetsOf(unit) === 0 : unit > last) return false;
  }
  return true;
}

/** The octets of a text in an alphabet that has all of it. */
export function encodeText(text: string, alphabet: Coding["alphabet"]): Buffer {
  if (alphabet === "ucs2") return Buffer.from(text, "utf16le").swap16();
  if (alphabet !== "gsm7") return Buffer.from(text, "latin1");
  const octets = encodeGsm7(text);
  if (octets === null) throw new RangeError("the text does not fit the GSM-7 alphabet");
  return octets;
}

/** All of a text in one piece, as it would go in a single message or as a payload. */
export function codeText(words: Words, settings: CodingSettings): Coded {
  const { dataCoding, alphabet } = codingFor(words, settings);
  return { dataCoding, bytes: encodeText(words.text, alphabet) };
}

export interface Decoded {
  /** The words; of binary data the octets in hex. */
  text: string;
  binary: boolean;
}

/** Reads what a phone or a carrier wrote. Whatever the octets are, there is a text for them. */
export function decodeText(bytes: Buffer, dataCoding: number, alphabet: Alphabet): Decoded {
  const form = formOf(dataCoding);
  if (form === "binary") return { text: bytes.toString("hex"), binary: true };
  return { text: form === "default" ? decodeDefault(bytes, alphabet) : decodeAs(form, bytes), binary: false };
}

type Form = "default" | "ascii" | "latin1" | "ucs2" | "binary" | OtherLabel;
type OtherLabel = "iso-8859-5" | "iso-8859-8" | "shift_jis" | "iso-2022-jp" | "euc-kr";

// The names that SMPP gives to the first sixteen values; those above are the coding groups of GSM 03.38.
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
  // General group, classes and all: bit 5 is compression, which nobody unpacks, and bits 3 and 2 are the alphabet.
  if (dataCoding <= 0x7f)
    return dataCoding & 0x20
      ? "binary"
      : ((["default", "binary", "ucs2"] as const)[(dataCoding >> 2) & 3] ?? "default");
  // Waiting messages in UCS-2, and the group that has a class and one bit for eight-bit data.
  if (dataCoding >= 0xe0 && dataCoding <= 0xef) return "ucs2";
  return dataCoding >= 0xf0 && dataCoding & 0x04 ? "binary" : "default";
}

function decodeDefault(bytes: Buffer, alphabet: Alphabet): string {
  if (alphabet === "gsm7" && bytes.every((octet) => octet <= 0x7f)) return decodeGsm7(bytes);
  return decodeEightBits(bytes);
}

/** An octet above 0x7F is in no GSM or ASCII text, so the carrier means something else by its default than it says. */
const decodeEightBits = (bytes: Buffer): string => bytes.toString(isUtf8(bytes) ? "utf8" : "latin1");

function decodeAs(form: Exclude<Form, "default" | "binary">, bytes: Buffer): string {
  if (form === "ascii") return decodeEightBits(bytes);
  if (form === "latin1") return bytes.toString("latin1");
  return form === "ucs2" ? decodeUcs2(bytes) : new TextDecoder(form).decode(bytes);
}

/** Big-endian unless a byte order mark says otherwise; half a unit at the end is dropped. */
function decodeUcs2(bytes: Buffer): string {
  const units = bytes.subarray(0, bytes.length & ~1);
  const mark = units.length >= 2 ? units.readUInt16BE(0) : 0;
  if (mark === 0xfffe) return units.toString("utf16le", 2);
  // A copy, because swapping in place would turn around what the caller keeps.
  const text = Buffer.from(units).swap16();
  return text.toString("utf16le", mark === 0xfeff ? 2 : 0);
}
