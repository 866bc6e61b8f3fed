import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { encodeInto } from "./encode.ts";
import type { Pdu } from "./pdu.ts";

/** Holds about 200 messages; small enough for a thousand idle sessions. */
const CHUNK_LENGTH = 32_768;

/**
 * Bytes after which a write starts before the turn ends; doubled each time. The peer then works in parallel with this side.
 */
const FIRST_LENGTH = 4096;

/** Sees each PDU that is sent. */
export type OnPut = (pdu: Pdu, sequence: number) => void;

/**
 * Collects the PDUs of one event-loop turn and writes them in few chunks, because a write costs far more than a PDU. PDUs
 * are encoded in place, so each octet is written once.
 */
export class Outbox {
  readonly #socket: Duplex;
  readonly #onPut: OnPut | undefined;
  #chunk: Buffer = Buffer.alloc(0);
  #written = 0;
  #filled = 0;
  #scheduled = false;
  /** Threshold of the next early write. */
  #earlyWriteAt = FIRST_LENGTH;
  /** Number of PDUs added, and number of them passed to the socket. */
  #puts = 0;
  #flushed = 0;

  constructor(socket: Duplex, onPut?: OnPut) {
    this.#socket = socket;
    this.#onPut = onPut;
  }

  /** True while the socket applies backpressure. */
  get blocked(): boolean {
    return this.#socket.writableNeedDrain;
  }

  /** Octets not yet accepted by the peer. */
  get backlog(): number {
    return this.#socket.writableLength + this.#filled - this.#written;
  }

  /** Returns a running number for `isWritten`. Throws without side effects if the PDU cannot be encoded. */
  put(pdu: Pdu, sequence: number): number {
    let length = encodeInto(this.#chunk, this.#filled, pdu, sequence);
    if (length < 0) {
      this.#reserve(-length);
      length = encodeInto(this.#chunk, this.#filled, pdu, sequence);
    }
    this.#onPut?.(pdu, sequence);
    return this.#advance(length);
  }

  /** Adds an encoded PDU. */
  putOctets(octets: Buffer, pdu: Pdu, sequence: number): number {
    this.#reserve(octets.length);
    octets.copy(this.#chunk, this.#filled);
    this.#onPut?.(pdu, sequence);
    return this.#advance(octets.length);
  }

  /** Changes with each write: PDUs added under the same number leave together. */
  get flight(): number {
    return this.#flushed;
  }

  /** True if the socket has the PDU, so that it may have reached the peer. */
  isWritten(put: number): boolean {
    return put <= this.#flushed;
  }

  readonly flush = (): void => {
    this.#scheduled = false;
    this.#earlyWriteAt = FIRST_LENGTH;
    this.#write();
  };

  #write(): void {
    if (this.#filled === this.#written || !this.#socket.writable) return;
    this.#socket.write(this.#chunk.subarray(this.#written, this.#filled));
    this.#flushed = this.#puts;
    // A net.Socket that has flushed no longer refers to the chunk, so the chunk is reused. Another stream may pass the same
    // memory on to its reader, so its chunk is not overwritten.
    const isFree = this.#socket instanceof Socket && this.#socket.writableLength === 0;
    this.#written = isFree ? 0 : this.#filled;
    this.#filled = this.#written;
  }

  #reserve(length: number): void {
    if (this.#chunk.length - this.#filled >= length) return;
    this.#write();
    if (this.#chunk.length - this.#filled >= length) return;
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_LENGTH, length));
    this.#written = 0;
    this.#filled = 0;
  }

  #advance(length: number): number {
    this.#filled += length;
    this.#puts += 1;
    if (this.#filled - this.#written >= this.#earlyWriteAt) {
      this.#earlyWriteAt *= 2;
      this.#write();
    }
    if (!this.#scheduled) {
      this.#scheduled = true;
      // Runs after all callbacks of this turn; setImmediate would add another poll of all sockets.
      process.nextTick(this.flush);
    }
    return this.#puts;
  }
}
