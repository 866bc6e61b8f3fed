import { COMMAND_IDS } from "../../src/smpp/commands.ts";
import { decode } from "../../src/smpp/decode.ts";
import { encode } from "../../src/smpp/encode.ts";
import { Framer } from "../../src/smpp/framer.ts";
import { PDU_LENGTH_MAX } from "../../src/smpp/lengths.ts";
import type { Pdu } from "../../src/smpp/pdu.ts";
import { describeStatus } from "../../src/smpp/status.ts";
import { GOLDENS, octetsOf } from "../support/smpp-goldens.ts";
import { Random } from "./random.ts";

export interface FramePlan {
  seed: number;
  /** Minimum number of frames. The last stream is always complete, so that it can be replayed alone. */
  frames: number;
  /** Index of the first stream, to replay one of an earlier run. */
  from?: number;
  onProgress?: (report: FrameReport) => void;
}

export interface FrameReport {
  streams: number;
  frames: number;
  pdus: number;
  malformed: number;
  unframeable: number;
  violations: string[];
}

const FRAMES_PER_STREAM_MAX = 40;
const VIOLATIONS_MAX = 20;
const PROGRESS_EVERY = 2000;

/**
 * Sends streams of random, mutated and truncated frames through framer and decoder. Returns the violated guarantees.
 */
export function fuzzFrames({ seed, frames, from = 0, onProgress }: FramePlan): FrameReport {
  const report: FrameReport = { streams: 0, frames: 0, pdus: 0, malformed: 0, unframeable: 0, violations: [] };
  while (report.frames < frames && report.violations.length < VIOLATIONS_MAX) {
    const index = from + report.streams;
    const random = Random.of(seed, index);
    const stream = createStream(random, FRAMES_PER_STREAM_MAX);
    try {
      readStream(random, stream, report);
    } catch (error) {
      report.violations.push(`seed ${seed}, stream ${index}: ${error instanceof Error ? error.stack : String(error)}`);
    }
    report.streams += 1;
    report.frames += stream.frames;
    if (report.streams % PROGRESS_EVERY === 0) onProgress?.(report);
  }
  return report;
}

export interface Stream {
  octets: Buffer;
  frames: number;
}

const SEEDS = GOLDENS.map(octetsOf);
const IDS = Object.values(COMMAND_IDS);
/** Random bytes generated in bulk: one octet at a time would take most of the run. */
const NOISE = Buffer.from(Uint8Array.from({ length: 131_072 }, noise(4711)));

function noise(seed: number): () => number {
  const random = new Random(seed);
  return () => random.below(256);
}

export function createStream(random: Random, framesMax: number): Stream {
  const frames = Array.from({ length: 1 + random.below(framesMax) }, () => createFrame(random));
  return { octets: Buffer.concat(frames), frames: frames.length };
}

/** The same without the frames that end a session: wrong lengths and unbind. So one connection reads all of them. */
export function createEndlessStream(random: Random, frames: number): Stream {
  const octets = Array.from({ length: frames }, () => {
    const frame = createFrame(random);
    frame.writeUInt32BE(frame.length);
    if (frame.readUInt32BE(4) === COMMAND_IDS.unbind) frame.writeUInt32BE(COMMAND_IDS.enquire_link, 4);
    return frame;
  });
  return { octets: Buffer.concat(octets), frames };
}

function createFrame(random: Random): Buffer {
  const kind = random.next();
  if (kind < 0.2) return randomFrame(random);
  const octets = kind < 0.25 ? splice(random) : Buffer.from(random.pick(SEEDS));
  const mutated = kind < 0.3 ? octets : mutate(random, octets);
  // Most lengths are correct; otherwise the framer would stop at the first frame.
  mutated.writeUInt32BE(random.chance(0.995) ? mutated.length : random.pick(NASTY_LENGTHS));
  return mutated;
}

