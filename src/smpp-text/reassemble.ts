import type { Tlv } from "../smpp/tlv.ts";
import { decodeText, type Alphabet, type Decoded } from "./coding.ts";
import type { HeaderElement } from "../model/user-data.ts";
import { bodyOf, numberOf, type Incoming } from "./incoming.ts";

/** One part of a concatenated message; parts with equal sender, receiver, reference and total belong together. */
export interface IncomingPart {
  reference: number;
  total: number;
  /** From 1. */
  index: number;
  /** Without the header. */
  bytes: Buffer;
  dataCoding: number;
}

interface Numbering {
  reference: number;
  total: number;
  index: number;
}

const USER_MESSAGE_REFERENCE = 0x0204;
const SAR_MSG_REF_NUM = 0x020c;
const SAR_TOTAL_SEGMENTS = 0x020e;
const SAR_SEGMENT_SEQNUM = 0x020f;

/** Null for a message without parts, and for invalid part numbers. */
export function partOf(pdu: Incoming): IncomingPart | null {
  const { bytes, elements } = bodyOf(pdu);
  const numbering = numberingIn(elements) ?? numberingIn(sarElements(pdu.tlvs));
  return numbering && { ...numbering, bytes, dataCoding: pdu.dataCoding };
}

/**
 * A single message with a message reference from the phone. Stored as its only part, it is recognised when the carrier
 * repeats it after a lost acknowledgement. Reference 0 mostly means none.
 */
export function countedText(pdu: Incoming): IncomingPart | null {
  const reference = numberOf(pdu.tlvs, USER_MESSAGE_REFERENCE);
  if (!reference) return null;
  return { reference, total: 1, index: 1, bytes: bodyOf(pdu).bytes, dataCoding: pdu.dataCoding };
}

function numberingIn(elements: readonly HeaderElement[]): Numbering | null {
  for (const { id, value } of elements) {
    const wide = id === 0x08 && value.length === 4;
    if (!wide && !(id === 0x00 && value.length === 3)) continue;
    const reference = wide ? value.readUInt16BE(0) : value.readUInt8(0);
    const [total = 0, index = 0] = value.subarray(-2);
    if (total >= 2 && index >= 1 && index <= total) return { reference, total, index };
  }
  return null;
}

/** The sar_* TLVs as the equivalent UDH element. */
function sarElements(tlvs: readonly Tlv[]): HeaderElement[] {
  const reference = numberOf(tlvs, SAR_MSG_REF_NUM);
  const total = numberOf(tlvs, SAR_TOTAL_SEGMENTS) ?? 0;
  const index = numberOf(tlvs, SAR_SEGMENT_SEQNUM) ?? 0;
  if (reference === null || total > 0xff || index > 0xff) return [];
  return [{ id: 0x08, value: Buffer.from([(reference >> 8) & 0xff, reference & 0xff, total, index]) }];
}

/**
 * The text in order, without duplicate parts. Null while a part is missing, unless `gap` gives a substitute: then the text
 * so far.
 */
export function assemble(parts: readonly IncomingPart[], alphabet: Alphabet, gap?: string): Decoded | null {
  const total = parts[0]?.total ?? 0;
  const byIndex = new Map(parts.map((part) => [part.index, part]));
  if (total === 0 || (gap === undefined && byIndex.size < total)) return null;

  let text = "";
  let binary = false;
  for (let index = 1; index <= total;) {
    const first = byIndex.get(index);
    if (!first) {
      text += gap ?? "";
      index += 1;
      continue;
    }
    // Adjacent parts of one encoding are decoded together, because an escape sequence or surrogate pair may be split
    // between them.
    const run: Buffer[] = [];
    for (let part: IncomingPart | undefined = first; part?.dataCoding === first.dataCoding; part = byIndex.get(index)) {
      run.push(part.bytes);
      index += 1;
    }
    const decoded = decodeText(Buffer.concat(run), first.dataCoding, alphabet);
    text += decoded.text;
    binary ||= decoded.binary;
  }
  return { text, binary };
}
