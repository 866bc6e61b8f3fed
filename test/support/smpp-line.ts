import { duplexPair, type Duplex } from "node:stream";
import { decode } from "../../src/smpp/decode.ts";
import { encode } from "../../src/smpp/encode.ts";
import { Framer } from "../../src/smpp/framer.ts";
import type { Pdu } from "../../src/smpp/pdu.ts";
import { Session, type Oddity, type SessionOptions } from "../../src/smpp/session.ts";
import { MovedClock } from "./moved-clock.ts";

/** A PDU as a test writes it down: with its sequence, and only what matters of it. */
export type Heard = { sequence: number; pdu: Pdu };

/** The other end of a session's line, which does nothing by itself. */
export class FarEnd {
  readonly socket: Duplex;
  /** Everything that came, in order. */
  readonly heard: Heard[] = [];
  /** How many pieces it came in. */
  pieces = 0;
  isEnded = false;
  #read = 0;
  #wake: () => void = () => {};

  constructor(socket: Duplex) {
    this.socket = socket;
    const framer = new Framer((octets, start, end) => {
      const decoded = decode(Buffer.from(octets.subarray(start, end)));
      if (decoded.kind === "malformed") throw new Error(`the session wrote what cannot be read: ${decoded.reason}`);
      this.heard.push(decoded);
      this.#wake();
    });
    socket.on("data", (chunk: Buffer) => {
      this.pieces += 1;
      framer.read(chunk);
    });
    socket.on("end", () => {
      this.isEnded = true;
      this.#wake();
    });
    socket.on("error", () => {});
  }

  say(pdu: Pdu, sequence: number): void {
    this.socket.write(encode(pdu, sequence));
  }

  /** All in one piece. */
  sayTogether(...said: [Pdu, number][]): void {
    this.socket.write(Buffer.concat(said.map(([pdu, sequence]) => encode(pdu, sequence))));
  }

  sayOctets(hex: string): void {
    this.socket.write(Buffer.from(hex.replaceAll(/\s/g, ""), "hex"));
  }

  /** The next PDU that has not been asked for yet. */
  async next(): Promise<Heard> {
    const found = await this.#until(() => this.heard[this.#read]);
    this.#read += 1;
    return found;
  }

  /** So many that have not been asked for yet. */
  async take(count: number): Promise<Heard[]> {
    const taken: Heard[] = [];
    while (taken.length < count) taken.push(await this.next());
    return taken;
  }

  async ended(): Promise<void> {
    await this.#until(() => this.isEnded || undefined);
  }

  async #until<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const seen = look();
      if (seen !== undefined) return seen;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

export interface Line {
  session: Session;
  far: FarEnd;
  clock: MovedClock;
  oddities: Oddity[];
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
}

/** A session, with a far end to speak to and a clock to move. */
export function openLine(options: Partial<SessionOptions> = {}): Line {
  const [near, other] = duplexPair();
  const clock = new MovedClock();
  const oddities: Oddity[] = [];
  const far = new FarEnd(other);
  const session = new Session(near, {
    clock,
    onRequest: () => null,
    onOddity: (oddity) => oddities.push(oddity),
    ...options,
  });
  return { session, far, clock, oddities, settle };
}

/** A few turns of the event loop, which is what a line in memory needs to carry everything there and back. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