const NASTY_LENGTHS = [0, 3, 4, 15, 16, 17, PDU_LENGTH_MAX, PDU_LENGTH_MAX + 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/** Random octets after a mostly valid header. */
function randomFrame(random: Random): Buffer {
  const length = random.chance(0.01) ? 16 + random.below(PDU_LENGTH_MAX - 16) : 16 + random.below(200);
  const from = random.below(NOISE.length - length);
  const octets = Buffer.from(NOISE.subarray(from, from + length));
  if (random.chance(0.999)) octets.writeUInt32BE(length);
  if (random.chance(0.9)) octets.writeUInt32BE(random.pick(IDS), 4);
  return octets;
}

/** The start of one PDU joined to the end of another. */
function splice(random: Random): Buffer {
  const first = random.pick(SEEDS);
  const second = random.pick(SEEDS);
  const head = first.subarray(0, 16 + random.below(first.length - 15));
  return Buffer.concat([head, second.subarray(random.below(second.length))]);
}

const NASTY = [0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff];

function mutate(random: Random, given: Buffer): Buffer {
  let octets = given;
  for (let count = 1 + random.below(4); count > 0; count -= 1) {
    const at = 4 + random.below(octets.length - 4);
    const mutation = random.below(6);
    if (mutation === 0) octets[at] = random.pick(NASTY);
    else if (mutation === 1) octets[at] = (octets[at] ?? 0) ^ (1 << random.below(8));
    else if (mutation === 2) octets = octets.subarray(0, Math.max(16, at));
    else if (mutation === 3) octets = Buffer.concat([octets.subarray(0, at), NOISE.subarray(at, at + random.below(40)), octets.subarray(at)]);
    else if (mutation === 4) octets = Buffer.concat([octets, tlvNoise(random)]);
    else octets = without(octets, Math.max(16, at), 1 + random.below(8));
  }
  return octets;
} // prettier-ignore

const without = (octets: Buffer, at: number, count: number): Buffer =>
  Buffer.concat([octets.subarray(0, at), octets.subarray(at + count)]);

/** A TLV with a correct or wrong length. */
function tlvNoise(random: Random): Buffer {
  const value = NOISE.subarray(0, random.below(30));
  const octets = Buffer.alloc(4 + value.length);
  octets.writeUInt16BE(random.below(0x10000));
  octets.writeUInt16BE(random.chance(0.7) ? value.length : random.below(0x10000), 2);
  value.copy(octets, 4);
  return octets;
}

/** Reference implementation of framing. */
export function expectedFrames(octets: Buffer): { ends: number[]; broken: boolean } {
  const ends: number[] = [];
  let at = 0;
  while (octets.length - at >= 4) {
    const length = octets.readUInt32BE(at);
    if (length < 16 || length > PDU_LENGTH_MAX) return { ends, broken: true };
    if (at + length > octets.length) break;
    at += length;
    ends.push(at);
  }
  return { ends, broken: false };
}

function readStream(random: Random, { octets }: Stream, report: FrameReport): void {
  const { ends, broken } = expectedFrames(octets);
  let found = 0;
  const framer = new Framer((bytes, start, end) => {
    const from = ends[found - 1] ?? 0;
    const to = ends[found] ?? Number.NaN;
    if (bytes.compare(octets, from, to, start, end) !== 0) throw new Error(`frame ${found} is not what was sent`);
    found += 1;
    checkFrame(bytes, start, end, report);
  });
  let result: string = "read";
  for (const piece of cut(random, octets)) {
    result = framer.read(piece);
    if (result === "unframeable") break;
  }
  if (found !== ends.length) throw new Error(`${found} frames were found of ${ends.length}`);
  if ((result === "unframeable") !== broken)
    throw new Error(`the framer said ${result}, with a wrong length: ${broken}`);
  if (broken) report.unframeable += 1;
}

/** Splits a stream: one chunk, octet by octet, or at random positions. */
export function* cut(random: Random, octets: Buffer): Generator<Buffer> {
  const way = random.next();
  const most = way < 0.3 ? octets.length : way < 0.35 ? 1 : way < 0.6 ? 8 : 300;
  for (let at = 0; at < octets.length;) {
    const length = most === octets.length ? most : 1 + random.below(most);
    yield octets.subarray(at, at + length);
    at += length;
  }
}

function checkFrame(bytes: Buffer, start: number, end: number, report: FrameReport): void {
  const decoded = decode(bytes, start, end);
  if (decoded.sequence !== bytes.readUInt32BE(start + 12)) throw new Error("the sequence is another");
  if (decoded.kind === "pdu") {
    report.pdus += 1;
    checkPdu(decoded.pdu, bytes, start, end);
    return;
  }
  report.malformed += 1;
  if (decoded.commandId !== bytes.readUInt32BE(start + 4)) throw new Error("the command is another");
  if (decoded.status === 0 || describeStatus(decoded.status).name.startsWith("0x"))
    throw new Error(`it would be answered with ${decoded.status}`);
  if (decoded.reason === "") throw new Error("there is no reason");
}

/** Round trip: encoding a decoded PDU gives the same octets, or the canonical form of a lenient input. */
function checkPdu(pdu: Pdu, bytes: Buffer, start: number, end: number): void {
  if (COMMAND_IDS[pdu.command] !== bytes.readUInt32BE(start + 4)) throw new Error("the command is another");
  if ("shortMessage" in pdu && pdu.shortMessage.length > 254) throw new Error("the text is too long");
  if ("tlvs" in pdu && pdu.tlvs.reduce((sum, { value }) => sum + value.length + 4, 0) > end - start)
    throw new Error("the parameters are longer than the PDU");
  const written = writtenAgain(pdu, bytes.readUInt32BE(start + 12));
  if (!written) return;
  if (!("status" in pdu) && !isBare(pdu)) {
    // The status in a request's header is decoded as zero.
    if (written.compare(bytes, start + 16, end, 16) !== 0) throw new Error(`${pdu.command} is written differently`);
    return;
  }
  const again = decode(written);
  if (again.kind !== "pdu" || !encode(again.pdu, again.sequence).equals(written))
    throw new Error(`${pdu.command} is read differently once it is written`);
}

const isBare = (pdu: Pdu): boolean => !("tlvs" in pdu);

/** Null for PDUs that the decoder accepts and the encoder refuses: strings longer than their fields. */
function writtenAgain(pdu: Pdu, sequence: number): Buffer | null {
  try {
    return encode(pdu, sequence);
  } catch (error) {
    const mayBe = "status" in pdu || "password" in pdu;
    if (error instanceof RangeError && mayBe) return null;
    throw error;
  }
}
