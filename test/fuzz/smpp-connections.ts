import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { COMMAND_IDS } from "../../src/smpp/commands.ts";
import { encode } from "../../src/smpp/encode.ts";
import { PDU_LENGTH_MAX } from "../../src/smpp/lengths.ts";
import { NO_ADDRESS, submitSm } from "../../src/smpp/pdu.ts";
import { NO_TLVS } from "../../src/smpp/tlv.ts";
import type { Random } from "./random.ts";
import { createEndlessStream, createStream, cut, expectedFrames } from "./smpp-frames.ts";

export interface Login {
  port: number;
  systemId: string;
  password: string;
}

const FRAMES_OF_A_MIX_MAX = 400;
const FRAMES_OF_A_FLOOD = 10_000;
const PIECE_MAX = 65_536;
const ANSWER_WITHIN_MS = 60_000;
const UNREAD_FOR_MS = 1000;
/** More than the buffers of both ends hold: 80 MB of submits or 16 MB of enquire_link. */
const FLOODS_OF_THE_DEAF = 100;
/** Guesses in the frames lock this address, so that the bound connections use another. Linux has the whole 127.0.0.0/8. */
const UNBOUND_ADDRESS = process.platform === "linux" ? "127.0.0.2" : "127.0.0.1";

/** A hostile peer on one connection. Returns the number of frames that the server has read, at least. */
type Peer = (random: Random, login: Login) => Promise<number>;

/** Everything, before a bind or after one, in pieces of any size. The first wrong length or unbind ends it. */
const mix =
  (isBound: boolean): Peer =>
  async (random, login) => {
    const { octets } = createStream(random, FRAMES_OF_A_MIX_MAX);
    const connection = await Connection.open(login, isBound);
    const sent = await connection.write(cut(random, octets));
    await connection.end();
    return countRead(octets.subarray(0, sent), isBound);
  };

/** Frames that do not end the session, many in each write. */
const flood: Peer = async (random, login) => {
  const { octets, frames } = createEndlessStream(random, FRAMES_OF_A_FLOOD);
  const connection = await Connection.open(login, true);
  const sent = await connection.write(inPieces(random, octets));
  await connection.end();
  return sent === octets.length ? frames : expectedFrames(octets.subarray(0, sent)).ends.length;
};

/** Requests whose responses the peer never reads: the server has to stop reading. None counts, as the kernel may still have them. */
const deaf: Peer = async (random, login) => {
  const one = random.chance(0.5) ? ENQUIRE : SUBMIT;
  const many = Buffer.concat(Array.from({ length: FRAMES_OF_A_FLOOD }, () => one));
  const connection = await Connection.open(login, true);
  connection.stopReading();
  await connection.write(
    Array.from({ length: FLOODS_OF_THE_DEAF }, () => many),
    UNREAD_FOR_MS,
  );
  connection.destroy();
  return 0;
};

/** Responses to requests that the server never sent. */
const unasked: Peer = async (random, login) => {
  const one = Buffer.alloc(16);
  const ids = [...Object.values(COMMAND_IDS).filter((id) => id >= 0x8000_0000), 0xffff_ffff];
  const octets = Buffer.concat(
    Array.from({ length: FRAMES_OF_A_FLOOD }, () => {
      one.writeUInt32BE(16);
      one.writeUInt32BE(random.pick(ids), 4);
      one.writeUInt32BE(random.below(3), 12);
      return Buffer.from(one);
    }),
  );
  const connection = await Connection.open(login, random.chance(0.9));
  const sent = await connection.write(inPieces(random, octets));
  await connection.end();
  return connection.isBound ? Math.floor(sent / one.length) : 0;
};

/** The longest frame, of which a part is missing: it stays in memory until the peer leaves. */
const half: Peer = async (random, login) => {
  const isBound = random.chance(0.5);
  const octets = Buffer.alloc(PDU_LENGTH_MAX - 1 - random.below(1000));
  octets.writeUInt32BE(PDU_LENGTH_MAX);
  octets.writeUInt32BE(COMMAND_IDS.submit_sm, 4);
  const connection = await Connection.open(login, isBound);
  await connection.write([octets]);
  await new Promise((resolve) => setTimeout(resolve, random.below(UNREAD_FOR_MS)));
  connection.destroy();
  return 0;
};

