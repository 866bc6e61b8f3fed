import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { text } from "./json.ts";
import type { Random } from "./random.ts";

/** Bytes for a raw TCP connection and the number of responses they require. */
export interface RawCase {
  name: string;
  /** Written in order; a number is a pause in ms. */
  pieces: (Buffer | number)[];
  /** `answer` waits for all required responses, `quiet` until no more bytes arrive, `leave` disconnects at once. */
  ending: "answer" | "quiet" | "leave";
  answersMin: number;
  answersMax: number;
  /** Expected statuses in order, if they are certain. */
  statuses?: number[];
}

interface RawAnswer {
  status: number;
  body: string;
}

export interface RawOutcome {
  answers: RawAnswer[];
  /** Bytes after the last complete response. */
  rest: string;
  timedOut: boolean;
}

const QUIET_MS = 250;
const TIMEOUT_MS = 60_000;

type RawDeps = { key: string; random: Random };

const lines = (...all: string[]): string => all.join("\r\n");
const bytes = (...all: string[]): Buffer => Buffer.from(lines(...all), "latin1");

/** A send request as a client writes it. `line` and `length` replace the request line and the length headers. */
function send(
  { key, random }: RawDeps,
  given: { line?: string; length?: string[]; extra?: string[]; body?: string } = {},
): Buffer {
  const body = given.body ?? JSON.stringify({ sender: "RAW", to: "15550100100", text: text(random), type: "TRANS" });
  const length = given.length ?? [`content-length: ${Buffer.byteLength(body)}`];
  const head = lines(
    given.line ?? "POST /v1/sms HTTP/1.1",
    "host: fuzz",
    `apikey: ${key}`,
    "content-type: application/json",
    ...(given.extra ?? []),
    ...length,
    "",
    "",
  );
  return Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body, "utf8")]);
}

const healthz = bytes("GET /healthz HTTP/1.1", "host: fuzz", "", "");

/** Request smuggling: a second request in the body of the first. The server must never answer it. */
const hidden = (deps: RawDeps): string => send(deps).toString("latin1");

const chunked = (body: string, size = 7): string => {
  const parts: string[] = [];
  for (let at = 0; at < body.length; at += size) {
    const part = body.slice(at, at + size);
    parts.push(`${part.length.toString(16)}\r\n${part}\r\n`);
  }
  return `${parts.join("")}0\r\n\r\n`;
};

const plainBody = JSON.stringify({ sender: "RAW", to: "15550100100", text: "Hello", type: "TRANS" });

type CaseFactory = (deps: RawDeps) => RawCase;

const answered = (name: string, pieces: RawCase["pieces"], ...statuses: number[]): RawCase => ({
  name,
  pieces,
  ending: "answer",
  answersMin: statuses.length,
  answersMax: statuses.length,
  statuses,
});

/** Refused with one response without body, or with none. Later bytes on the connection are ignored. */
const refused = (name: string, pieces: RawCase["pieces"], ending: RawCase["ending"] = "quiet"): RawCase => ({
  name,
  pieces,
  ending,
  answersMin: 0,
  answersMax: 1,
});

