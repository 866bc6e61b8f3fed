import { headerElements, type HeaderElement } from "../model/user-data.ts";
import type { Tlv } from "../smpp/tlv.ts";

/** Common fields of deliver_sm and data_sm; a data_sm has its text in message_payload. */
export interface Incoming {
  esmClass: number;
  dataCoding: number;
  shortMessage?: Buffer;
  tlvs: readonly Tlv[];
}

/** Message octets, and the elements of the user data header (UDH) before them. */
export interface Body {
  bytes: Buffer;
  elements: readonly HeaderElement[];
}

const UDHI = 0x40;
const MESSAGE_PAYLOAD = 0x0424;
const NOTHING = Buffer.alloc(0);
const NO_ELEMENTS: readonly HeaderElement[] = Object.freeze([]);

export const valueOf = (tlvs: readonly Tlv[], tag: number): Buffer | undefined =>
  tlvs.find((each) => each.tag === tag)?.value;

/** Any length up to four octets, because carriers deviate from the specification. */
export function numberOf(tlvs: readonly Tlv[], tag: number): number | null {
  const value = valueOf(tlvs, tag);
  return value && value.length >= 1 && value.length <= 4 ? value.readUIntBE(0, value.length) : null;
}

/**
 * Splits off the user data header. One longer than the message is ignored; a truncated one yields its complete elements.
 * Some carriers forget the UDHI flag, so a concatenation header is also recognised by its content.
 */
export function bodyOf({ esmClass, shortMessage = NOTHING, tlvs }: Incoming): Body {
  const all = shortMessage.length > 0 ? shortMessage : (valueOf(tlvs, MESSAGE_PAYLOAD) ?? NOTHING);
  const length = all[0] ?? 0;
  const hasHeader = (esmClass & UDHI) !== 0 || looksNumbered(all);
  if (!hasHeader || length >= all.length) return { bytes: all, elements: NO_ELEMENTS };
  return { bytes: all.subarray(length + 1), elements: headerElements(all.subarray(1, length + 1)) };
}

/** `05 00 03 RR TT SS` or `06 08 04 RR RR TT SS`, with a plausible total and index. */
function looksNumbered(octets: Buffer): boolean {
  const start = octets.length >= 6 ? octets.readUIntBE(0, 3) : 0;
  if (start !== 0x050003 && start !== 0x060804) return false;
  const at = start === 0x050003 ? 4 : 5;
  const total = octets[at] ?? 0;
  const index = octets[at + 1] ?? 0;
  return total >= 2 && index >= 1 && index <= total;
}
