import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { exchangeHttp, type HttpExchangeRequest, type HttpExchange } from "../../src/carriers/http-exchange.ts";
import { EgressRules } from "../../src/egress/addresses.ts";
import { createGuardedClient } from "../../src/egress/guarded-connect.ts";
import type { HttpClient, HttpSender } from "../../src/http-client/client.ts";
import { readResponseHead } from "../../src/http-client/response-head.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { openHttpClient } from "../support/http-client.ts";

const BODY = "hello";
const LIMIT_MS = 20_000;
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";

/** A scripted platform on real sockets. */
interface Platform {
  url: string;
  /** All received bytes of every connection. */
  heard: string;
  connections: number;
  sockets: Set<Socket>;
  /** Called whenever data arrives. */
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

describe("an HTTP exchange", () => {
  let platform: Platform;
  let egress: HttpClient;
  let clock: MovedClock;
  beforeEach(async () => {
    platform = await openPlatform();
    egress = openHttpClient();
    clock = new MovedClock();
  });
  afterEach(async () => {
    egress.destroy();
    await platform.close();
  });

  const ask = (changes: Partial<HttpExchangeRequest> = {}): Promise<HttpExchange> =>
    exchangeHttp(egress, clock, {
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

  test("a response is returned with any status", async () => {
    platform.answer = (socket) => socket.write("HTTP/1.1 503 No\r\nretry-after: 7\r\ncontent-length: 6\r\n\r\nnot no");
    expect(await ask()).toMatchObject({
      kind: "answered",
      status: 503,
      retryAfter: "7",
      text: "not no",
    });
    expect(platform.heard).toMatch(/^POST \/send\?a=1 HTTP\/1\.1\r\n/);
  });

  test("a redirect is a response and is not followed", async () => {
    platform.answer = (socket) =>
      socket.write("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n");
    expect(await ask()).toMatchObject({ kind: "answered", status: 302, text: "" });
    expect(platform.connections).toBe(1);
  });

  test("an interim response is skipped", async () => {
    platform.answer = (socket) => socket.write(`HTTP/1.1 103 Early\r\n\r\n${HEAD}content-length: 2\r\n\r\nok`);
    expect(await ask()).toMatchObject({ kind: "answered", status: 200, text: "ok" });
  });

  test("without a server the result is unreached", async () => {
    const port = await freePort();
    expect(await ask({ url: `http://127.0.0.1:${port}/` })).toMatchObject({
      kind: "unreached",
      reason: expect.stringContaining("ECONNREFUSED"),
    });
  });

  test("an invalid URL is unreached", async () => {
    expect(await ask({ url: "no address" })).toMatchObject({ kind: "unreached" });
  });

  test("a request that cannot be written is unreached", async () => {
    expect(await ask({ headers: { "x-name": "a\r\nb: c" } })).toEqual({
      kind: "unreached",
      reason: "The request could not be written as a request: invalid x-name header",
    });
    expect(platform.heard).toBe("");
  });

  test("a connection cut after the request is broken", async () => {
    platform.answer = (socket) => socket.destroy();
    expect(await ask()).toMatchObject({ kind: "broken", reason: expect.stringMatching(/./) });
  });

  test("a connection cut before the request was read completely is broken", async () => {
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

  test("a truncated response is broken", async () => {
    platform.answer = (socket) => {
      socket.write(`${HEAD}content-length: 100\r\n\r\nhalf`, () => socket.destroy());
    };
    expect(await ask()).toMatchObject({ kind: "broken" });
  });

  test("a response that is not HTTP is broken", async () => {
    platform.answer = (socket) => socket.write("what?\r\n\r\n");
    expect(await ask()).toEqual({ kind: "broken", reason: "The other side answered with what is no HTTP" });
  });

  test("a time-out is broken, and closes the connection", async () => {
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

  test("the time limit covers the whole response, in any number of chunks", async () => {
    platform.answer = (socket) => socket.write(`${HEAD}content-length: 100\r\n\r\n`);
    const asked = ask();
    await untilHeard();
    for (let second = 0; second < LIMIT_MS / 1000; second += 1) {
      for (const socket of platform.sockets) socket.write("x");
      clock.advance(1000);
    }
    expect(await asked).toMatchObject({ kind: "broken" });
  });

  test("an endless response is cut off", async () => {
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

  test("a request that timed out while waiting for a connection is unreached and never sent", async () => {
    let resolve = (_addresses: { address: string }[]): void => {};
    const waiting = createGuardedClient({
      rules: new EgressRules({ allow: [], loopback: true }),
      clock: systemClock,
      resolve: () => new Promise((found) => (resolve = found)),
    });
    const asked = exchangeHttp(waiting, clock, {
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

  test("a request that may no longer be sent when its connection opens is withdrawn", async () => {
    let maySend = true;
    let resolve = (_addresses: { address: string }[]): void => {};
    const waiting = createGuardedClient({
      rules: new EgressRules({ allow: [], loopback: true }),
      clock: systemClock,
      resolve: () => new Promise((found) => (resolve = found)),
    });
    const url = platform.url.replace("127.0.0.1", "platform.example");
    const asked = exchangeHttp(waiting, clock, { method: "POST", url, headers: {}, body: BODY, limitMs: LIMIT_MS, maySend: () => maySend }); // prettier-ignore
    maySend = false;
    resolve([{ address: "127.0.0.1" }]);
    await expect(asked).rejects.toThrow("withdrawn");
    await eventually(
      () => platform.sockets.size,
      (count) => count === 0,
    );
    expect([platform.connections, platform.heard]).toEqual([1, ""]);
    waiting.destroy();
  });

  test("a result is not changed by a later time-out", async () => {
    const head = readResponseHead("HTTP/1.1 200 OK\r\n\r\n");
    if (typeof head === "string") throw new Error(head);
    const at: HttpSender = {
      send(_target, _request, caller) {
        caller.onConnected({ abort: () => {} });
        caller.onHead(head);
        caller.onBody(Buffer.from("ok"));
        caller.onEnd();
        clock.advance(LIMIT_MS);
      },
    };
    const asked = { method: "POST", url: platform.url, headers: {}, body: BODY, limitMs: LIMIT_MS } as const;
    expect(await exchangeHttp(at, clock, asked)).toMatchObject({ kind: "answered", status: 200, text: "ok" });
  });

  test.each(["PUT", "PATCH", "POST"] as const)("a %s without a body sends content-length 0", async (method) => {
    const asked = ask({ method, body: null });
    await eventually(
      () => platform.heard,
      (heard) => heard.endsWith("\r\n\r\n"),
    );
    expect(platform.heard).toMatch(new RegExp(`^${method} .*\r\ncontent-length: 0\r\n`, "s"));
    for (const socket of platform.sockets) platform.answer(socket);
    expect(await asked).toMatchObject({ kind: "answered", text: "ok" });
  });

  test.each(["GET", "DELETE"] as const)("a %s sends no content-length", async (method) => {
    const asked = ask({ method, body: null });
    await eventually(
      () => platform.heard,
      (heard) => heard.endsWith("\r\n\r\n"),
    );
    expect(platform.heard).not.toContain("content-length");
    for (const socket of platform.sockets) platform.answer(socket);
    expect(await asked).toMatchObject({ kind: "answered", text: "ok" });
  });

  test("consecutive requests share one connection", async () => {
    for (let turn = 0; turn < 5; turn += 1) expect(await ask()).toMatchObject({ kind: "answered" });
    expect(platform.connections).toBe(1);
  });
});
