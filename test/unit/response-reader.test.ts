import { get, type IncomingMessage } from "node:http";
import { createServer, type AddressInfo, type Server } from "node:net";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { Client } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ResponseReader } from "../../src/http-client/response-reader.ts";
import { repetitions } from "../support/repetitions.ts";

interface Heard {
  status: number;
  retryAfter: string | null;
  body: string;
  outcome: string;
  keptMs: number;
}

/** Reads a response from chunks, followed by the end of the connection. */
function readPieces(pieces: readonly Buffer[]): Heard {
  const heard: Heard = { status: 0, retryAfter: null, body: "", outcome: "more", keptMs: 0 };
  const reader = new ResponseReader();
  reader.begin({
    onHead: ({ status, retryAfter }) => void Object.assign(heard, { status, retryAfter }),
    onBody: (bytes) => (heard.body += bytes.toString("latin1")),
  });
  for (const piece of pieces) {
    // The memory of a chunk is reused for the next.
    const borrowed = Buffer.from(piece);
    heard.outcome = reader.read(borrowed);
    borrowed.fill(0x58);
    if (heard.outcome !== "more") break;
  }
  if (heard.outcome === "more") heard.outcome = reader.end();
  return { ...heard, keptMs: heard.outcome === "whole" ? reader.keptMs : 0 };
}

const DRIPS_MAX = repetitions(2000, 100_000);

const bytesOf = (text: string): Buffer => Buffer.from(text, "latin1");

/** Pieces of one byte, of a long text more, because the reader looks at an unfinished head again with each of them. */
function dripped(bytes: Buffer): Buffer[] {
  const size = Math.ceil(bytes.length / DRIPS_MAX);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size));
}

/** Reads the text whole and drop by drop, which must give the same result. */
function read(text: string): Heard {
  const whole = readPieces([bytesOf(text)]);
  const inDrops = readPieces(dripped(bytesOf(text)));
  // Surplus bytes show only in the first chunk that contains them; later ones close the connection on arrival.
  expect({ ...inDrops, keptMs: 0 }).toEqual({ ...whole, keptMs: 0 });
  return whole;
}

const answer = (...lines: string[]): string => ["HTTP/1.1 200 OK", ...lines, "", ""].join("\r\n");
const CHUNKED = answer("Transfer-Encoding: chunked");
const NO_HTTP = { status: 0, outcome: "no HTTP" };

