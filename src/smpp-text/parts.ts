import { encodeGsm7, septetsOf } from "../lib/gsm7.ts";
import type { Tlv } from "../smpp/tlv.ts";
import { codingFor, defaultCoding, encodeText, type Coding, type CodingSettings, type SmppText } from "./coding.ts";

/** Encoding of a long text: UDH with an 8-bit or a 16-bit reference, sar_* TLVs, or whole in message_payload. */
export type LongMessage = "udh8" | "udh16" | "sar" | "payload";

export interface PartSettings extends CodingSettings {
  longMessage: LongMessage;
  /** Lowest two bits of esm_class: 0 is the SMSC default, 3 is store and forward. */
  messagingMode: 0 | 1 | 2 | 3;
}

/** submit_sm fields of one part. */
export interface SubmitPart {
  esmClass: number;
  dataCoding: number;
  shortMessage: Buffer;
  tlvs: readonly Tlv[];
}

const UDHI = 0x40;
const SAR_MSG_REF_NUM = 0x020c;
const SAR_TOTAL_SEGMENTS = 0x020e;
const SAR_SEGMENT_SEQNUM = 0x020f;
const MESSAGE_PAYLOAD = 0x0424;
const PARTS_MAX = 255;
const PAYLOAD_MAX = 0xffff;
const NOTHING = Buffer.alloc(0);
const NO_TLVS: readonly Tlv[] = Object.freeze([]);

// In septets and UTF-16 units. The SMSC converts other default alphabets to GSM, so they are counted in septets.
const ROOM_ALONE = { gsm7: 160, ucs2: 70 };
const ROOM = { udh8: { gsm7: 153, ucs2: 67 }, udh16: { gsm7: 152, ucs2: 66 }, sar: { gsm7: 153, ucs2: 67 } };

/**
 * Splits a text; null if it exceeds 255 parts, or 65,535 octets as payload. With `udh8` and `sar` the number of parts
 * equals the charged segments; `udh16` leaves less room and may need one more.
 */
export function partsOf(message: SmppText, settings: PartSettings, nextReference: () => number): SubmitPart[] | null {
  const { longMessage, messagingMode } = settings;
  const short = shortOf(message, settings);
  if (short) return [{ esmClass: messagingMode, ...short, tlvs: NO_TLVS }];
  const coding = codingFor(message, settings);
  const { dataCoding, alphabet } = coding;
  const whole = (shortMessage: Buffer, tlvs: readonly Tlv[]): SubmitPart[] => [
    { esmClass: messagingMode, dataCoding, shortMessage, tlvs },
  ];
  if (unitsOf(message.text, coding) <= roomIn(ROOM_ALONE, coding))
    return whole(encodeText(message.text, alphabet), NO_TLVS);
  if (longMessage === "payload") {
    const payload = encodeText(message.text, alphabet);
    return payload.length > PAYLOAD_MAX ? null : whole(NOTHING, [{ tag: MESSAGE_PAYLOAD, value: payload }]);
  }

  const texts = cut(message.text, coding, roomIn(ROOM[longMessage], coding));
  if (texts.length > PARTS_MAX) return null;
  const reference = nextReference();
  return texts.map((text, at) => {
    const bytes = encodeText(text, alphabet);
    if (longMessage === "sar")
      return {
        esmClass: messagingMode,
        dataCoding,
        shortMessage: bytes,
        tlvs: sarTlvs(reference, texts.length, at + 1),
      };
    const header = headerOf(longMessage, reference, texts.length, at + 1);
    return { esmClass: messagingMode | UDHI, dataCoding, shortMessage: Buffer.concat([header, bytes]), tlvs: NO_TLVS };
  });
}

/** Fast path: most texts are one part in the GSM alphabet, and encoding counts their septets. */
function shortOf(message: SmppText, settings: CodingSettings): Pick<SubmitPart, "dataCoding" | "shortMessage"> | null {
  const { text, encoding } = message;
  if (encoding !== "gsm7" || settings.alphabet !== "gsm7" || text.length > ROOM_ALONE.gsm7) return null;
  const shortMessage = encodeGsm7(text);
  if (shortMessage === null || shortMessage.length > ROOM_ALONE.gsm7) return null;
  return { dataCoding: defaultCoding(message, settings), shortMessage };
}

const roomIn = (room: Record<"gsm7" | "ucs2", number>, { alphabet }: Coding): number =>
  room[alphabet === "ucs2" ? "ucs2" : "gsm7"];

function unitsOf(text: string, { alphabet }: Coding): number {
  if (alphabet === "ucs2") return text.length;
  let units = 0;
  for (let i = 0; i < text.length; i++) units += costOf(text.charCodeAt(i));
  return units;
}

/** Characters outside GSM in the carrier's own alphabet count as one. */
const costOf = (codeUnit: number): number => septetsOf(codeUnit) || 1;

// An escape sequence is one string position here, so only surrogate pairs must not be split.
function cut(text: string, { alphabet }: Coding, room: number): string[] {
  const texts: string[] = [];
  let start = 0;
  let used = 0;
  for (let i = 0; i < text.length; i++) {
    const isPair = alphabet === "ucs2" && (text.codePointAt(i) ?? 0) > 0xffff;
    const cost = alphabet === "ucs2" ? (isPair ? 2 : 1) : costOf(text.charCodeAt(i));
    if (used + cost > room) {
      texts.push(text.slice(start, i));
      start = i;
      used = 0;
    }
    used += cost;
    if (isPair) i++;
  }
  texts.push(text.slice(start));
  return texts;
}

function headerOf(form: "udh8" | "udh16", reference: number, total: number, index: number): Buffer {
  const low = reference & 0xff;
  return form === "udh8"
    ? Buffer.from([0x05, 0x00, 0x03, low, total, index])
    : Buffer.from([0x06, 0x08, 0x04, (reference >> 8) & 0xff, low, total, index]);
}

const sarTlvs = (reference: number, total: number, index: number): Tlv[] => [
  { tag: SAR_MSG_REF_NUM, value: Buffer.from([(reference >> 8) & 0xff, reference & 0xff]) },
  { tag: SAR_TOTAL_SEGMENTS, value: Buffer.from([total]) },
  { tag: SAR_SEGMENT_SEQNUM, value: Buffer.from([index]) },
];

const COUNTERS = 8192;

/**
 * Concatenation reference numbers per phone, so that a phone never mixes parts of two messages. Phones share a fixed number
 * of counters, which bounds memory and only skips numbers. Counters start at random, so that nodes and restarts differ.
 */
export class References {
  readonly #next: Uint16Array;

  constructor(random: () => number) {
    this.#next = Uint16Array.from({ length: COUNTERS }, () => Math.floor(random() * 0x10000));
  }

  /** 0 to 65,535; an 8-bit header uses the lower octet. */
  next(destination: string): number {
    let hash = 0;
    for (let i = 0; i < destination.length; i++) hash = (Math.imul(hash, 31) + destination.charCodeAt(i)) >>> 0;
    const slot = hash % COUNTERS;
    const reference = this.#next[slot] ?? 0;
    this.#next[slot] = reference + 1;
    return reference;
  }
}
