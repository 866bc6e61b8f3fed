import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { encodeInto } from "./encode.ts";
import type { Pdu } from "./pdu.ts";

/** Room for some two hundred messages; small enough that a thousand idle sessions can have one each. */
const CHUNK_LENGTH = 32_768;

/**
 * So much of a turn is written while the rest is still being put together, then twice as much, and so on: the other side works
 * meanwhile, instead of both in turns.
 */
const FIRST_LENGTH = 4096;

/**
 * Gathers what a session says in one turn of the event loop and writes it in few pieces: a write costs far more than a PDU.
 * PDUs are encoded where they will be written from, so each octet is put down once.
 */
export class Outbox {
  readonly #socket: Duplex;
  #chunk: Buffer = Buffer.alloc(0);
  #written = 0;
  #filled = 0;
  #scheduled = false;
  /** How much is written before the turn is over. */
  #enough = FIRST_LENGTH;
  /** How many PDUs were put in, and how many of them the socket has. */
  #puts = 0;
  #flushed = 0;

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  /** Whether the other side takes less than it is given; what can wait should. */
  get blocked(): boolean {
    return this.#socket.writableNeedDrain;
  }

  /** Octets that the other side has yet to take. */
  get backlog(): number {
    return this.#socket.writableLength + this.#filled - this.#written;
  }

  /** Says the how-manieth it is, for `isWritten`. Throws where the PDU cannot be written, and changes nothing then. */
  put(pdu: Pdu, sequence: number): number {
    let length = encodeInto(this.#chunk, this.#filled, pdu, sequence);
    if (length < 0) {
      this.#makeRoom(-length);
      length = encodeInto(this.#chunk, this.#filled, pdu, sequence);
    }
    return this.#putDown(length);
  }

  /** A PDU that is encoded already. */
  putOctets(octets: Buffer): number {
    this.#makeRoom(octets.length);
    octets.copy(this.#chunk, this.#filled);
    return this.#putDown(octets.length);
  }

  /** Another number for each write: what is put in under the same one leaves together. */
  get flight(): number {
    return this.#flushed;
  }

  /** Whether the socket has had it, so that it may have reached the other side. */
  isWritten(put: number): boolean {
    return put <= this.#flushed;
  }

  readonly flush = (): void => {
    this.#scheduled = false;
    this.#enough = FIRST_LENGTH;
    this.#write();
  };

  #write(): void {
    if (this.#filled === this.#written || !this.#socket.writable) return;
    this.#socket.write(this.#chunk.subarray(this.#written, this.#filled));
    this.#flushed = this.#puts;
    // A real socket that has passed on everything holds nothing of the chunk any more, so its place is used again; any
    // other stream may hand the same octets on to whoever reads it, and what was written is left alone.
    const isFree = this.#socket instanceof Socket && this.#socket.writableLength === 0;
    this.#written = isFree ? 0 : this.#filled;
    this.#filled = this.#written;
  }

  #makeRoom(length: number): void {
    if (this.#chunk.length - this.#filled >= length) return;
    this.#write();
    if (this.#chunk.length - this.#filled >= length) return;
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_LENGTH, length));
    this.#written = 0;
    this.#filled = 0;
  }

  #putDown(length: number): number {
    this.#filled += length;
    this.#puts += 1;
    if (this.#filled - this.#written >= this.#enough) {
      this.#enough *= 2;
      this.#write();
    }
    if (!this.#scheduled) {
      this.#scheduled = true;
      // Behind everything that this turn has set off; an immediate would cost another look at all sockets.
      process.nextTick(this.flush);
    }
    return this.#puts;
  }
}
