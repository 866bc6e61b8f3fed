import { encodeGsm7 } from "../lib/gsm7.ts";
import { cutUnits, isNumberedPart, partHeaderOctets, roomBeside } from "../model/user-data.ts";
import type { Tlv } from "../smpp/tlv.ts";
import { codingFor, defaultCoding, encodeText, type CodingSettings, type SmppText } from "./coding.ts";

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
const SEPTETS_ALONE = 160;
const NOTHING = Buffer.alloc(0);
const NO_TLVS: readonly Tlv[] = Object.freeze([]);

/** Octets of the element that numbers a part, with its id and its length. sar_* TLVs leave as much room as `udh8`. */
const NUMBERING_OCTETS = { udh8: 5, udh16: 6, sar: 5 };

/**
 * Splits a text; null if it exceeds 255 parts, or 65,535 octets as payload. With `udh8` and `sar` the number of parts
 * equals the charged segments; `udh16` leaves less room and may need one more.
 */
export function partsOf(message: SmppText, settings: PartSettings, nextReference: () => number): SubmitPart[] | null {
  const { longMessage, messagingMode } = settings;
  const short = shortOf(message, settings);
  if (short) return [{ esmClass: messagingMode, ...short, tlvs: NO_TLVS }];
  const { text } = message;
  const { dataCoding, alphabet } = codingFor(message, settings);
  // The SMSC converts other default alphabets to GSM, so they are counted in septets.
  const encoding = alphabet === "ucs2" || alphabet === "binary" ? alphabet : "gsm7";
  const header = Buffer.from(message.udh ?? "", "hex");
  const esmClass = header.length > 0 ? messagingMode | UDHI : messagingMode;
  const octetsOf = (piece: string): Buffer => Buffer.concat([header, encodeText(piece, alphabet)]);
  const [first = "", ...others] = cutUnits(text, encoding, roomBeside(header.length, encoding));
  if (others.length === 0) return [{ esmClass, dataCoding, shortMessage: octetsOf(first), tlvs: NO_TLVS }];
  // The sender has split the message itself.
  if (isNumberedPart(message)) return null;
  if (longMessage === "payload") {
    const payload = octetsOf(text);
    if (payload.length > PAYLOAD_MAX) return null;
    return [{ esmClass, dataCoding, shortMessage: NOTHING, tlvs: [{ tag: MESSAGE_PAYLOAD, value: payload }] }];
  }

  const room = roomBeside(partHeaderOctets(message, NUMBERING_OCTETS[longMessage]), encoding);
  const pieces = cutUnits(text, encoding, room);
  if (pieces.length > PARTS_MAX) return null;
  const reference = nextReference();
  return pieces.map((piece, at) => {
    if (longMessage === "sar") {
      const tlvs = sarTlvs(reference, pieces.length, at + 1);
      return { esmClass, dataCoding, shortMessage: octetsOf(piece), tlvs };
    }
    const numbered = headerOf(header, numberingOf(longMessage, reference, pieces.length, at + 1));
    const shortMessage = Buffer.concat([numbered, encodeText(piece, alphabet)]);
    return { esmClass: messagingMode | UDHI, dataCoding, shortMessage, tlvs: NO_TLVS };
  });
}

/** Fast path: most texts are one part in the GSM alphabet, and encoding counts their septets. */
function shortOf(message: SmppText, settings: CodingSettings): Pick<SubmitPart, "dataCoding" | "shortMessage"> | null {
  const { text, encoding, udh } = message;
  if (encoding !== "gsm7" || udh !== undefined || settings.alphabet !== "gsm7" || text.length > SEPTETS_ALONE)
    return null;
  const shortMessage = encodeGsm7(text);
  if (shortMessage === null || shortMessage.length > SEPTETS_ALONE) return null;
  return { dataCoding: defaultCoding(message, settings), shortMessage };
}

function numberingOf(form: "udh8" | "udh16", reference: number, total: number, index: number): Buffer {
  const low = reference & 0xff;
  return form === "udh8"
    ? Buffer.from([0x00, 0x03, low, total, index])
    : Buffer.from([0x08, 0x04, (reference >> 8) & 0xff, low, total, index]);
}

/** A header with the elements of another one, and one more. */
function headerOf(own: Buffer, element: Buffer): Buffer {
  const elements = Buffer.concat([own.subarray(1), element]);
  return Buffer.concat([Buffer.from([elements.length]), elements]);
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
