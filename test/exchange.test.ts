import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { exchange, type Asked, type Exchange } from "../src/carriers/exchange.ts";
import { EgressRules } from "../src/egress/addresses.ts";
import { HttpClient, type WayOut } from "../src/egress/http-client.ts";
import { readResponseHead } from "../src/egress/response-head.ts";
import { systemClock } from "../src/lib/clock.ts";
import { eventually } from "./support/eventually.ts";
import { freePort } from "./support/free-port.ts";
import { MovedClock } from "./support/moved-clock.ts";
import { openWayOut } from "./support/way-out.ts";

const BODY = "hello";
const LIMIT_MS = 20_000;
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";

/** A platform that reads octets and answers with whatever the test says, on real sockets. */
interface Platform {
  url: string;
  /** All that came, of every connection. */
  heard: string;
  connections: number;
  sockets: Set<Socket>;
  /** Told whenever something has come. */
  answer: (socket: Socket) => void;
  close(): Promise<void>;
}

async function openPlatform(): Promise<Platform> {
  const server: Server = createServer((socket) => {
    platform.sockets.add(socket);
    platform.connections += 1;
    let heard = "";
    socket.on("error", () => {});
    socket.on("close", () => platform.sockets.delete(socket));
    socket.on("data", (chunk) => {
      heard += chunk.toString("utf8");
      platform.heard += chunk.toString("utf8");
      if (!heard.endsWith(BODY)) return;
      heard = "";
      platform.answer(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const platform: Platform = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/send?a=1`,
    heard: "",
    connections: 0,
    sockets: new Set(),
    answer: (socket) => socket.write(`${HEAD}content-length: 2\r\n\r\nok`),
    close: () =>
      new Promise((resolve) => {
        for (const socket of platform.sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
  return platform;
}

describe("one exchange with a platform", () => {
  let platform: Platform;
  let wayOut: HttpClient;
  let clock: MovedClock;
  beforeEach(async () => {
    platform = await openPlatform();
    wayOut = openWayOut();
    clock = new MovedClock();
  });
  afterEach(async () => {
    wayOut.destroy();
    await platform.close();
  });

  const ask = (changes: Partial<Asked> = {}): Promise<Exchange> =>
    exchange(wayOut, clock, {
      method: "POST",
      url: platform.url,
      headers: {},
      body: BODY,
      limitMs: LIMIT_MS,
      ...changes,
    });
  const untilHeard = (): Promise<string> =>
    eventually(
      () => platform.heard,
      (heard) => heard.endsWith(BODY),
    );

  test("an answer is told as it came, whatever its status", async () => {
    platform.answer = (socket) => socket.write("HTTP/1.1 503 No\r\nretry-after: 7\r\ncontent-length: 6\r\n\r\nnot no");
    expect(await ask()).toMatchObject({
      kind: "answered",
      status: 503,
      retryAfter: "7",
      text: "not no",
    });
    expect(platform.heard).toMatch(/^POST \/send\?a=1 HTTP\/1\.1\r\n/);
  });

  test("a redirect is an answer and not followed", async () => {
    platform.answer = (socket) =>
      socket.write("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n");
    expect(await ask()).toMatchObject({ kind: "answered", status: 302, text: "" });
    expect(platform.connections).toBe(1);
  });

  test("what the platform says beforehand is not its answer", async () => {
    platform.answer = (socket) => socket.write(`HTTP/1.1 103 Early\r\n\r\n${HEAD}content-length: 2\r\n\r\nok`);
    expect(await ask()).toMatchObject({ kind: "answered", status: 200, text: "ok" });
  });

  test("where nobody listens nothing is sent: unreached", async () => {
    const port = await freePort();
    expect(await ask({ url: `http://127.0.0.1:${port}/` })).toMatchObject({
      kind: "unreached",
      reason: expect.stringContaining("ECONNREFUSED"),
    });
  });

  test("an address that is none is unreached", async () => {
    expect(await ask({ url: "no address" })).toMatchObject({ kind: "unreached" });
  });

  test("a request that cannot be written is unreached, and the platform hears nothing of it", async () => {
    expect(await ask({ headers: { "x-name": "a\r\nb: c" } })).toEqual({
      kind: "unreached",
      reason: "The request could not be written as a request: invalid x-name header",
    });
    expect(platform.heard).toBe("");
  });

  test("a line that is cut after the request is broken: nobody knows what has happened there", async () => {
    platform.answer = (socket) => socket.destroy();
    expect(await ask()).toMatchObject({ kind: "broken", reason: expect.stringMatching(/./) });
  });

  test("a line that is cut before all of the request was read is broken as well", async () => {
    const before = new Promise<void>((resolve) => {
      const look = (): void => {
        const [socket] = platform.sockets;
        if (!socket) return void setImmediate(look);
        socket.once("data", () => {
          socket.destroy();
          resolve();
        });
      };
      look();
    });
    expect(await ask({ body: "x".repeat(1_000_000) })).toMatchObject({ kind: "broken" });
    await before;
  });

  test("an answer that is cut in the middle is broken", async () => {
    platform.answer = (socket) => {
      socket.write(`${HEAD}content-length: 100\r\n\r\nhalf`, () => socket.destroy());
    };
    expect(await ask()).toMatchObject({ kind: "broken" });
  });

  test("an answer that is no HTTP is broken", async () => {
    platform.answer = (socket) => socket.write("what?\r\n\r\n");
    expect(await ask()).toEqual({ kind: "broken", reason: "The other side answered with what is no HTTP" });
  });

  test("silence is broken when the time is over, and the line is hung up", async () => {
    platform.answer = () => {};
    const asked = ask();
    await untilHeard();
    clock.advance(LIMIT_MS);
    expect(await asked).toEqual({ kind: "broken", reason: "There was no answer within 20 s" });
    await eventually(
      () => platform.sockets.size,
      (count) => count === 0,
    );
  });

  test("the time counts for the whole answer, however many pieces it comes in", async () => {
    platform.answer = (socket) => socket.write(`${HEAD}content-length: 100\r\n\r\n`);
    const asked = ask();
    await untilHeard();
    for (let second = 0; second < LIMIT_MS / 1000; second += 1) {
      for (const socket of platform.sockets) socket.write("x");
      clock.advance(1000);
    }
    expect(await asked).toMatchObject({ kind: "broken" });
  });

  test("an answer without an end is given up", async () => {
    const pour = (socket: Socket): void => {
      if (!socket.destroyed) socket.write("x".repeat(100_000), () => pour(socket));
    };
    platform.answer = (socket) => {
      socket.write(`${HEAD}\r\n`);
      pour(socket);
    };
    expect(await ask()).toEqual({ kind: "broken", reason: "The answer has no end" });
    await eventually(
      () => platform.sockets.size,
      (count) => count === 0,
    );
  });

  test("what waited for a connection until its time was over is unreached, and is never sent later", async () => {
    let resolve = (_addresses: { address: string }[]): void => {};
    const waiting = new HttpClient({
      rules: new EgressRules({ allow: [], loopback: true }),
      clock: systemClock,
      resolve: () => new Promise((found) => (resolve = found)),
    });
    const asked = exchange(waiting, clock, {
      method: "POST",
      url: platform.url.replace("127.0.0.1", "platform.example"),
      headers: {},
      body: BODY,
      limitMs: 1000,
    });
    clock.advance(1000);
    expect(await asked).toEqual({ kind: "unreached", reason: "There was no answer within 1 s" });
    resolve([{ address: "127.0.0.1" }]);
    await eventually(
      () => platform.connections,
      (count) => count === 1,
    );
    await eventually(
      () => platform.sockets.size,
      (count) => count === 0,
    );
    expect(platform.heard).toBe("");
    waiting.destroy();
  });

  test("an answer that was told is not taken back when its time is over a moment later", async () => {
    const head = readResponseHead("HTTP/1.1 200 OK\r\n\r\n");
    if (typeof head === "string") throw new Error(head);
    const at: WayOut = {
      send(_target, _request, caller) {
        caller.onConnected({ hangUp: () => {} });
        caller.onHead(head);
        caller.onBody(Buffer.from("ok"));
        caller.onEnd();
        clock.advance(LIMIT_MS);
      },
    };
    const asked = { method: "POST", url: platform.url, headers: {}, body: BODY, limitMs: LIMIT_MS } as const;
    expect(await exchange(at, clock, asked)).toMatchObject({ kind: "answered", status: 200, text: "ok" });
  });

  test.each(["PUT", "PATCH", "POST"] as const)("a %s without a body says so", async (method) => {
    const asked = ask({ method, body: null });
    await eventually(
      () => platform.heard,
      (heard) => heard.endsWith("\r\n\r\n"),
    );
    expect(platform.heard).toMatch(new RegExp(`^${method} .*\r\ncontent-length: 0\r\n`, "s"));
    for (const socket of platform.sockets) platform.answer(socket);
    expect(await asked).toMatchObject({ kind: "answered", text: "ok" });
  });

  test.each(["GET", "DELETE"] as const)("a %s says nothing of a body", async (method) => {
    const asked = ask({ method, body: null });
    await eventually(
      () => platform.heard,
      (heard) => heard.endsWith("\r\n\r\n"),
    );
    expect(platform.heard).not.toContain("content-length");
    for (const socket of platform.sockets) platform.answer(socket);
    expect(await asked).toMatchObject({ kind: "answered", text: "ok" });
  });

  test("requests one after the other go over one connection", async () => {
    for (let turn = 0; turn < 5; turn += 1) expect(await ask()).toMatchObject({ kind: "answered" });
    expect(platform.connections).toBe(1);
  });
});
