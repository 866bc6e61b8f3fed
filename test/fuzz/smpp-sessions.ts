import { duplexPair } from "node:stream";
import { isResponseId, RESPONSE_COMMANDS, type Command } from "../../src/smpp/commands.ts";
import { decode } from "../../src/smpp/decode.ts";
import type { Request } from "../../src/smpp/pdu.ts";
import { responseTo } from "../../src/smpp/respond.ts";
import { Session, type SessionEnd } from "../../src/smpp/session.ts";
import { FarEnd, settle } from "../support/smpp-line.ts";
import { Random } from "./random.ts";
import { cut, expectedFrames, makeStream } from "./smpp-frames.ts";

const FRAMES_PER_STREAM_MAX = 20;

/** What a session should say to a stream, in order: the sequences of its answers, and how it ends. */
interface Expected {
  sequences: number[];
  reason: SessionEnd["reason"] | "open";
}

function expectedOf(octets: Buffer): Expected {
  const { ends, broken } = expectedFrames(octets);
  const sequences: number[] = [];
  let start = 0;
  for (const end of ends) {
    const decoded = decode(octets, start, end);
    start = end;
    if (decoded.kind === "pdu" && decoded.pdu.command in RESPONSE_COMMANDS) sequences.push(decoded.sequence);
    if (decoded.kind === "malformed" && !isResponseId(decoded.commandId)) sequences.push(decoded.sequence);
    if (decoded.kind === "pdu" && decoded.pdu.command === "unbind") return { sequences, reason: "unbound" };
  }
  return broken ? { sequences: [...sequences, 0], reason: "unframeable" } : { sequences, reason: "open" };
}

/** Lets sessions read streams of bad frames; says where one did not answer exactly what it had to. */
export async function fuzzSessions(seed: number, streams: number): Promise<string[]> {
  const violations: string[] = [];
  for (let index = 0; index < streams; index += 1) {
    const random = Random.of(seed, index);
    const { octets } = makeStream(random, FRAMES_PER_STREAM_MAX);
    const seen = await play(random, octets);
    const wanted = expectedOf(octets);
    if (JSON.stringify(seen) !== JSON.stringify(wanted))
      violations.push(`seed ${seed}, stream ${index}: ${JSON.stringify(seen)} and not ${JSON.stringify(wanted)}`);
  }
  return violations;
}

async function play(random: Random, octets: Buffer): Promise<Expected> {
  const [near, other] = duplexPair();
  const far = new FarEnd(other);
  const session = new Session(near, {
    enquireAfterMs: null,
    onRequest: (pdu) =>
      (pdu.command as Command) in RESPONSE_COMMANDS ? responseTo(pdu as Request, { status: random.below(2) }) : null,
  });
  let reason: Expected["reason"] = "open";
  void session.closed.then((end) => (reason = end.reason));
  for (const piece of cut(random, octets)) other.write(piece);
  await settle();
  const seen: Expected = { sequences: far.heard.map(({ sequence }) => sequence), reason };
  session.destroy();
  other.destroy();
  return seen;
}
