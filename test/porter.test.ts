import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import { connect, createServer as createNetServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, test, vi } from "vitest";
import { putPorterBefore } from "../src/http/porter/porter.ts";
import { RelayedSocket } from "../src/http/porter/relayed-socket.ts";
import { AHEAD_MAX, WRITE, type Word } from "../src/http/porter/words.ts";
import { eventually } from "./support/eventually.ts";
import { openHouse } from "./support/house.ts";

const MIB = 1_048_576;
const GET = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
const LAST = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

let server: Server | null = null;
const onBroken = vi.fn<(error: Error) => void>();
afterEach(async () => {
  onBroken.mockClear();
  if (!server?.listening) return;
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
});

async function listen(handler: Handler, options: ServerOptions = {}): Promise<number> {
  server = start(
    0,
    createServer(options, (request, response) => void handler(request, response)),
  );
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const start = (port: number, to = createServer()): Server =>
  putPorterBefore(to, onBroken).listen({ host: "127.0.0.1", port });

async function open(port: number): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true, allowHalfOpen: true });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** All that comes until the other side ends. */
async function hear(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  socket.on("data", (piece: Buffer) => pieces.push(piece)).resume();
  await new Promise((resolve) => socket.once("end", resolve).once("close", resolve));
  socket.destroy();
  return Buffer.concat(pieces);
}

const bodyIn = (heard: Buffer): Buffer => heard.subarray(heard.indexOf("\r\n\r\n") + 4);
const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