describe("a response", () => {
  test("content-length delimits the body", () => {
    expect(read(`${answer("Content-Length: 5")}hello`)).toEqual({
      status: 200,
      retryAfter: null,
      body: "hello",
      outcome: "whole",
      keptMs: 4000,
    });
    expect(read(`${answer("content-LENGTH:  005 ")}hello`)).toMatchObject({ body: "hello", outcome: "whole" });
    expect(read(answer("Content-Length: 0"))).toMatchObject({ body: "", outcome: "whole" });
  });

  test("without a length the body ends with the connection, which is not kept", () => {
    for (const line of ["X: y", "Transfer-Encoding: gzip", "Transfer-Encoding: chunked, gzip"])
      expect(read(`${answer(line)}all of it`)).toMatchObject({ body: "all of it", outcome: "whole", keptMs: 0 });
  });

  test("a body shorter than its length is incomplete", () => {
    expect(read(`${answer("Content-Length: 9")}half`)).toMatchObject({ status: 200, body: "half", outcome: "more" });
    expect(read(`${CHUNKED}4\r\nhalf\r\n`)).toMatchObject({ status: 200, body: "half", outcome: "more" });
    expect(read("HTTP/1.1 200 OK\r\nConte")).toMatchObject({ status: 0, outcome: "more" });
  });

  test("chunks are joined, with any extensions and trailers", () => {
    for (const written of [
      "5\r\nhello\r\n0\r\n\r\n",
      "2\r\nhe\r\n03\r\nllo\r\n000\r\n\r\n",
      '5;a;b=c;d="e;\\"f"\r\nhello\r\n0;x=y\r\n\r\n',
      "5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Other:\r\n\r\n",
    ])
      expect(read(CHUNKED + written)).toMatchObject({ body: "hello", outcome: "whole", keptMs: 4000 });
    expect(read(`${answer("Transfer-Encoding: gzip, CHUNKED ")}1\r\nx\r\n0\r\n\r\n`)).toMatchObject({ body: "x" });
  });

  test.each([
    "g\r\n", "\r\n", "1 \r\nx", "1\nx", "1;\r\nx", "1; a\r\nx", "1;a=b=c\r\nx", '1;a="b\r\nx', "0x1\r\nx", "-1\r\nx",
    "1\r\nx0\r\n", "1\r\nxy\r\n", "1\r\nx\n0\r\n\r\n", "fffffffffffffffff\r\nx", "0\r\nA b\r\n\r\n", "0\r\n A: b\r\n\r\n", "0\r\nContent-Length: 3\r\n\r\n",
  ])("a chunked body is broken by %j", (written) => {
    expect(read(CHUNKED + written)).toMatchObject({ status: 200, outcome: "no HTTP" });
  }); // prettier-ignore

  test("204 and 304 have no body, and the connection is closed if one is announced", () => {
    for (const status of ["204 No Content", "304 Not Modified"]) {
      const head = `HTTP/1.1 ${status}\r\n`;
      expect(read(`${head}\r\n`)).toMatchObject({ body: "", outcome: "whole", keptMs: 4000 });
      expect(read(`${head}Content-Length: 0\r\n\r\n`)).toMatchObject({ outcome: "whole", keptMs: 4000 });
      expect(read(`${head}Content-Length: 5\r\n\r\n`)).toMatchObject({ outcome: "whole", keptMs: 0 });
      expect(read(`${head}Transfer-Encoding: chunked\r\n\r\n`)).toMatchObject({ outcome: "whole", keptMs: 0 });
    }
  });

  test("a response is found after interim responses, and not after a protocol switch", () => {
    const hints = `HTTP/1.1 100 Continue\r\n\r\n${"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 9\r\n\r\n".repeat(1000)}`;
    expect(readPieces([bytesOf(`${hints}${answer("Content-Length: 2")}ok`)])).toMatchObject({
      status: 200,
      body: "ok",
      outcome: "whole",
      keptMs: 4000,
    });
    expect(read("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n")).toMatchObject({ status: 0, outcome: "switched" });
  });

  test.each([
    "HTTP/1.1 200 OK", "HTTP/1.0 200 OK", "HTTP/2.0 200 OK", "HTTP/0.9 200 OK", "HTTP/1.1 200", "HTTP/1.1 200 ",
    "HTTP/1.1 200 \0\xff\t!", "\r\n\n\rHTTP/1.1 200 OK",
  ])("a response may start with %j", (line) => {
    expect(read(`${line}\r\nContent-Length: 1\r\n\r\nx`)).toMatchObject({ status: 200, body: "x", outcome: "whole" });
  }); // prettier-ignore

  test.each([
    "HTTP/1.2 200 OK", "HTTP/3.0 200 OK", "http/1.1 200 OK", "HTTP/1.1  200 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 20 OK",
    "HTTP/1.1 099 OK", "HTTP/1.1 OK", "HTTP/11 200 OK", " HTTP/1.1 200 OK", "HTTP/1.1 200 OK\n", "HTTP/1.1 200 OK\r",
    "HTTP/1.1\t200 OK", "SSH-2.0-x", "220 mail.example ESMTP", "<html>", "\0",
  ])("a response may not start with %j", (line) => {
    expect(read(`${line}\r\nContent-Length: 1\r\n\r\nx`)).toMatchObject(NO_HTTP);
  }); // prettier-ignore

  test.each(["220 mail.example", "SSH", "HTTP/x", "HTTP/1.1 2x", "\r\n<"])(
    "a start of %j is refused before the line ends",
    (text) => {
      expect(read(text)).toMatchObject(NO_HTTP);
    },
  );

  test.each([
    "A b", "A", ": b", "A : b", "A\t: b", " A: b", "A: b\r\n c", "A:\r\n\tc", "A(: b", "A\xe9: b", "A: \0", "A: \x7f", "A: \x1b",
    "A: b\nC: d", "A: b\rC: d", "Content-Length:", "Content-Length: +1", "Content-Length: -1", "Content-Length: 0x1",
    "Content-Length: 1.0", "Content-Length: 1e3", "Content-Length: 1\t", "Content-Length: 1 1", "Content-Length: 1, 1",
    "Content-Length: 1,2", "Content-Length: 1\r\nContent-Length: 1", "Content-Length: 1\r\nContent-Length: 2",
    "Content-Length: 99999999999999999999", "Content-Length: 1\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 1", "Transfer-Encoding: gzip\r\nContent-Length: 1",
  ])("a header like %j is refused", (line) => {
    expect(read(`${answer("X: y", line)}x`)).toMatchObject(NO_HTTP);
  }); // prettier-ignore

  test.each(["A:b", "A:", "A: \t b \t", "A: \xe9\xff", "A: a\tb", "!#$%&'*+-.^_`|~09azAZ: b", "Connection: a b;c\xff"])(
    "a header like %j is accepted",
    (line) => {
      expect(read(`${answer(line, "Content-Length: 1")}x`)).toMatchObject({ status: 200, outcome: "whole" });
    },
  );

  test("head, trailers and chunk lines have at most 16 KB each", () => {
    const ofSize = (size: number): string => {
      const rest = answer("Content-Length: 1", "X: ").length;
      return `${answer("Content-Length: 1", `X: ${"x".repeat(size - rest)}`)}x`;
    };
    expect(read(ofSize(16_384))).toMatchObject({ status: 200, outcome: "whole" });
    expect(read(ofSize(16_385))).toMatchObject({ status: 0, outcome: "too many headers" });
    expect(read(`HTTP/1.1 200 OK\r\nX: ${"x".repeat(20_000)}`)).toMatchObject({ outcome: "too many headers" });
    expect(read(`HTTP/1.1 200 ${"x".repeat(20_000)}`)).toMatchObject({ outcome: "too many headers" });
    expect(read("\r\n".repeat(10_000))).toMatchObject({ outcome: "too many headers" });
    expect(read(`${CHUNKED}0\r\n${"A: b\r\n".repeat(4000)}`)).toMatchObject({ outcome: "too many headers" });
    expect(read(`${CHUNKED}1;a=${"b".repeat(20_000)}`)).toMatchObject({ outcome: "too many headers" });
  });

  test("everything outside the body has at most 64 KiB", () => {
    const hint = "HTTP/1.1 102 Wait\r\n\r\n";
    const hints = Math.floor(65_000 / hint.length);
    expect(read(`${hint.repeat(hints)}${answer("Content-Length: 1")}x`)).toMatchObject({
      status: 200,
      outcome: "whole",
    });
    expect(read(hint.repeat(hints + 100))).toMatchObject({ status: 0, outcome: "too many headers" });
    const chunk = `1;a=${"b".repeat(1000)}\r\nx\r\n`;
    expect(read(`${CHUNKED}${chunk.repeat(64)}0\r\n\r\n`)).toMatchObject({ outcome: "whole" });
    expect(read(`${CHUNKED}${chunk.repeat(66)}`)).toMatchObject({ status: 200, outcome: "too many headers" });
  });

  test("the first retry-after counts", () => {
    const said = ["Retry-After:  120 ", "retry-after: 7", "Content-Length: 0"];
    expect(read(answer(...said)).retryAfter).toBe("120");
    expect(read(answer("Retry-Later: 1", "Content-Length: 0")).retryAfter).toBeNull();
  });
});

