import type { Address } from "./pdu.ts";
import type { Tlv } from "./tlv.ts";

/**
 * Writes the fields of one PDU into an allocated buffer. Throws if a value does not fit: that is an error of this program,
 * not of the peer.
 */
export class PduWriter {
  readonly #octets: Buffer;
  #at: number;

  constructor(octets: Buffer, at: number) {
    this.#octets = octets;
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  uint8(field: string, value: number): void {
    if (!(value >= 0 && value <= 0xff)) throw new RangeError(`${field} is ${value}; it takes 0 to 255`);
    this.#octets[this.#at] = value;
    this.#at += 1;
  }

  uint32(value: number): void {
    const octets = this.#octets;
    const at = this.#at;
    octets[at] = value >>> 24;
    octets[at + 1] = value >>> 16;
    octets[at + 2] = value >>> 8;
    octets[at + 3] = value;
    this.#at = at + 4;
  }

  /** `size` includes the NUL, as in the tables of the specification. */
  cstring(field: string, value: string, size: number): void {
    const { length } = value;
    if (length >= size) throw new RangeError(`${field} has ${length} characters; it takes ${size - 1}`);
    const octets = this.#octets;
    let at = this.#at;
    // Fields are short, so a loop is faster than a native call. It also finds characters that cannot be encoded.
    for (let index = 0; index < length; index += 1) {
      const code = value.charCodeAt(index);
      if (code === 0 || code > 0xff)
        throw new RangeError(`${field} has a character that is NUL or above U+00FF; take it out`);
      octets[at] = code;
      at += 1;
    }
    octets[at] = 0;
    this.#at = at + 1;
  }

  address(field: string, { ton, npi, address }: Address, size: number): void {
    this.uint8(field, ton);
    this.uint8(field, npi);
    this.cstring(field, address, size);
  }

  /** One length octet, then the message. */
  shortMessage(value: Buffer): void {
    const { length } = value;
    if (length > 254)
      throw new RangeError(`shortMessage has ${length} octets; it takes 254, longer ones go into message_payload`);
    this.#octets[this.#at] = length;
    this.#octets.set(value, this.#at + 1);
    this.#at += 1 + length;
  }

  tlvs(tlvs: readonly Tlv[]): void {
    for (let index = 0; index < tlvs.length; index += 1) {
      const each = tlvs[index];
      if (!each) continue;
      const { tag, value } = each;
      if (!(tag >= 0 && tag <= 0xffff)) throw new RangeError(`the tag of a TLV is ${tag}; it takes 0 to 65535`);
      if (value.length > 0xffff)
        throw new RangeError(`the TLV 0x${tag.toString(16)} has ${value.length} octets; it takes 65535`);
      const octets = this.#octets;
      const at = this.#at;
      octets[at] = tag >>> 8;
      octets[at + 1] = tag;
      octets[at + 2] = value.length >>> 8;
      octets[at + 3] = value.length;
      octets.set(value, at + 4);
      this.#at = at + 4 + value.length;
    }
  }
}
