import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createSecureServer } from "node:tls";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EgressRules } from "../../src/egress/addresses.ts";
import { createGuardedClient } from "../../src/egress/guarded-connect.ts";
import type { HttpClient } from "../../src/http-client/client.ts";
import type { Resolve } from "../../src/egress/resolve.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { isShowable } from "../../src/lib/text.ts";
import type { WebhookRequest } from "../../src/model/callback.ts";
import { push, type DeliveryResult } from "../../src/webhooks/transport/transport.ts";
import { eventually } from "../support/eventually.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { SINK_CERTIFICATE, SINK_KEY } from "../support/sink-certificate.ts";

type Script = (socket: Socket) => void;

const head = (status: string, ...headers: string[]): string => [`HTTP/1.1 ${status}`, ...headers, "", ""].join("\r\n");

const answering =
  (status: string, body = "", ...headers: string[]): Script =>
  (socket) =>
    socket.write(head(status, `Content-Length: ${Buffer.byteLength(body)}`, ...headers) + body);

/** Writes the same again and again, as fast as it is taken, until the other side is gone. */
const pour = (socket: Socket, what: string | Buffer): void => {
  const more = (): void => {
    while (!socket.destroyed && socket.write(what));
  };
  socket.on("drain", more);
  more();
};

const SILENT = { kind: "failed", status: null, reason: "no answer within 15 s", timedOut: true, excerpt: "" } as const;