const PEERS: readonly { share: number; peer: Peer }[] = [
  { share: 0.2, peer: mix(false) },
  { share: 0.2, peer: mix(true) },
  { share: 0.3, peer: flood },
  { share: 0.1, peer: deaf },
  { share: 0.1, peer: unasked },
  { share: 0.1, peer: half },
];

/** Plays one hostile peer. */
export function playPeer(random: Random, login: Login): Promise<number> {
  let drawn = random.next();
  for (const { share, peer } of PEERS) {
    if (drawn < share) return peer(random, login);
    drawn -= share;
  }
  return flood(random, login);
}

const ENQUIRE = encode({ command: "enquire_link" }, 1);
const SUBMIT = encode(
  submitSm({
    source: { ton: 5, npi: 0, address: "FUZZ" },
    destination: { ton: 1, npi: 1, address: "15550100100" },
    shortMessage: Buffer.from("flood"),
  }),
  1,
);

/** Frames up to the one that ends the session. */
function countRead(octets: Buffer, isBound: boolean): number {
  const { ends } = expectedFrames(octets);
  const starts = [0, ...ends].slice(0, ends.length);
  const unbind = starts.findIndex((start) => octets.readUInt32BE(start + 4) === COMMAND_IDS.unbind);
  const read = unbind === -1 ? ends.length : unbind + 1;
  return isBound ? read : Math.min(read, UNBOUND_READ_MAX);
}

/** The server closes a connection that is not bound after as many PDUs. */
const UNBOUND_READ_MAX = 20;

function* inPieces(random: Random, octets: Buffer): Generator<Buffer> {
  for (let at = 0; at < octets.length;) {
    const length = 1 + random.below(PIECE_MAX);
    yield octets.subarray(at, at + length);
    at += length;
  }
}

class Connection {
  readonly isBound: boolean;
  readonly #socket: Socket;
  readonly #closed: Promise<void>;

  private constructor(socket: Socket, isBound: boolean) {
    this.isBound = isBound;
    this.#socket = socket;
    // The server may close at any time, which is an answer to a hostile peer.
    socket.on("error", () => {});
    this.#closed = new Promise((resolve) => socket.once("close", () => resolve()));
  }

  /** A bound one waits for the response to its bind: frames before it would meet an unbound session. */
  static async open({ port, systemId, password }: Login, isBound: boolean): Promise<Connection> {
    const localAddress = isBound ? "127.0.0.1" : UNBOUND_ADDRESS;
    const socket = connect({ port, host: "127.0.0.1", localAddress });
    const connection = new Connection(socket, isBound);
    if (isBound) {
      socket.write(encode({ ...BIND, systemId, password }, 1));
      await Promise.race([once(socket, "data").catch(ignore), connection.#closed]);
    }
    socket.resume();
    return connection;
  }

  stopReading(): void {
    this.#socket.pause();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Writes until all is written, the server closes, or reads nothing for a time. Returns the octets that it has taken. */
  async write(pieces: Iterable<Buffer>, patienceMs = ANSWER_WITHIN_MS): Promise<number> {
    let taken = 0;
    for (const piece of pieces) {
      if (this.#socket.destroyed) break;
      if (!this.#socket.write(piece) && !(await this.#drained(patienceMs))) break;
      taken += piece.length;
    }
    return taken;
  }

  async #drained(patienceMs: number): Promise<boolean> {
    const drained = once(this.#socket, "drain").then(() => true, ignore);
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, patienceMs);
    const result = await Promise.race([drained, this.#closed, late]);
    clearTimeout(timer);
    return result === true;
  }

  /** Waits for the server to read everything: it closes after the end of the stream. */
  async end(): Promise<void> {
    this.#socket.end();
    const timer = setTimeout(() => this.#socket.destroy(), ANSWER_WITHIN_MS);
    await this.#closed;
    clearTimeout(timer);
  }
}

const ignore = (): void => {};

const BIND = {
  command: "bind_transceiver",
  systemType: "",
  interfaceVersion: 0x34,
  addressRange: NO_ADDRESS,
  tlvs: NO_TLVS,
} as const;
