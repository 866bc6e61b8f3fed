import { RESPONSE_COMMANDS, type Command } from "./commands.ts";
import { encode } from "./encode.ts";
import type { Outbox } from "./outbox.ts";
import type { GenericNack, Request, Response } from "./pdu.ts";

const SEQUENCE_MAX = 0x7fff_ffff;

/**
 * Result of a request. None of these is an error.
 * - `answer`: the response with any status, or a generic_nack.
 * - `timeout`: no response in time. A later one is reported as `stray` with this sequence.
 * - `closed`: the session ended first. A written request may have arrived; an unwritten one has not.
 */
export type Outcome<Answer extends Response = Response> =
  | { readonly kind: "answer"; readonly pdu: Answer | GenericNack }
  | { readonly kind: "timeout"; readonly sequence: number }
  | { readonly kind: "closed"; readonly wasWritten: boolean };

export type Settle = (outcome: Outcome) => void;

/** Asked just before a request is written. If false, the request is settled as `closed` and not written. */
export type MaySend = () => boolean;

interface Waiting {
  readonly expects: Command;
  readonly settle: Settle;
  readonly sentAt: number;
  /** Number from the outbox, to find out whether the request was written. */
  readonly put: number;
}

interface Queued {
  readonly sequence: number;
  readonly octets: Buffer;
  readonly pdu: Request;
  readonly expects: Command;
  readonly settle: Settle;
  readonly maySend: MaySend | undefined;
}

const NOT_WRITTEN: Outcome = { kind: "closed", wasWritten: false };

interface RequestWindowDeps {
  outbox: Outbox;
  /** Time base of the time-outs. */
  now: () => number;
  size: number;
  /** Last sequence number used. Default: 0. */
  sequence?: number;
}

/** The window of one side: requests in flight, and the queue of requests that wait for a slot. */
export class RequestWindow {
  size: number;
  readonly #outbox: Outbox;
  readonly #now: () => number;
  #sequence: number;
  /** In the order of sending, which is the order of time-out. */
  readonly #waiting = new Map<number, Waiting>();
  #queue: Queued[] = [];
  /** Send time of the current flight, so that the clock is read once per write. */
  #flight = -1;
  #sentAt = 0;

  constructor({ outbox, now, size, sequence = 0 }: RequestWindowDeps) {
    this.size = size;
    this.#sequence = sequence;
    this.#outbox = outbox;
    this.#now = now;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get queued(): number {
    return this.#queue.length;
  }

  get free(): number {
    return Math.max(0, this.size - this.#waiting.size - this.#queue.length);
  }

  nextSequence(): number {
    this.#sequence = this.#sequence === SEQUENCE_MAX ? 1 : this.#sequence + 1;
    return this.#sequence;
  }

  request(pdu: Request, settle: Settle, maySend?: MaySend): void {
    if (this.#waiting.size >= this.size || this.#queue.length > 0 || this.#outbox.blocked)
      this.#enqueue(pdu, settle, maySend);
    else if (maySend?.() === false) settle(NOT_WRITTEN);
    else this.send(pdu, settle);
  }

  /** Bypasses queue and window. */
  send(pdu: Request, settle: Settle): void {
    const sequence = this.nextSequence();
    const put = this.#outbox.put(pdu, sequence);
    this.#waiting.set(sequence, { expects: RESPONSE_COMMANDS[pdu.command], settle, sentAt: this.#sentNow(), put });
  }

  #sentNow(): number {
    const { flight } = this.#outbox;
    if (flight !== this.#flight) {
      this.#flight = flight;
      this.#sentAt = this.#now();
    }
    return this.#sentAt;
  }

  // Encodes at once, so that an encoding error is thrown to the caller of this request.
  #enqueue(pdu: Request, settle: Settle, maySend: MaySend | undefined): void {
    const sequence = this.nextSequence();
    const octets = encode(pdu, sequence);
    this.#queue.push({ sequence, octets, pdu, expects: RESPONSE_COMMANDS[pdu.command], settle, maySend });
  }

  /** Sends queued requests that fit in the window and may still be sent. */
  pump(): void {
    const free = this.size - this.#waiting.size;
    if (free <= 0 || this.#queue.length === 0 || this.#outbox.blocked) return;
    const leaving: Queued[] = [];
    const withdrawn: Queued[] = [];
    let taken = 0;
    for (; leaving.length < free && taken < this.#queue.length; taken += 1) {
      const next = this.#queue[taken] as Queued;
      (next.maySend?.() === false ? withdrawn : leaving).push(next);
    }
    this.#queue.splice(0, taken);
    for (const { settle } of withdrawn) settle(NOT_WRITTEN);
    for (const { sequence, octets, pdu, expects, settle } of leaving) {
      const put = this.#outbox.putOctets(octets, pdu, sequence);
      this.#waiting.set(sequence, { expects, settle, sentAt: this.#sentNow(), put });
    }
  }

  /** False if no request waits for this response. */
  settle(pdu: Response, sequence: number): boolean {
    const waiting = this.#waiting.get(sequence);
    if (!waiting || (pdu.command !== waiting.expects && pdu.command !== "generic_nack")) return false;
    this.#waiting.delete(sequence);
    waiting.settle({ kind: "answer", pdu });
    return true;
  }

  /** Settles requests sent at `sentAt` or earlier as timed out. Returns false if there were none. */
  expire(sentAt: number): boolean {
    const before = this.#waiting.size;
    for (const [sequence, waiting] of this.#waiting) {
      if (waiting.sentAt > sentAt) break;
      this.#waiting.delete(sequence);
      waiting.settle({ kind: "timeout", sequence });
    }
    return this.#waiting.size < before;
  }

  rejectQueued(): void {
    const queue = this.#queue;
    this.#queue = [];
    for (const { settle } of queue) settle(NOT_WRITTEN);
  }

  /** Settles all requests as closed. */
  close(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { settle, put } of waiting) settle({ kind: "closed", wasWritten: this.#outbox.isWritten(put) });
    this.rejectQueued();
  }
}