const MAKERS: readonly CaseFactory[] = [
  (deps) => answered("a good request in pieces", split(deps.random, send(deps)), 200),
  (deps) => {
    const count = 2 + deps.random.below(6);
    const all = Array.from({ length: count }, () => send(deps));
    return answered("requests one behind the other", [Buffer.concat(all)], ...all.map(() => 200));
  },
  (deps) =>
    answered(
      "a request behind one without a key",
      [send({ ...deps, key: "" }, { line: "DELETE /v1/sms HTTP/1.1" }), healthz],
      405,
      200,
    ),
  (deps) =>
    answered(
      "a hidden request in the body of a refused one",
      [
        send(deps, {
          line: deps.random.pick(["PUT /v1/sms HTTP/1.1", "DELETE /v1/sms HTTP/1.1"]),
          body: hidden(deps),
        }),
        healthz,
      ],
      405,
      200,
    ),
  // The body was read completely, so the connection continues with the next request and not with the smuggled one.
  (deps) =>
    answered("a hidden request in a body that is no JSON", [send(deps, { body: hidden(deps) }), healthz], 400, 200),
  (deps) =>
    answered(
      "a hidden request at no path",
      [send(deps, { line: "POST /no-thing HTTP/1.1", body: hidden(deps) }), healthz],
      404,
      200,
    ),
  (deps) =>
    answered(
      "a GET with a body",
      [send(deps, { line: "GET /healthz HTTP/1.1", body: hidden(deps) }), healthz],
      200,
      200,
    ),
  (deps) =>
    answered(
      "a chunked body",
      split(
        deps.random,
        send(deps, { length: ["transfer-encoding: chunked"], body: chunked(plainBody, 1 + deps.random.below(20)) }),
      ),
      200,
    ),
  (deps) =>
    answered(
      "a chunked body with trailers",
      [
        send(deps, {
          length: ["transfer-encoding: chunked"],
          body: `${chunked(plainBody).slice(0, -2)}x-after: 1\r\napikey: no\r\n\r\n`,
        }),
      ],
      200,
    ),
  (deps) => answered("a slow body", slowly(deps.random, send(deps)), 200),
  (deps) => answered("HTTP/1.0", [send(deps, { line: "POST /v1/sms HTTP/1.0" })], 200),
  (deps) => answered("a wait for 100 Continue", [send(deps, { extra: ["expect: 100-continue"] })], 100, 200),
  (deps) => answered("an unknown expectation", [send(deps, { extra: ["expect: miracles"] })], 417),
  (deps) => answered("an address in full", [send(deps, { line: "POST http://evil.example/v1/sms HTTP/1.1" })], 200),
  (deps) =>
    answered(
      "a wish for another protocol",
      [
        send(deps, {
          extra: ["connection: upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQAAP__"],
        }),
      ],
      200,
    ),
  (deps) => answered("a body over the limit", [send(deps, { length: ["content-length: 300000000"], body: "{" })], 413),
  (deps) =>
    refused("both lengths", [
      send(deps, {
        length: deps.random.chance(0.5)
          ? ["content-length: 4", "transfer-encoding: chunked"]
          : ["transfer-encoding: chunked", "content-length: 4"],
        body: `0\r\n\r\n${hidden(deps)}`,
      }),
    ]),
  (deps) =>
    refused("a length that is none", [
      send(deps, {
        length: [
          `content-length: ${deps.random.pick(["-1", "+5", "0x10", "5 5", "5,5", "5, 6", "99999999999999999999", "", "abc", "1e2", "٥", "5;", "\t", "18446744073709551617"])}`,
        ],
      }),
    ]),
  (deps) =>
    refused("two lengths", [
      send(deps, { length: ["content-length: 0", `content-length: ${plainBody.length}`], body: plainBody }),
    ]),
  (deps) =>
    refused("a transfer coding that is none", [
      send(deps, {
        length: [
          deps.random.pick([
            "transfer-encoding: xchunked", "transfer-encoding: chunked, identity", "transfer-encoding : chunked", "transfer-encoding: gzip", "transfer-encoding: chunked\r\ntransfer-encoding: identity",
            "transfer-encoding:\x0bchunked", "transfer-encoding: chunked,", "Transfer-Encoding: cow\r\nTransfer-Encoding: chunked, x",
          ]), // prettier-ignore
        ],
        body: `0\r\n\r\n${hidden(deps)}`,
      }),
    ]),
  (deps) =>
    refused("a chunk that is none", [
      send(deps, {
        length: ["transfer-encoding: chunked"],
        body: deps.random.pick([
          "zz\r\nhello\r\n0\r\n\r\n",
          "-1\r\n\r\n",
          "ffffffffffffffffff\r\nx",
          "5\r\nhelloX\r\n0\r\n\r\n",
          "5\nhello\n0\n\n",
          `5;${"e".repeat(20_000)}\r\nhello\r\n0\r\n\r\n`,
          "0x5\r\nhello\r\n0\r\n\r\n",
          "5 \r\nhello\r\n",
        ]),
      }),
    ]),
  (deps) => ({
    ...refused("a length that is too short", [
      send(deps, { length: [`content-length: ${1 + deps.random.below(20)}`] }),
    ]),
    answersMin: 1,
    answersMax: 2,
  }),
  (deps) =>
    refused("a body that never comes whole", [cut(deps.random, send(deps))], deps.random.pick(["quiet", "leave"])),
  (deps) =>
    refused(
      "a length that is too long",
      [send(deps, { length: ["content-length: 9999"] })],
      deps.random.pick(["quiet", "leave"]),
    ),
  (deps) =>
    refused("a header over the limit", [
      send(deps, { extra: [`x-long: ${"a".repeat(17_000 + deps.random.below(60_000))}`] }),
    ]),
  (deps) => refused("an address over the limit", [send(deps, { line: `POST /v1/sms?${"a".repeat(20_000)} HTTP/1.1` })]),
  (deps) => ({
    ...refused("very many headers", [send(deps, { extra: Array.from({ length: 2500 }, () => "a:") })]),
    answersMin: 1,
  }),
  (deps) =>
    refused("a header with something in it", [
      send(deps, {
        extra: [
          deps.random.pick([
            "x-a: b\rc",
            "x-a: b\u0000c",
            "x a: b",
            ": b",
            "x-a",
            " folded: yes",
            "x-a: b\r\n folded",
            "\u00ff\u00fe: b",
            "x-a: b\n\nGET /healthz HTTP/1.1",
            "x-a: b\u0001",
          ]),
        ],
      }),
    ]),
  (deps) =>
    refused("no host, or two", [
      bytes("GET /healthz HTTP/1.1", ...deps.random.pick([[], ["host: a", "host: b"]]), "", ""),
    ]),
  (deps) =>
    refused("a first line that is none", [
      send(deps, {
        line: deps.random.pick([
          "FOO /v1/sms HTTP/1.1", "post /v1/sms HTTP/1.1", `${"A".repeat(10_000)} / HTTP/1.1`, " POST /v1/sms HTTP/1.1", "POST  /v1/sms HTTP/1.1", "POST /v1/sms", "POST /v1/sms HTTP/2.0", "POST /v1/sms HTTP/1.2",
          "POST /v1/sms HTTP/9.9", "POST /v1/sms HTTP/1.1 x", "POST v1/sms HTTP/1.1", "POST /v1/s ms HTTP/1.1", "POST /v1/sms\u0000 HTTP/1.1", "POST\t/v1/sms\tHTTP/1.1", "CONNECT evil.example:443 HTTP/1.1",
          "PRI * HTTP/2.0", "GET /", "", "\u0016\u0003\u0001\u0002\u0000\u0001", "HTTP/1.1 200 OK", "POST /v1/sms HTTP/1.1\rGET / HTTP/1.1", "SOURCE / ICY",
        ]), // prettier-ignore
      }),
    ]),
  (deps) => ({
    ...refused("an address of another kind", [
      send(deps, {
        line: deps.random.pick([
          "OPTIONS * HTTP/1.1",
          "POST /v1/sms# HTTP/1.1",
          "POST /v1/\u00e9\u00ff HTTP/1.1",
          "POST //evil/v1/sms HTTP/1.1",
          "POST ?x HTTP/1.1",
          "POST http:// HTTP/1.1",
          "POST /v1/%zz HTTP/1.1",
          "M-SEARCH /v1/sms HTTP/1.1",
        ]),
      }),
    ]),
    answersMax: 1,
  }),
  (deps) => {
    const whole = Buffer.concat([send(deps), send(deps)]);
    let broken: Buffer = whole;
    for (let i = 1 + deps.random.below(4); i > 0; i -= 1) broken = breakBytes(deps.random, broken);
    return { name: "bytes that were broken", pieces: [broken], ending: "quiet", answersMin: 0, answersMax: 4 };
  },
  (deps) =>
    refused("noise", [Buffer.from(Array.from({ length: deps.random.below(600) }, () => deps.random.below(256)))]),
  () => refused("nothing at all", [], "leave"),
];