describe("a connection that the porter holds", () => {
  test("says where its client is", async () => {
    const port = await listen(({ socket }, response) => response.end(socket.remoteAddress));
    const socket = await open(port);
    socket.write(LAST);
    expect(String(bodyIn(await hear(socket)))).toBe("127.0.0.1");
  });

  test("carries every byte as it is: Latin-1 in heads, UTF-8 in texts, noise in between", async () => {
    const noise = randomBytes(3 * MIB);
    const port = await listen((_request, response) => {
      response.setHeader("x-latin", "caf\u00e9");
      response.write(noise);
      response.write("Gr\u00fc\u00dfe \u20ac \ud83d\ude00");
      response.end("\u00e9", "latin1");
    });
    const socket = await open(port);
    socket.write("GET / HTTP/1.0\r\n\r\n");
    const heard = await hear(socket);
    expect(heard.includes(Buffer.from("x-latin: caf\u00e9\r\n", "latin1"))).toBe(true);
    const whole = [noise, Buffer.from("Gr\u00fc\u00dfe \u20ac \ud83d\ude00"), Buffer.of(0xe9)];
    expect(digest(bodyIn(heard))).toBe(digest(Buffer.concat(whole)));
  });

  test("says a text as text, and everything else as bytes that share their memory with nothing", () => {
    const said: Word[] = [];
    const socket = new RelayedSocket(7, "", (word, id, more = "") => said.push(word, id, more));
    socket.write("\u00e9");
    socket.write("\u00e9", "latin1");
    socket.write(Buffer.from("pooled"));
    expect(said.slice(0, 3)).toEqual([WRITE, 7, "\u00e9"]);
    const bytes = [said[5], said[8]] as Uint8Array[];
    expect(bytes.map((piece) => [String(Buffer.from(piece)), piece.buffer.byteLength])).toEqual([
      [String(Buffer.of(0xe9)), 1],
      ["pooled", 6],
    ]);
  });

  test("is told everything in its order, whatever of it has to wait", async () => {
    const said: Word[] = [];
    const socket = new RelayedSocket(7, "", (word, _id, more = "") => {
      if (word === WRITE) said.push(typeof more === "string" ? more : String(Buffer.from(more as Uint8Array)));
    });
    const drained = once(socket, "drain");
    const large = "l".repeat(AHEAD_MAX - 1);
    expect(socket.write("a")).toBe(true);
    expect(socket.write(large)).toBe(false);
    expect([socket.write("b"), socket.write("c", "utf8")]).toEqual([false, false]);
    expect(said).toEqual(["a", large]);
    socket.taken(1 + large.length);
    await drained;
    expect(said.join("")).toBe(`a${large}bc`);
    socket.cork();
    socket.write("d");
    expect(said.join("")).toBe(`a${large}bc`);
    socket.uncork();
    socket.write("e");
    expect(said.join("")).toBe(`a${large}bcde`);
    socket.end();
    const failed = once(socket, "error");
    expect(socket.write("f")).toBe(false);
    expect(await failed).toEqual([expect.objectContaining({ code: "ERR_STREAM_WRITE_AFTER_END" })]);
    expect(said.join("")).toBe(`a${large}bcde`);
  });

  test("gives each of many clients its own, however they speak at once", async () => {
    const port = await listen((request, response) => {
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => response.end(Buffer.concat(pieces)));
    });
    const talk = async (): Promise<boolean> => {
      const body = randomBytes(200_000);
      const socket = await open(port);
      const heard = hear(socket);
      socket.write(`POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`);
      for (let at = 0; at < body.length; at += 7000) {
        socket.write(body.subarray(at, at + 7000));
        await sleep(0);
      }
      return bodyIn(await heard).equals(body);
    };
    expect(new Set(await Promise.all(Array.from({ length: 100 }, talk)))).toEqual(new Set([true]));
  });

  test("is written no more than its client takes, and then all of it", async () => {
    const piece = randomBytes(MIB / 4);
    let written = 0;
    const port = await listen((_request, response) => {
      const goOn = (): void => {
        while (written < 64 * MIB) {
          written += piece.length;
          if (!response.write(piece)) return void response.once("drain", goOn);
        }
        response.end();
      };
      goOn();
    });
    const socket = await open(port);
    socket.write("GET / HTTP/1.0\r\n\r\n");
    socket.pause();
    const before = await untilStill(() => written);
    expect(before).toBeLessThan(32 * MIB);
    const heard = bodyIn(await hear(socket));
    expect(heard.length).toBe(64 * MIB);
    expect(heard.subarray(-piece.length).equals(piece)).toBe(true);
  });

  test("is read no further than its request is, and then all of it", async () => {
    const body = randomBytes(64 * MIB);
    const { promise: mayRead, resolve: read } = Promise.withResolvers<void>();
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<IncomingMessage>();
    const port = await listen(async (request, response) => {
      onAsked(request);
      await mayRead;
      const hash = createHash("sha256");
      for await (const piece of request) hash.update(piece as Buffer);
      response.end(hash.digest("hex"));
    });
    const socket = await open(port);
    const heard = hear(socket);
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`);
    socket.write(body);
    const request = await asked;
    const over = await untilStill(() => request.readableLength + request.socket.readableLength);
    expect(over).toBeGreaterThan(0);
    expect(over).toBeLessThan(MIB / 2);
    read();
    expect(String(bodyIn(await heard))).toBe(digest(body));
  });

  test.each(["destroy", "resetAndDestroy"] as const)(
    "tells its request when its client leaves by %s",
    async (leave) => {
      const { promise: left, resolve } = Promise.withResolvers<boolean>();
      const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
      const port = await listen((request, response) => {
        onAsked();
        response.on("close", () => resolve(request.destroyed && !response.writableEnded));
      });
      const socket = await open(port);
      socket.write(GET);
      await asked;
      socket[leave]();
      expect(await left).toBe(true);
    },
  );

  test("ends when the server cuts it, in the middle of an answer", async () => {
    const port = await listen((request, response) => {
      response.write("half", () => request.socket.destroy());
    });
    const socket = await open(port);
    socket.write(GET);
    const heard = await hear(socket);
    expect([heard.includes("half"), heard.includes("0\r\n\r\n")]).toEqual([true, false]);
  });

  test("is let go when its client asks nothing more for too long", async () => {
    const port = await listen((_request, response) => response.end("once"), {
      keepAliveTimeout: 50,
      keepAliveTimeoutBuffer: 0,
    });
    const socket = await open(port);
    socket.write(GET);
    expect(String(await hear(socket))).toContain("once");
  });

  test("is refused with a 408 when its client never says what it wants", async () => {
    const limits = { headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 20 };
    const port = await listen(() => {}, limits);
    const socket = await open(port);
    socket.write("GET / HTTP/1.1\r\n");
    expect(String(await hear(socket))).toMatch(/^HTTP\/1\.1 408 /);
  });
});

/** A figure once it has not changed for a while. */
async function untilStill(look: () => number): Promise<number> {
  let last = look();
  for (let same = 0; same < 10; same += 1) {
    await sleep(30);
    if (look() !== last) same = 0;
    last = look();
  }
  return last;
}

/** Speaks on many lines from a thread that goes on while the test's own stands still; counts the megabytes that have left it. */
const FLOOD = `
  const { connect } = require("node:net");
  const { workerData: { port, lines, sent }, parentPort } = require("node:worker_threads");
  let answered = 0;
  for (let line = 0; line < lines; line += 1) {
    const socket = connect({ host: "127.0.0.1", port });
    socket.write("POST / HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\ncontent-length: 33554432\\r\\n\\r\\n");
    for (let at = 0; at < 32; at += 1) socket.write(Buffer.alloc(1048576), () => Atomics.add(sent, 0, 1));
    socket.resume().on("end", () => (answered += 1) === lines && parentPort.postMessage("answered"));
  }
`;

describe("an event loop that has more to do than it can", () => {
  test("is not told more than it has worked through, but for a little of each", { timeout: 30_000 }, async () => {
    const lines = 8;
    let read = 0;
    const port = await listen((request, response) => {
      request.on("data", (piece: Buffer) => (read += piece.length)).on("end", () => response.end());
    });
    const sent = new Int32Array(new SharedArrayBuffer(4));
    const flood = new Worker(FLOOD, { eval: true, workerData: { port, lines, sent } });
    await eventually(() => read, (bytes) => bytes > 0); // prettier-ignore
    // Standing still: nothing of what comes is worked through. Some of what leaves the clients is in the kernel.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
    expect(Atomics.load(sent, 0) - read / MIB).toBeLessThan(16 * lines);
    await once(flood, "message");
    expect(read).toBe(32 * lines * MIB);
    await flood.terminate();
  });
});

describe("bytes that are not read", () => {
  test("keep nothing of what other clients have said in the same turn", () => {
    const socket = new RelayedSocket(1, "", () => {});
    const turn = Buffer.alloc(60_000);
    socket.pause();
    for (let at = 0; at < 100; at += 1) socket.came(turn.subarray(at, at + 1));
    const kept = socket.read() as Buffer;
    expect([kept.length, kept.buffer === turn.buffer]).toEqual([100, false]);
    socket.came(turn.subarray(0, 1));
    expect((socket.read() as Buffer).buffer === turn.buffer).toBe(false);
  });
});

describe("a porter", () => {
  test("that finds its port taken says so as Node does, and goes", async () => {
    const other = createNetServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const began = once(process, "worker") as Promise<[Worker]>;
    server = start(port);
    const [error] = (await once(server, "error")) as [Error];
    expect(error).toMatchObject({ code: "EADDRINUSE", port, address: "127.0.0.1" });
    expect(error.message).toContain("EADDRINUSE");
    const [worker] = await began;
    await eventually(() => worker.threadId, (id) => id === -1); // prettier-ignore
    expect(server.listening).toBe(false);
    expect(onBroken).not.toHaveBeenCalled();
    other.close();
  });

  test("that cannot even begin says so", async () => {
    server = start(99_999);
    const [error] = (await once(server, "error")) as [Error];
    expect(error.message).toContain("99999");
    expect(onBroken).not.toHaveBeenCalled();
  });

  test("that ends by itself is missed", async () => {
    const began = once(process, "worker") as Promise<[Worker]>;
    await listen((_request, response) => response.end());
    const [worker] = await began;
    expect(onBroken).not.toHaveBeenCalled();
    await worker.terminate();
    expect(onBroken.mock.calls).toEqual([[expect.objectContaining({ message: expect.stringContaining("thread") })]]);
    server = null;
  });

  test("that is asked to close lets nobody in, and waits for the answers under way", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const port = await listen(async (_request, response) => {
      onAsked();
      await promise;
      response.end("at last");
    });
    const socket = await open(port);
    const heard = hear(socket);
    socket.write(LAST);
    await asked;
    const onClosed = vi.fn<() => void>();
    if (!server) throw new Error("nobody listens");
    server.close(onClosed);
    const refused = await eventually(
      () => open(port).then((late) => late.destroy() && null, (error: NodeJS.ErrnoException) => error.code), // prettier-ignore
      (code) => code === "ECONNREFUSED",
    );
    expect([refused, onClosed.mock.calls.length]).toEqual(["ECONNREFUSED", 0]);
    const closed = once(server, "close");
    resolve();
    expect(String(await heard)).toContain("at last");
    await closed;
    expect(onClosed).toHaveBeenCalledOnce();
    server = null;
  });

  test("that is closing tells a request whose client has left, though it is the last", async () => {
    for (let times = 0; times < 10; times += 1) {
      const { promise: left, resolve } = Promise.withResolvers<void>();
      const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
      const port = await listen((_request, response) => {
        response.on("close", resolve);
        onAsked();
      });
      const socket = await open(port);
      socket.write(GET);
      await asked;
      const closed = new Promise((onClosed) => server?.close(onClosed));
      server?.close();
      expect([server?.listening, server?.address()]).toEqual([false, null]);
      socket.resetAndDestroy();
      await Promise.all([left, closed]);
    }
  });

  test("lets a house stop within its time, whoever holds on to a connection", { timeout: 20_000 }, async () => {
    const house = await openHouse("sqlite", { porter: true });
    expect((await house.send()).status).toBe(200);
    const port = Number(new URL(house.url).port);
    const silent = hear(await open(port));
    const stream = await fetch(`${house.url}/api/live`, { headers: { apikey: house.key } });
    const heard = stream.text().then(
      () => "ended",
      () => "cut",
    );
    await house.close();
    expect([stream.status, await heard, String(await silent)]).toEqual([200, "ended", ""]);
  });
});