describe("a connection after a complete response", () => {
  const keptMs = (line: string, version = "1.1"): number =>
    read(`HTTP/${version} 200 OK\r\nContent-Length: 0\r\n${line}\r\n\r\n`).keptMs;

  test("the connection after a complete response is kept for four seconds by default, or the announced time less two seconds, at most a minute", () => {
    expect(keptMs("X: y")).toBe(4000);
    expect(keptMs("Keep-Alive: max=100")).toBe(4000);
    expect(keptMs("Keep-Alive: timeout=30, max=100")).toBe(28_000);
    expect(keptMs("Keep-Alive: timeout=3600")).toBe(60_000);
    expect(keptMs("Keep-Alive: timeout=2")).toBe(0);
    expect(keptMs("Keep-Alive: timeout=0")).toBe(0);
  });

  test("the connection after a complete response is not kept after connection: close", () => {
    for (const line of ["Connection: close", "connection: CLOSE", "Connection: x, Close", "Connection: close\r\nConnection: keep-alive"])
      expect([line, keptMs(line)]).toEqual([line, 0]);
  }); // prettier-ignore

  test("for HTTP/1.0 it is kept only if announced", () => {
    for (const version of ["0.9", "1.0", "2.0"]) {
      expect(keptMs("X: y", version)).toBe(0);
      expect(keptMs("Connection: Keep-Alive", version)).toBe(4000);
    }
  });

  test("the connection after a complete response is not kept if bytes follow the response", () => {
    for (const more of ["x", "\r\n", "\0", answer("Content-Length: 0")])
      for (const whole of [`${answer("Content-Length: 2")}ok`, `${CHUNKED}0\r\n\r\n`, "HTTP/1.1 204 No\r\n\r\n"])
        expect(readPieces([bytesOf(whole + more)])).toMatchObject({ outcome: "whole", keptMs: 0 });
  });

  test("the next response starts with clean state", () => {
    const reader = new ResponseReader();
    const bodies: string[] = [];
    const hearer = { onHead: () => {}, onBody: (bytes: Buffer) => bodies.push(bytes.toString("latin1")) };
    for (const [text, kept] of [
      [`${answer("Content-Length: 1", "Keep-Alive: timeout=9")}a`, 7000],
      [`${CHUNKED}1\r\nb\r\n0\r\n\r\n`, 4000],
      [`${answer("Content-Length: 1")}c`, 4000],
    ] as const) {
      reader.begin(hearer);
      expect(reader.read(bytesOf(text))).toBe("whole");
      expect(reader.keptMs).toBe(kept);
    }
    expect(bodies).toEqual(["a", "b", "c"]);
  });

  test("each head is parsed on its own, equal to the previous or not, however it is split", () => {
    const reader = new ResponseReader();
    const heads = [200, 200, 503, 200, 200].map((status, index) => ({
      text: `HTTP/1.1 ${status} X\r\nRetry-After: ${index === 4 ? 2 : 1}\r\nContent-Length: 1\r\n\r\n`,
      told: [status, index === 4 ? "2" : "1"],
    }));
    const memory = Buffer.alloc(54);
    for (const cut of [1, 40, 53])
      for (const { text, told } of heads) {
        const heard: unknown[] = [];
        reader.begin({ onHead: ({ status, retryAfter }) => heard.push(status, retryAfter), onBody: () => {} });
        // All responses use the same memory, as on a connection.
        memory.write(`${text}x`, "latin1");
        const progress = [memory.subarray(0, cut), memory.subarray(cut)].map((piece) => reader.read(piece));
        expect(progress).toEqual(["more", "whole"]);
        expect(heard).toEqual(told);
      }
  });
});