export const rawCase = (random: Random, key: string): RawCase => random.pick(MAKERS)({ random, key });

/** Mutated bytes can be valid by chance, so the responses decide how many messages must be stored. */
const cut = (random: Random, whole: Buffer): Buffer => whole.subarray(0, random.below(whole.length - 1));

function split(random: Random, whole: Buffer): RawCase["pieces"] {
  const at = random.below(whole.length);
  return [whole.subarray(0, at), random.below(5), whole.subarray(at)];
}

function slowly(random: Random, whole: Buffer): RawCase["pieces"] {
  const pieces: RawCase["pieces"] = [whole.subarray(0, whole.length - 10)];
  for (let at = whole.length - 10; at < whole.length; at += 2)
    pieces.push(5 + random.below(20), whole.subarray(at, at + 2));
  return pieces;
}

function breakBytes(random: Random, whole: Buffer): Buffer {
  const at = random.below(whole.length);
  switch (random.below(4)) {
    case 0: {
      const copy = Buffer.from(whole);
      copy[at] = random.below(256);
      return copy;
    }
    case 1:
      return Buffer.concat([whole.subarray(0, at), whole.subarray(at + 1 + random.below(8))]);
    case 2:
      return Buffer.concat([
        whole.subarray(0, at),
        Buffer.from(random.pick(["\r\n", "\r", "\n", "\u0000", " ", ":", "0\r\n\r\n"])),
        whole.subarray(at),
      ]);
    default:
      return Buffer.concat([whole.subarray(0, at), whole.subarray(Math.max(0, at - random.below(40)))]);
  }
}

