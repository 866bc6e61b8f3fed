import { RESPONSE_COMMANDS, type Command } from "./commands.ts";
import { encode } from "./encode.ts";
import type { Outbox } from "./outbox.ts";
import type { GenericNack, Request, Response } from "./pdu.ts";

const SEQUENCE_MAX = 0x7fff_ffff;

/**
 * What became of a request. None of these is an error.
 * - `answer`: the response, whatever its status, or a generic_nack in its place.
 * - `timeout`: none came in time. One that still comes is told as stray, with this sequence.
 * - `closed`: the session ended first. What was written may have arrived; what was not certainly has not.
 */
export type Outcome<Answer extends Response = Response> =
  | { readonly kind: "answer"; readonly pdu: Answer | GenericNack }
  | { readonly kind: "timeout"; readonly sequence: number }
  | { readonly kind: "closed"; readonly wasWritten: boolean };

export type Settle = (outcome: Outcome) => void;

interface Waiting {
  readonly expects: Command;
  readonly settle: Settle;
  readonly sentAt: number;
  /** For the outbox to say whether it was written. */
  readonly put: number;
}

interface Queued {
  readonly sequence: number;
  readonly octets: Buffer;
  readonly expects: Command;
  readonly settle: Settle;
}

interface Needs {
  outbox: Outbox;
  /** The time that time-outs are counted in. */
  now: () => number;
  size: number;
  /** The one that was used last; none unless said otherwise. */
  sequence?: number;
}

/** The requests of one side: those that wait for their answers, and behind them those that wait for a place. */
export class RequestWindow {
  size: number;
  readonly #outbox: Outbox;
  readonly #now: () => number;
  #sequence: number;
  /** In the order in which they were sent, which is the order in which they time out. */
  readonly #waiting = new Map<number, Waiting>();
  #queue: Queued[] = [];
  /** When the requests of this flight are sent: the clock is asked once for all of them. */
  #flight = -1;
  #sentAt = 0;

  constructor({ outbox, now, size, sequence = 0 }: Needs) {
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

  ask(pdu: Request, settle: Settle): void {
    if (this.#waiting.size < this.size && this.#queue.length === 0 && !this.#outbox.blocked) this.send(pdu, settle);
    else this.#enqueue(pdu, settle);
  }

  /** Past the queue and the window. */
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

  // It is encoded now, so that a mistake in it is its caller's and not that of whoever makes room.
  #enqueue(pdu: Request, settle: Settle): void {
    const sequence = this.nextSequence();
    const octets = encode(pdu, sequence);
    this.#queue.push({ sequence, octets, expects: RESPONSE_COMMANDS[pdu.command], settle });
  }

  /** Sends what has waited for a place. */
  pump(): void {
    const count = Math.min(this.size - this.#waiting.size, this.#queue.length);
    if (count <= 0 || this.#outbox.blocked) return;
    for (const { sequence, octets, expects, settle } of this.#queue.splice(0, count)) {
      const put = this.#outbox.putOctets(octets);
      this.#waiting.set(sequence, { expects, settle, sentAt: this.#sentNow(), put });
    }
  }

  /** False when no request waits for this response. */
  settle(pdu: Response, sequence: number): boolean {
    const waiting = this.#waiting.get(sequence);
    if (!waiting || (pdu.command !== waiting.expects && pdu.command !== "generic_nack")) return false;
    this.#waiting.delete(sequence);
    waiting.settle({ kind: "answer", pdu });
    return true;
  }

  /** Gives up what was sent at this time or earlier; says whether there was any. */
  expire(sentAt: number): boolean {
    const before = this.#waiting.size;
    for (const [sequence, waiting] of this.#waiting) {
      if (waiting.sentAt > sentAt) break;
      this.#waiting.delete(sequence);
      waiting.settle({ kind: "timeout", sequence });
    }
    return this.#waiting.size < before;
  }

  handBackQueued(): void {
    const queue = this.#queue;
    this.#queue = [];
    for (const { settle } of queue) settle({ kind: "closed", wasWritten: false });
  }

  /** The session is over. */
  close(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { settle, put } of waiting) settle({ kind: "closed", wasWritten: this.#outbox.isWritten(put) });
    this.handBackQueued();
  }
}