describe("a webhook request", () => {
  let server: Server;
  let base: string;
  let script: Script;
  let requests: string[];
  let sockets: Set<Socket>;
  let connections: number;
  let agent: HttpClient;
  let clock: MovedClock;

  const listen = async (listener: Server): Promise<number> => {
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    return (listener.address() as AddressInfo).port;
  };
  const guarded = (resolve?: Resolve, agentClock = systemClock): HttpClient =>
    createGuardedClient({
      rules: new EgressRules({ allow: [], loopback: true }),
      clock: agentClock,
      ...(resolve ? { resolve } : {}),
    });

  beforeEach(async () => {
    requests = [];
    sockets = new Set();
    connections = 0;
    clock = new MovedClock();
    script = answering("200 OK");
    agent = guarded();
    server = createServer((socket) => {
      connections += 1;
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
      socket.on("data", (data) => {
        requests.push(data.toString("utf8"));
        script(socket);
      });
    });
    base = `http://127.0.0.1:${await listen(server)}`;
  });
  afterEach(async () => {
    agent.destroy();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const post = (path = "/hook"): WebhookRequest => ({
    method: "POST",
    url: `${base}${path}`,
    headers: { "content-type": "application/json" },
    body: '{"status":"delivered"}',
  });
  const send = (request: WebhookRequest = post()): Promise<DeliveryResult> => push(agent, clock, request);
  const asked = (count: number): Promise<unknown> =>
    eventually(
      () => requests.length,
      (seen) => seen >= count,
    );
  const allGone = (): Promise<unknown> =>
    eventually(
      () => sockets.size,
      (count) => count === 0,
    );

  test("a POST is sent with its headers and body unchanged", async () => {
    const request = { ...post("/hook?a=1&b=%20"), headers: { "content-type": "application/json", "X-Id": "m:1" } };
    script = answering("200 OK", '{"ok":true}');
    expect(await send({ ...request, body: '{"text":"bücher 🌍"}' })).toEqual({
      kind: "delivered",
      status: 200,
      ms: 0,
      excerpt: '{"ok":true}',
    });
    expect(requests.map((request_) => request_.split("\r\n"))).toEqual([
      [
        "POST /hook?a=1&b=%20 HTTP/1.1",
        `host: ${new URL(base).host}`,
        "connection: keep-alive",
        "content-type: application/json",
        "X-Id: m:1",
        `content-length: ${Buffer.byteLength('{"text":"bücher 🌍"}')}`,
        "",
        '{"text":"bücher 🌍"}',
      ],
    ]);
  });

  test("a GET goes out with its query and no body", async () => {
    const result = await send({ method: "GET", url: `${base}/r?status=D&to=%2B1#x`, headers: { a: "b" }, body: null });
    expect(result.kind).toBe("delivered");
    expect(requests[0]?.split("\r\n")).toEqual([
      "GET /r?status=D&to=%2B1 HTTP/1.1",
      `host: ${new URL(base).host}`,
      "connection: keep-alive",
      "a: b",
      "",
      "",
    ]);
  });

  test.each(["200 OK", "201 Created", "202 Accepted", "204 No Content", "299 Fine"])(
    "%s is a success",
    async (status) => {
      script = (socket) => socket.write(head(status, ...(status.startsWith("204") ? [] : ["Content-Length: 0"])));
      expect(await send()).toMatchObject({ kind: "delivered", status: Number(status.slice(0, 3)) });
    },
  );

  test.each([
    "300 Many", "304 Same", "400 No", "401 No", "404 No", "410 Gone", "418 No", "429 Slowly", "500 Oops", "503 Busy",
  ])("%s is a failure that says what was answered", async (status) => {
    script = answering(status, "why");
    const code = Number(status.slice(0, 3));
    // Nothing may follow the head of a 304.
    if (code === 304) script = (socket) => socket.write(head(status));
    expect(await send()).toEqual({
      kind: "failed",
      status: code,
      reason: `answered ${code}`,
      timedOut: false,
      retryAfter: null,
      gone: code === 410,
      ms: 0,
      excerpt: code === 304 ? "" : "why",
    });
  }); // prettier-ignore

  test("a redirect is a failure and is not followed", async () => {
    let hits = 0;
    const target = createServer(() => (hits += 1));
    const targetPort = await listen(target);
    for (const status of [301, 302, 303, 307, 308]) {
      for (const to of [`http://127.0.0.1:${targetPort}/`, "/elsewhere", "http://169.254.169.254/latest/"]) {
        script = answering(`${status} Moved`, "", `Location: ${to}`);
        expect(await send()).toMatchObject({
          kind: "failed",
          status,
          reason: "redirects to another address, which is not followed",
        });
      }
    }
    expect(hits).toBe(0);
    expect(new Set(requests.map((request) => request.split("\r\n")[0]))).toEqual(new Set(["POST /hook HTTP/1.1"]));
    expect(requests.length).toBe(15);
    await new Promise((resolve) => target.close(resolve));
  });

  test("Retry-After is passed on up to its length limit", async () => {
    for (const [said, heard] of [
      ["120", "120"],
      ["Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:00 GMT"],
      ["9".repeat(65), null],
    ]) {
      script = answering("429 Slowly", "", `Retry-After: ${said}`);
      expect(await send()).toMatchObject({ status: 429, retryAfter: heard, gone: false });
    }
    script = answering("503 Busy", "", "Retry-After: 5", "Retry-After: 60");
    expect(await send()).toMatchObject({ status: 503, retryAfter: "5" });
  });

  test("connections are used again after ordinary answers of every kind", async () => {
    for (const status of ["200 OK", "500 Oops", "302 Moved", "410 Gone", "429 Slowly", "204 No Content"]) {
      script = status.startsWith("204") ? (socket) => socket.write(head(status)) : answering(status, "body");
      await send();
    }
    expect([requests.length, connections]).toEqual([6, 1]);
  });

  test("a hundred at once to one address have a connection each, and the next hundred use them again", async () => {
    const waiting: Socket[] = [];
    script = (socket) => waiting.push(socket);
    for (const round of [1, 2]) {
      const results = Promise.all(Array.from({ length: 100 }, () => send()));
      await asked(100 * round);
      for (const socket of waiting.splice(0)) socket.write(head("200 OK", "Content-Length: 0"));
      expect(new Set((await results).map(({ kind }) => kind))).toEqual(new Set(["delivered"]));
    }
    expect(connections).toBe(100);
  });

  test("endless 1xx responses end the attempt after 64 KiB", async () => {
    script = (socket) => pour(socket, head("103 Early Hints", "Link: </a>"));
    const reason = "answered with more headers than are read";
    expect(await send()).toMatchObject({ kind: "failed", status: null, timedOut: false, reason });
  });

  test.each([
    ["says nothing", () => {}, SILENT],
    ["stops in the middle of its head", (socket: Socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Ty"), SILENT],
    ["stops in the middle of its body", (socket: Socket) => socket.write(`${head("200 OK", "Content-Length: 9")}half`), { kind: "delivered", status: 200, excerpt: "half" }],
    ["fails and never ends its body", (socket: Socket) => socket.write(`${head("500 Oops", "Transfer-Encoding: chunked")}4\r\nhalf\r\n`), { kind: "failed", status: 500, excerpt: "half" }],
  ] satisfies [string, Script, Partial<DeliveryResult>][])("an endpoint that %s is left after fifteen seconds, and its status counts", async (_what, act, expected) => {
    script = act;
    let result: DeliveryResult | null = null;
    const sending = send().then((ended) => (result = ended));
    await asked(1);
    const [connection] = sockets;
    clock.advance(14_999);
    // Whatever is on its way has arrived by the time of another answer.
    script = answering("200 OK");
    await push(agent, systemClock, post("/other"));
    expect(result).toBeNull();
    clock.advance(1);
    const ended = await sending;
    expect(ended.ms).toBe(15_000);
    expect(ended).toMatchObject(expected);
    await eventually(
      () => connection?.destroyed,
      (isGone) => isGone === true,
    );
  }); // prettier-ignore

  test("a body that arrives byte by byte does not change the result, and the attempt ends at its time-out", async () => {
    script = (socket) => {
      socket.write(head("200 OK", "Transfer-Encoding: chunked"));
      const drip = (): void => {
        if (socket.destroyed) return;
        socket.write("1\r\nx\r\n");
        setImmediate(drip);
      };
      drip();
    };
    const sending = send();
    await asked(1);
    await eventually(
      () => [...sockets].map(({ bytesWritten }) => bytesWritten),
      ([written = 0]) => written > 600,
    );
    clock.advance(15_000);
    const result = await sending;
    expect(result).toMatchObject({ kind: "delivered", status: 200 });
    expect(result.excerpt).toMatch(/^x+$/);
    await allGone();
  });

  test.each([
    ["with its length said", head("200 OK", `Content-Length: ${2 ** 40}`)],
    ["in chunks", `${head("200 OK", "Transfer-Encoding: chunked")}40000000\r\n`],
    ["until the connection ends", head("200 OK", "Connection: close")],
    ["of a failure", head("500 Oops", `Content-Length: ${2 ** 40}`)],
  ])("a body without end is read to twenty kilobytes and kept to four: %s", async (_what, beginning) => {
    let taken = 0;
    script = (socket) => {
      socket.on("close", () => (taken = socket.bytesWritten));
      socket.write(beginning);
      pour(socket, "z".repeat(65_536));
    };
    const result = await send();
    expect(result).toMatchObject({ status: beginning.includes(" 500 ") ? 500 : 200, ms: 0 });
    expect(result.excerpt).toBe("z".repeat(4096));
    await allGone();
    // Bytes in the socket buffers count as written too, though they were never read.
    expect(taken).toBeLessThan(32 * 1024 * 1024);
  });

  test.each([20_479, 20_480, 20_481, 30_000])(
    "a whole body of %i bytes that comes with its head is no trouble",
    async (size) => {
      for (const connection of ["keep-alive", "close"]) {
        script = answering("200 OK", "y".repeat(size), `Connection: ${connection}`);
        expect(await send()).toMatchObject({ kind: "delivered", excerpt: "y".repeat(4096) });
      }
      script = answering("200 OK");
      expect(await send()).toMatchObject({ kind: "delivered", excerpt: "" });
    },
  );

  test("the stored excerpt of any body is valid text of at most 4 KB", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 6000, size: "max" }), async (bytes) => {
        script = (socket) => {
          socket.cork();
          socket.write(head("200 OK", `Content-Length: ${bytes.length}`));
          socket.write(bytes);
          socket.uncork();
        };
        const { excerpt } = await send();
        expect(isShowable(excerpt)).toBe(true);
        expect(Buffer.byteLength(excerpt)).toBeLessThanOrEqual(4096);
      }),
      { numRuns: 50, examples: [[new Uint8Array(5000).fill(0xff)], [new Uint8Array(5000)], [new Uint8Array(Buffer.from("a🌍".repeat(900)))]] },
    );
  }); // prettier-ignore

  test.each([
    ["a reset", (socket: Socket) => socket.resetAndDestroy(), "broke the connection off before it answered"],
    ["an end", (socket: Socket) => socket.end(), "broke the connection off before it answered"],
    ["half a head and an end", (socket: Socket) => socket.end("HTTP/1.1 200 OK\r\nConte"), "broke the connection off before it answered"],
    ["a switch of protocols", (socket: Socket) => socket.write(head("101 Switching", "Upgrade: x", "Connection: upgrade")), "broke the connection off before it answered"],
    ["garbage", (socket: Socket) => socket.write("\0\x01\x02\xff HTTP SSH-2.0\r\n\r\n"), "answered with what is no HTTP"],
    ["another protocol's greeting", (socket: Socket) => socket.write("220 mail.example ESMTP\r\n"), "answered with what is no HTTP"],
    ["huge headers", (socket: Socket) => socket.write(head("200 OK", `X: ${"x".repeat(20_000)}`)), "answered with more headers than are read"],
    ["headers without end", (socket: Socket) => { socket.write("HTTP/1.1 200 OK\r\n"); pour(socket, `X: ${"x".repeat(500)}\r\n`); }, "answered with more headers than are read"],
  ] satisfies [string, Script, string][])("%s is a failure without a status, and the connection is gone", async (_what, act, reason) => {
    script = act;
    expect(await send()).toEqual({
      kind: "failed",
      status: null,
      reason,
      timedOut: false,
      retryAfter: null,
      gone: false,
      ms: 0,
      excerpt: "",
    });
    await allGone();
    script = answering("200 OK");
    expect((await send()).kind).toBe("delivered");
  }); // prettier-ignore

  test.each([
    ["an end", (socket: Socket) => socket.end(`${head("200 OK", "Content-Length: 100")}half`)],
    ["a broken chunk", (socket: Socket) => socket.write(`${head("200 OK", "Transfer-Encoding: chunked")}4\r\nhalf\r\nnonsense`)],
  ] satisfies [string, Script][])("half an answer counts by its status: %s", async (_what, act) => {
    script = act;
    expect(await send()).toMatchObject({ kind: "delivered", status: 200, excerpt: "half" });
    await allGone();
  }); // prettier-ignore

  test("an untrusted certificate is a failure, and no request is sent", async () => {
    let seen = 0;
    const secure = createSecureServer({ key: SINK_KEY, cert: SINK_CERTIFICATE }, (socket) => {
      socket.on("error", () => {}).on("data", () => (seen += 1));
    });
    const port = await listen(secure);
    expect(await send({ ...post(), url: `https://127.0.0.1:${port}/hook` })).toMatchObject({
      status: null,
      reason: "has a certificate that is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)",
      timedOut: false,
    });
    expect(seen).toBe(0);
    await new Promise((resolve) => secure.close(resolve));
  });

  test("an endpoint that speaks no TLS is a failure", async () => {
    script = (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
    const result = await send({ ...post(), url: post().url.replace("http:", "https:") });
    expect(result).toMatchObject({ status: null, reason: expect.stringMatching(/^agreed on no way to encrypt/) });
  });

  test("a refused connection is a failure", async () => {
    const nobody = createServer();
    const port = await listen(nobody);
    await new Promise((resolve) => nobody.close(resolve));
    expect(await send({ ...post(), url: `http://127.0.0.1:${port}/` })).toMatchObject({
      status: null,
      reason: "took no connection (ECONNREFUSED)",
      timedOut: false,
    });
  });

  test("an endpoint that takes the connection and never agrees on encryption is given five seconds", async () => {
    const connecting = new MovedClock();
    const patient = guarded(undefined, connecting);
    script = () => {};
    const sending = push(patient, clock, { ...post(), url: post().url.replace("http:", "https:") });
    await asked(1);
    connecting.advance(5000);
    expect(await sending).toMatchObject({
      status: null,
      reason: "127.0.0.1 took no connection within 5000 ms",
      timedOut: true,
    });
    patient.destroy();
  });

  test("a forbidden address is a failure without a connection", async () => {
    const strict = createGuardedClient({ rules: new EgressRules({ allow: [], loopback: false }), clock });
    expect(await push(strict, clock, post())).toMatchObject({
      status: null,
      reason: "127.0.0.1 leads to no address that outgoing requests may go to; HELIOGRAPH_EGRESS_ALLOW opens networks",
    });
    expect(connections).toBe(0);
    strict.destroy();
  });

  test("an unknown host name is reported as such", async () => {
    const lost = guarded(() => Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" })));
    expect(await push(lost, clock, { ...post(), url: "http://nowhere.example/" })).toMatchObject({
      reason: "the name was not found (ENOTFOUND)",
    });
    lost.destroy();
  });

  test("a request that times out while waiting for a connection is never sent", async () => {
    let giveAddress: (answer: { address: string }[]) => void = () => {};
    const slow = guarded(() => new Promise((resolve) => (giveAddress = resolve)), new MovedClock());
    const sending = push(slow, clock, { ...post(), url: post().url.replace("127.0.0.1", "slow.example") });
    clock.advance(15_000);
    expect(await sending).toMatchObject({ status: null, reason: "took no connection within 15 s", timedOut: true });
    giveAddress([{ address: "127.0.0.1" }]);
    await eventually(
      () => connections,
      (count) => count === 1,
    );
    await allGone();
    expect(requests).toEqual([]);
    slow.destroy();
  });

  test.each([
    ["no address", { url: "nonsense" }, "is no address of the web"],
    ["no header", { headers: { "a\r\nb": "c" } }, "could not be written as a request: invalid header key"],
    ["no value of a header", { headers: { "x-a": "b\r\nx-c: d" } }, "could not be written as a request: invalid x-a header"],
    ["a length of its own", { headers: { "content-length": "3" } }, "could not be written as a request:"],
    ["another protocol", { url: "ftp://127.0.0.1/a" }, "could not be written as a request:"],
  ] satisfies [string, Partial<WebhookRequest>, string][])("what cannot be written is a failure and not an exception: %s", async (_what, changes, reason) => {
    const result = await send({ ...post(), ...changes });
    expect(result).toMatchObject({ kind: "failed", status: null, reason: expect.stringContaining(reason) });
    expect(requests).toEqual([]);
  }); // prettier-ignore

  test("closing the client fails the requests in flight with a reason", async () => {
    script = () => {};
    const sending = send();
    await asked(1);
    agent.destroy();
    expect(await sending).toMatchObject({ status: null, reason: "was called off, because this server stops" });
    expect(await send()).toMatchObject({ status: null, reason: "was called off, because this server stops" });
  });

  test("a client that throws is a failure", async () => {
    const throwing = {
      send: () => {
        throw new Error("no way out");
      },
    };
    expect(await push(throwing, clock, post())).toMatchObject({ kind: "failed", reason: "no way out" });
  });
});
