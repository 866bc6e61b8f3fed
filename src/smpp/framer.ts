import { HEADER_LENGTH, PDU_LENGTH_MAX } from "./lengths.ts";

/** Takes the PDU that fills the octets from `start` to `end`; they are never written to again. */
export type OnFrame = (octets: Buffer, start: number, end: number) => void;

/**
 * Finds the PDUs in a stream, however it is cut. It holds at most one PDU that is not yet whole, so a peer can make it
 * keep 65 KiB and no more. PDUs that lie whole in a chunk are handed over where they lie.
 */
export class Framer {
  readonly #onFrame: OnFrame;
  /** The first octets of a PDU whose length is not known yet. */
  readonly #lengthOctets = Buffer.alloc(4);
  /** A PDU of known length that has begun. */
  #partial: Buffer | null = null;
  #filled = 0;

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame;
  }

  /** Says `unframeable` when a length cannot be: where the next PDU begins can then never be known again. */
  read(chunk: Buffer): "read" | "unframeable" {
    let at = 0;
    while (at < chunk.length) {
      if (this.#partial || this.#filled > 0 || chunk.length - at < 4) {
        at = this.#gather(chunk, at);
        if (at < 0) return "unframeable";
        continue;
      }
      const length = chunk.readUInt32BE(at);
      if (!canBe(length)) return "unframeable";
      if (at + length > chunk.length) {
        this.#partial = Buffer.allocUnsafe(length);
        continue;
      }
      this.#onFrame(chunk, at, at + length);
      at += length;
    }
    return "read";
  }

  /** Puts what has come to what was there; says how far it has read, or -1 where there is no going on. */
  #gather(chunk: Buffer, at: number): number {
    const into = this.#partial ?? this.#lengthOctets;
    const copied = chunk.copy(into, this.#filled, at, Math.min(chunk.length, at + into.length - this.#filled));
    this.#filled += copied;
    if (this.#filled < into.length) return at + copied;
    if (this.#partial) {
      this.#partial = null;
      this.#filled = 0;
      this.#onFrame(into, 0, into.length);
      return at + copied;
    }
    const length = into.readUInt32BE(0);
    if (!canBe(length)) return -1;
    this.#partial = Buffer.allocUnsafe(length);
    into.copy(this.#partial);
    return at + copied;
  }
}

const canBe = (length: number): boolean => length >= HEADER_LENGTH && length <= PDU_LENGTH_MAX;
