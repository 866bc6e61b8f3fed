import { duplexPair, type Duplex } from "node:stream";
import { decode } from "../../src/smpp/decode.ts";
import { encode } from "../../src/smpp/encode.ts";
import { Framer } from "../../src/smpp/framer.ts";
import type { Pdu } from "../../src/smpp/pdu.ts";
import { Session, type ProtocolViolation, type SessionOptions } from "../../src/smpp/session.ts";
import { MovedClock } from "./moved-clock.ts";

/** A received PDU with its sequence number. */
export type ReceivedPdu = { sequence: number; pdu: Pdu };

/** The peer of a session; it sends nothing by itself. */
export class TestPeer {
  readonly socket: Duplex;
  /** All received PDUs in order. */
  readonly received: ReceivedPdu[] = [];
  /** Number of chunks received. */
  chunks = 0;
  isEnded = false;
  #read = 0;
  #wake: () => void = () => {};

  constructor(socket: Duplex) {
    this.socket = socket;
    const framer = new Framer((octets, start, end) => {
      const decoded = decode(Buffer.from(octets.subarray(start, end)));
      if (decoded.kind === "malformed") throw new Error(`the session sent a malformed PDU: ${decoded.reason}`);
      this.received.push(decoded);
      this.#wake();
    });
    socket.on("data", (chunk: Buffer) => {
      this.chunks += 1;
      framer.read(chunk);
    });
    socket.on("end", () => {
      this.isEnded = true;
      this.#wake();
    });
    socket.on("error", () => {});
  }

  send(pdu: Pdu, sequence: number): void {
    this.socket.write(encode(pdu, sequence));
  }

  /** Sends several PDUs in one write. */
  sendTogether(...pdus: [Pdu, number][]): void {
    this.socket.write(Buffer.concat(pdus.map(([pdu, sequence]) => encode(pdu, sequence))));
  }

  sendOctets(hex: string): void {
    this.socket.write(Buffer.from(hex.replaceAll(/\s/g, ""), "hex"));
  }

  /** The next unread PDU. */
  async next(): Promise<ReceivedPdu> {
    const found = await this.#until(() => this.received[this.#read]);
    this.#read += 1;
    return found;
  }

  /** The next `count` unread PDUs. */
  async take(count: number): Promise<ReceivedPdu[]> {
    const pdus: ReceivedPdu[] = [];
    while (pdus.length < count) pdus.push(await this.next());
    return pdus;
  }

  async ended(): Promise<void> {
    await this.#until(() => this.isEnded || undefined);
  }

  async #until<T>(read: () => T | undefined): Promise<T> {
    for (;;) {
      const seen = read();
      if (seen !== undefined) return seen;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

export interface TestSmppConnection {
  session: Session;
  peer: TestPeer;
  clock: MovedClock;
  violations: ProtocolViolation[];
  /** Completes everything that needs no time to pass. */
  settle(): Promise<void>;
}

/** A session with a scripted peer and a clock to move. */
export function openTestConnection(options: Partial<SessionOptions> = {}): TestSmppConnection {
  const [near, other] = duplexPair();
  const clock = new MovedClock();
  const violations: ProtocolViolation[] = [];
  const peer = new TestPeer(other);
  const session = new Session(near, {
    clock,
    onRequest: () => null,
    onViolation: (violation) => violations.push(violation),
    ...options,
  });
  return { session, peer, clock, violations, settle };
}

/** A few event-loop iterations, which an in-memory connection needs for a round trip. */
export async function settle(): Promise<void> {
  for (let iteration = 0; iteration < 10; iteration += 1) await new Promise((resolve) => setImmediate(resolve));
}
