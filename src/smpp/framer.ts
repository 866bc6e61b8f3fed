import { HEADER_LENGTH, PDU_LENGTH_MAX } from "./lengths.ts";

/** Receives one PDU, from `start` to `end`. The octets are never overwritten. */
export type OnFrame = (octets: Buffer, start: number, end: number) => void;

/**
 * Splits a byte stream into PDUs. It buffers at most one incomplete PDU, so a peer can occupy at most 65 KiB. Complete PDUs
 * inside a chunk are passed on without a copy.
 */
export class Framer {
  /** Octets of the longest valid PDU. */
  lengthMax = PDU_LENGTH_MAX;
  readonly #onFrame: OnFrame;
  /** Length field of the next PDU, while incomplete. */
  readonly #lengthOctets = Buffer.alloc(4);
  /** Incomplete PDU of known length. */
  #partial: Buffer | null = null;
  #filled = 0;

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame;
  }

  /** Returns `unframeable` for an invalid length, because the start of the next PDU is then unknown. */
  read(chunk: Buffer): "read" | "unframeable" {
    let at = 0;
    while (at < chunk.length) {
      if (this.#partial || this.#filled > 0 || chunk.length - at < 4) {
        at = this.#append(chunk, at);
        if (at < 0) return "unframeable";
        continue;
      }
      const length = chunk.readUInt32BE(at);
      if (!this.#isValid(length)) return "unframeable";
      if (at + length > chunk.length) {
        this.#partial = Buffer.allocUnsafe(length);
        continue;
      }
      this.#onFrame(chunk, at, at + length);
      at += length;
    }
    return "read";
  }

  /** Buffers the chunk up to the end of the PDU. Gives the offset behind the bytes it used, or -1 for an invalid length. */
  #append(chunk: Buffer, at: number): number {
    const target = this.#partial ?? this.#lengthOctets;
    const copied = chunk.copy(target, this.#filled, at, Math.min(chunk.length, at + target.length - this.#filled));
    this.#filled += copied;
    if (this.#filled < target.length) return at + copied;
    if (this.#partial) {
      this.#partial = null;
      this.#filled = 0;
      this.#onFrame(target, 0, target.length);
      return at + copied;
    }
    const length = target.readUInt32BE(0);
    if (!this.#isValid(length)) return -1;
    this.#partial = Buffer.allocUnsafe(length);
    target.copy(this.#partial);
    return at + copied;
  }

  #isValid(length: number): boolean {
    return length >= HEADER_LENGTH && length <= this.lengthMax;
  }
}