/** Runs a case on its own connection. */
export async function play({ pieces, ending, answersMin }: RawCase, url: URL): Promise<RawOutcome> {
  const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
  let received: Buffer = Buffer.alloc(0);
  let lastAt = performance.now();
  let closed = false;
  const startedAt = performance.now();
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    lastAt = performance.now();
  });
  // A connection reset is a legitimate refusal.
  socket.on("error", () => undefined);
  socket.on("close", () => (closed = true));
  for (const piece of pieces) {
    if (typeof piece === "number") await sleep(piece);
    else socket.write(piece);
  }
  if (ending === "leave") {
    await sleep(5);
    socket.destroy();
    return { answers: [], rest: "", timedOut: false };
  }
  let ended = false;
  while (!closed && performance.now() - startedAt < TIMEOUT_MS) {
    await sleep(5);
    if (ending === "answer" && readAnswers(received).answers.length >= answersMin && performance.now() - lastAt > 30)
      break;
    if (ending === "quiet" && !ended && performance.now() - lastAt > QUIET_MS) {
      socket.end();
      ended = true;
    }
  }
  const timedOut = performance.now() - startedAt >= TIMEOUT_MS;
  socket.destroy();
  return { ...readAnswers(received), timedOut };
}

/** Splits received bytes into responses. */
function readAnswers(received: Buffer): { answers: RawAnswer[]; rest: string } {
  const answers: RawAnswer[] = [];
  let at = 0;
  for (;;) {
    const end = received.indexOf("\r\n\r\n", at);
    if (end < 0) break;
    const head = received.toString("latin1", at, end);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    if (!status) break;
    // Node's own error responses are the only chunked ones, and they are empty.
    const empty = /^transfer-encoding: chunked$/im.test(head) ? "0\r\n\r\n".length : 0;
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? empty);
    const bodyAt = end + 4;
    if (received.length < bodyAt + length) break;
    answers.push({ status, body: received.toString("utf8", bodyAt, bodyAt + length) });
    at = bodyAt + length;
  }
  return { answers, rest: received.toString("latin1", at) };
}