describe("compared with Node's parser", () => {
  let server: Server;
  let origin: string;
  let pieces: readonly Buffer[];

  beforeAll(async () => {
    server = createServer({ noDelay: true }, (socket) => {
      socket.on("error", () => {});
      const left = [...pieces];
      const writeNext = (): void => {
        const piece = left.shift();
        if (piece) socket.write(piece, () => setImmediate(writeNext));
        else socket.end();
      };
      socket.once("data", writeNext);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  /** Result of Node's parser, by undici. */
  async function readByOther(): Promise<{ status: number; body: string; isWhole: boolean }> {
    const client = new Client(origin, { maxHeaderSize: 16_384 });
    const heard = { status: 0, body: "" };
    const isWhole = await new Promise<boolean>((resolve) => {
      client.dispatch(
        { method: "POST", path: "/", body: "x" },
        {
          onRequestStart: () => {},
          onResponseStart: (_controller, status) => void (status >= 200 && (heard.status = status)),
          onResponseData: (_controller, bytes) => void (heard.body += bytes.toString("latin1")),
          onResponseEnd: () => resolve(true),
          onResponseError: () => resolve(false),
        },
      );
    });
    await client.destroy();
    return { ...heard, isWhole };
  }

  const token = fc.stringMatching(/^[\w!#$%&'*+.^`|~-]{1,8}$/);
  const value = fc.stringMatching(/^[\t\x20-\x7e\x80-\xff]{0,20}$/);
  const status = fc.constantFrom(
    "200 OK",
    "204 No",
    "304 Same",
    "404",
    "500 \xff\0",
    "999 Odd",
    "205 Reset",
    "302 Found",
  );
  const version = fc.constantFrom("1.1", "1.1", "1.1", "1.0", "2.0");
  const body = fc.string({ unit: "binary-ascii", maxLength: 60 });
  const hint = fc.constantFrom("", "", "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n", "\r\n");
  const header = fc.oneof(
    fc.tuple(token, value).map(([name, said]) => `${name}: ${said}`),
    fc.constantFrom("Connection: close", "Connection: keep-alive", "Keep-Alive: timeout=5", "Retry-After: 3", "A:"),
  ).filter((line) => !/^(content-length|transfer-encoding|upgrade|connection *:.*upgrade)/i.test(line)); // prettier-ignore
  const extension = fc.oneof(fc.constant(""), token.map((name) => `;${name}`), token.map((name) => `;${name}="\\"\t ;"`), token.map((name) => `;a=${name}`)); // prettier-ignore

  const framed = fc.oneof(
    body.map((text) => ({ line: `Content-Length: ${text.length}`, text })),
    body.map((text) => ({ line: "X-Until: the end", text })),
    fc.tuple(fc.array(fc.tuple(fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 20 }), extension), { maxLength: 4 }), extension, fc.array(header, { maxLength: 2 })).map(
      ([chunks, last, trailers]) => ({
        line: "Transfer-Encoding: chunked",
        text: [...chunks.map(([text, beside]) => `${text.length.toString(16)}${beside}\r\n${text}\r\n`), `0${last}\r\n`, ...trailers.map((line) => `${line}\r\n`), "\r\n"].join(""),
      }),
    ),
  ); // prettier-ignore

  const valid = fc
    .tuple(hint, version, status, fc.array(header, { maxLength: 4 }), framed, fc.array(header, { maxLength: 2 }))
    .map(([before, number, line, first, { line: framing, text }, second]) =>
      [`${before}HTTP/${number} ${line}`, ...first, framing, ...second, "", text].join("\r\n"),
    );

  /** Bytes typical of attacks on parsers, inserted or replaced anywhere. */
  const harm = fc.tuple(
    fc.nat(),
    fc.nat({ max: 3 }),
    fc.constantFrom(
      "\r", "\n", "\r\n", "\0", " ", "\t", ":", ",", ";", "0", "1", "a", "\xff", "\x7f", "\r\n\r\n", "\r\n ", "Content-Length: 3\r\n",
      "Content-Length: 3", "Transfer-Encoding: chunked\r\n", "chunked", "close", "HTTP/1.1 200 OK\r\n", "HTTP/1.0", "",
    ),
  ); // prettier-ignore
  const hostile = fc.tuple(valid, fc.array(harm, { minLength: 1, maxLength: 3 })).map(([text, harms]) => {
    let harmed = text;
    for (const [where, length, what] of harms) {
      const at = where % (harmed.length + 1);
      harmed = harmed.slice(0, at) + what + harmed.slice(at + length);
    }
    return harmed;
  });
  /** Accepted by Node's parser against the standard: a status line that ends with two CR, an empty encoding. */
  const isForgiven = (text: string): boolean => text.includes("\r\r") || /transfer-encoding:[ \t]*\r\n/i.test(text);
  /** Undici counts spaces after a length as digits; Node's own client does not. */
  const isMiscounted = (text: string): boolean => /content-length:[ \t]*\d+[ \t]+\r/i.test(text);
  const cuts = fc.array(fc.nat(), { maxLength: 4 });

  function cut(text: string, at: readonly number[]): Buffer[] {
    const bytes = bytesOf(text);
    const places = [...new Set(at.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b);
    return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length)).filter(({ length }) => length > 0); // prettier-ignore
  }

  /** Differences from Node's parser, or between chunked and whole input. */
  async function differences(text: string, at: readonly number[]): Promise<unknown[]> {
    pieces = cut(text, at);
    const theirs = await readByOther();
    const ours = readPieces(pieces);
    const whole = readPieces([bytesOf(text)]);
    const isSame = ours.status === theirs.status && ours.body === theirs.body && ours.outcome === "whole";
    return [
      // Only chunks before the end of a response can show surplus bytes.
      ...(isDeepStrictEqual({ ...whole, keptMs: 0 }, { ...ours, keptMs: 0 }) ? [] : [{ whole, ours }]),
      ...(theirs.isWhole && !isForgiven(text) && !isSame ? [{ theirs, ours }] : []),
      ...(theirs.status > 0 && ours.status > 0 && ours.status !== theirs.status ? [{ theirs, ours }] : []),
      ...(whole.keptMs > 0 && !theirs.isWhole && !isMiscounted(text) ? [{ theirs, kept: whole }] : []),
    ];
  }

  test("valid input is parsed the same, however it is split", async () => {
    await fc.assert(
      fc.asyncProperty(valid, cuts, async (text, at) => {
        expect(await differences(text, at)).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  test.each(["Transfer-Encoding:", "Transfer-Encoding:  ", "Transfer-Encoding:\r\nContent-Length: 5"])(
    "an empty transfer-encoding is refused, as by Node: %j",
    async (lines) => {
      const text = `HTTP/1.1 200 OK\r\n${lines}\r\n\r\nhello`;
      pieces = [bytesOf(text)];
      const byNode = new Promise((resolve, reject) => void get(origin, resolve).on("error", reject));
      await expect(byNode).rejects.toMatchObject({ code: "HPE_INVALID_TRANSFER_ENCODING" });
      expect(readPieces(pieces)).toMatchObject({ status: 0, outcome: "no HTTP" });
    },
  );

  test("spaces after a length are ignored, as by Node", async () => {
    const text = "HTTP/1.1 200 OK\r\nContent-Length: 5  \r\n\r\nhello";
    pieces = [bytesOf(text)];
    const byNode = await new Promise<IncomingMessage>((resolve, reject) => get(origin, resolve).on("error", reject));
    expect(Buffer.concat(await byNode.toArray()).toString()).toBe("hello");
    expect(readPieces(pieces)).toMatchObject({ body: "hello", outcome: "whole", keptMs: 4000 });
  });

  test("hostile input that Node accepts is parsed the same", async () => {
    await fc.assert(
      fc.asyncProperty(hostile, cuts, async (text, at) => {
        expect(await differences(text, at)).toEqual([]);
      }),
      { numRuns: 800 },
    );
  });

  test("a connection is kept only after the last byte", () => {
    const more = fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 5 });
    const keptBehind = (text: string): number => readPieces([bytesOf(text)]).keptMs;
    fc.assert(
      fc.property(valid, more, (text, rest) => {
        expect(keptBehind(text + rest)).toBe(0);
      }),
      { numRuns: repetitions(300, 1000) },
    );
  });
});
