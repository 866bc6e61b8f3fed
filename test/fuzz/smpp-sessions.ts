import { duplexPair } from "node:stream";
import { isResponseId, RESPONSE_COMMANDS, type Command } from "../../src/smpp/commands.ts";
import { decode } from "../../src/smpp/decode.ts";
import type { Request } from "../../src/smpp/pdu.ts";
import { responseTo } from "../../src/smpp/respond.ts";
import { Session, type SessionEnd } from "../../src/smpp/session.ts";
import { TestPeer, settle } from "../support/smpp-connection.ts";
import { Random } from "./random.ts";
import { cut, expectedFrames, createStream } from "./smpp-frames.ts";

const FRAMES_PER_STREAM_MAX = 20;

/** Expected behaviour of a session: sequence numbers of its responses in order, and the reason of its end. */
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

/** Feeds streams of invalid frames to sessions and returns every deviation from the expected responses. */
export async function fuzzSessions(seed: number, streams: number): Promise<string[]> {
  const violations: string[] = [];
  for (let index = 0; index < streams; index += 1) {
    const random = Random.of(seed, index);
    const { octets } = createStream(random, FRAMES_PER_STREAM_MAX);
    const seen = await play(random, octets);
    const expected = expectedOf(octets);
    if (JSON.stringify(seen) !== JSON.stringify(expected))
      violations.push(`seed ${seed}, stream ${index}: ${JSON.stringify(seen)} instead of ${JSON.stringify(expected)}`);
  }
  return violations;
}

async function play(random: Random, octets: Buffer): Promise<Expected> {
  const [near, other] = duplexPair();
  const peer = new TestPeer(other);
  const session = new Session(near, {
    enquireAfterMs: null,
    onRequest: (pdu) =>
      (pdu.command as Command) in RESPONSE_COMMANDS ? responseTo(pdu as Request, { status: random.below(2) }) : null,
  });
  let reason: Expected["reason"] = "open";
  void session.closed.then((end) => (reason = end.reason));
  for (const piece of cut(random, octets)) other.write(piece);
  await settle();
  const seen: Expected = { sequences: peer.received.map(({ sequence }) => sequence), reason };
  session.destroy();
  other.destroy();
  return seen;
}
