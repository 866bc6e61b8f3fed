import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import { connect, createServer as createNetServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, test, vi } from "vitest";
import { installConnectionThread } from "../../src/http/fast-path/connection-thread/connection-thread.ts";
import { ProxiedSocket } from "../../src/http/fast-path/connection-thread/proxied-socket.ts";
import {
  UNACKED_BYTES_MAX,
  ACK_EVERY_BYTES,
  WRITE,
  type Commands,
  type Enqueue,
} from "../../src/http/fast-path/connection-thread/protocol.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer } from "../support/test-server.ts";

const MIB = 1_048_576;

/** Observes the writes of a socket that has no connection thread. */
const onWrite =
  (observe: (chunk: Commands[typeof WRITE]) => void): Enqueue<Commands> =>
  (opcode, _id, payload) => {
    if (opcode === WRITE) observe(payload as Commands[typeof WRITE]);
  };

const GET = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
const LAST = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

let server: Server | null = null;
const onCrash = vi.fn<(error: Error) => void>();
afterEach(async () => {
  onCrash.mockClear();
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
  installConnectionThread(to, onCrash).listen({ host: "127.0.0.1", port });

async function open(port: number): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true, allowHalfOpen: true });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** Everything received until the other side ends. */
async function receiveAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk)).resume();
  await new Promise((resolve) => socket.once("end", resolve).once("close", resolve));
  socket.destroy();
  return Buffer.concat(chunks);
}

const bodyIn = (received: Buffer): Buffer => received.subarray(received.indexOf("\r\n\r\n") + 4);
const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

describe("a connection of the connection thread", () => {
  test("has the client's address", async () => {
    const port = await listen(({ socket }, response) => response.end(socket.remoteAddress));
    const socket = await open(port);
    socket.write(LAST);
    expect(String(bodyIn(await receiveAll(socket)))).toBe("127.0.0.1");
  });

  test("carries Latin-1 heads, UTF-8 texts and random bytes unchanged", async () => {
    const noise = randomBytes(3 * MIB);
    const port = await listen((_request, response) => {
      response.setHeader("x-latin", "caf\u00e9");
      response.write(noise);
      response.write("Gr\u00fc\u00dfe \u20ac \ud83d\ude00");
      response.end("\u00e9", "latin1");
    });
    const socket = await open(port);
    socket.write("GET / HTTP/1.0\r\n\r\n");
    const received = await receiveAll(socket);
    expect(received.includes(Buffer.from("x-latin: caf\u00e9\r\n", "latin1"))).toBe(true);
    const whole = [noise, Buffer.from("Gr\u00fc\u00dfe \u20ac \ud83d\ude00"), Buffer.of(0xe9)];
    expect(digest(bodyIn(received))).toBe(digest(Buffer.concat(whole)));
  });

  test("sends a text as a string and everything else as bytes with a buffer of their own", () => {
    const sent: unknown[] = [];
    const socket = new ProxiedSocket(7, "", (opcode, id, payload) => sent.push(opcode, id, payload));
    socket.write("\u00e9");
    socket.write("\u00e9", "latin1");
    socket.write(Buffer.from("pooled"));
    expect(sent.slice(0, 3)).toEqual([WRITE, 7, "\u00e9"]);
    const bytes = [sent[5], sent[8]] as Uint8Array[];
    expect(bytes.map((chunk) => [String(Buffer.from(chunk)), chunk.buffer.byteLength])).toEqual([
      [String(Buffer.of(0xe9)), 1],
      ["pooled", 6],
    ]);
  });

  test("sends writes in order, including those that wait for an ack", async () => {
    let sent = "";
    const socket = new ProxiedSocket(
      7,
      "",
      onWrite((chunk) => {
        sent += typeof chunk === "string" ? chunk : String(Buffer.from(chunk));
      }),
    );
    const drained = once(socket, "drain");
    const large = "l".repeat(UNACKED_BYTES_MAX - 1);
    expect(socket.write("a")).toBe(true);
    expect(socket.write(large)).toBe(false);
    expect([socket.write("b"), socket.write("c", "utf8")]).toEqual([false, false]);
    expect(sent).toBe(`a${large}`);
    socket.handleWriteAck(1 + large.length);
    await drained;
    expect(sent).toBe(`a${large}bc`);
    socket.cork();
    socket.write("d");
    expect(sent).toBe(`a${large}bc`);
    socket.uncork();
    socket.write("e");
    expect(sent).toBe(`a${large}bcde`);
    socket.end();
    const failed = once(socket, "error");
    expect(socket.write("f")).toBe(false);
    expect(await failed).toEqual([expect.objectContaining({ code: "ERR_STREAM_WRITE_AFTER_END" })]);
    expect(sent).toBe(`a${large}bcde`);
  });

  test("has at most 128 KiB and one chunk of a large response in transit until its client reads", async () => {
    let unacked = 0;
    const socket = new ProxiedSocket(
      7,
      "",
      onWrite((chunk) => {
        unacked += chunk.length;
      }),
    );
    const large = Buffer.alloc(3 * MIB, 1);
    socket.cork();
    socket.write("head");
    socket.write(large);
    socket.uncork();
    let total = 0;
    while (total < 4 + large.length) {
      expect(unacked).toBeGreaterThan(0);
      expect(unacked).toBeLessThan(UNACKED_BYTES_MAX + ACK_EVERY_BYTES);
      total += unacked;
      const acked = unacked;
      unacked = 0;
      socket.handleWriteAck(acked);
    }
    expect(total).toBe(4 + large.length);
  });

  test("keeps the bytes of 100 simultaneous clients apart", async () => {
    const port = await listen((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => response.end(Buffer.concat(chunks)));
    });
    const echo = async (): Promise<boolean> => {
      const body = randomBytes(200_000);
      const socket = await open(port);
      const received = receiveAll(socket);
      socket.write(`POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`);
      for (let at = 0; at < body.length; at += 7000) {
        socket.write(body.subarray(at, at + 7000));
        await sleep(0);
      }
      return bodyIn(await received).equals(body);
    };
    expect(new Set(await Promise.all(Array.from({ length: 100 }, echo)))).toEqual(new Set([true]));
  });

  test("stops writing while its client does not read, then sends the whole response", async () => {
    const chunk = randomBytes(MIB / 4);
    let written = 0;
    const port = await listen((_request, response) => {
      const writeMore = (): void => {
        while (written < 64 * MIB) {
          written += chunk.length;
          if (!response.write(chunk)) return void response.once("drain", writeMore);
        }
        response.end();
      };
      writeMore();
    });
    const socket = await open(port);
    socket.write("GET / HTTP/1.0\r\n\r\n");
    socket.pause();
    const before = await untilStable(() => written);
    expect(before).toBeLessThan(32 * MIB);
    const received = bodyIn(await receiveAll(socket));
    expect(received.length).toBe(64 * MIB);
    expect(received.subarray(-chunk.length).equals(chunk)).toBe(true);
  });

  test("stops reading while the handler does not, then reads the whole request", async () => {
    const body = randomBytes(64 * MIB);
    const { promise: readAllowed, resolve: allowRead } = Promise.withResolvers<void>();
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<IncomingMessage>();
    const port = await listen(async (request, response) => {
      onAsked(request);
      await readAllowed;
      const hash = createHash("sha256");
      for await (const chunk of request) hash.update(chunk as Buffer);
      response.end(hash.digest("hex"));
    });
    const socket = await open(port);
    const received = receiveAll(socket);
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`);
    socket.write(body);
    const request = await asked;
    const buffered = await untilStable(() => request.readableLength + request.socket.readableLength);
    expect(buffered).toBeGreaterThan(0);
    expect(buffered).toBeLessThan(MIB / 2);
    allowRead();
    expect(String(bodyIn(await received))).toBe(digest(body));
  });

  test.each(["destroy", "resetAndDestroy"] as const)(
    "closes the request when its client leaves by %s",
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

  test("ends when the server destroys it in the middle of a response", async () => {
    const port = await listen((request, response) => {
      response.write("half", () => request.socket.destroy());
    });
    const socket = await open(port);
    socket.write(GET);
    const received = await receiveAll(socket);
    expect([received.includes("half"), received.includes("0\r\n\r\n")]).toEqual([true, false]);
  });

  test("is closed when its client sends nothing within the keep-alive time", async () => {
    const port = await listen((_request, response) => response.end("once"), {
      keepAliveTimeout: 50,
      keepAliveTimeoutBuffer: 0,
    });
    const socket = await open(port);
    socket.write(GET);
    expect(String(await receiveAll(socket))).toContain("once");
  });

  test("gets 408 when its client never sends a whole head", async () => {
    const limits = { headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 20 };
    const port = await listen(() => {}, limits);
    const socket = await open(port);
    socket.write("GET / HTTP/1.1\r\n");
    expect(String(await receiveAll(socket))).toMatch(/^HTTP\/1\.1 408 /);
  });
});

/** Waits until a value has not changed for 300 ms. */
async function untilStable(read: () => number): Promise<number> {
  let last = read();
  for (let same = 0; same < 10; same += 1) {
    await sleep(30);
    if (read() !== last) same = 0;
    last = read();
  }
  return last;
}

/** Sends on many connections from a thread of its own, while the event loop of the test is blocked. `sent` counts megabytes. */
const FLOOD = `
  const { connect } = require("node:net");
  const { workerData: { port, connections, sent }, parentPort } = require("node:worker_threads");
  let answered = 0;
  for (let n = 0; n < connections; n += 1) {
    const socket = connect({ host: "127.0.0.1", port });
    socket.write("POST / HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\ncontent-length: 33554432\\r\\n\\r\\n");
    for (let at = 0; at < 32; at += 1) socket.write(Buffer.alloc(1048576), () => Atomics.add(sent, 0, 1));
    socket.resume().on("end", () => (answered += 1) === connections && parentPort.postMessage("answered"));
  }
`;

describe("a blocked event loop", () => {
  test("receives no more than the flow-control window of each connection", async () => {
    const connections = 8;
    let read = 0;
    const port = await listen((request, response) => {
      request.on("data", (chunk: Buffer) => (read += chunk.length)).on("end", () => response.end());
    });
    const sent = new Int32Array(new SharedArrayBuffer(4));
    const flood = new Worker(FLOOD, { eval: true, workerData: { port, connections, sent } });
    await eventually(() => read, (bytes) => bytes > 0); // prettier-ignore
    // Blocks the event loop. Part of the sent bytes is in kernel buffers.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
    expect(Atomics.load(sent, 0) - read / MIB).toBeLessThan(16 * connections);
    await once(flood, "message");
    expect(read).toBe(32 * connections * MIB);
    await flood.terminate();
  });
});

describe("unread bytes of a connection", () => {
  test("do not keep the bytes of other clients of the same turn in memory", () => {
    const socket = new ProxiedSocket(1, "", () => {});
    const turn = Buffer.alloc(60_000);
    socket.pause();
    for (let at = 0; at < 100; at += 1) socket.handleData(turn.subarray(at, at + 1));
    const kept = socket.read() as Buffer;
    expect([kept.length, kept.buffer === turn.buffer]).toEqual([100, false]);
    socket.handleData(turn.subarray(0, 1));
    expect((socket.read() as Buffer).buffer === turn.buffer).toBe(false);
  });
});

describe("the connection thread", () => {
  test("reports a port in use as Node does, and exits", async () => {
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
    expect(onCrash).not.toHaveBeenCalled();
    other.close();
  });

  test("reports an invalid port", async () => {
    server = start(99_999);
    const [error] = (await once(server, "error")) as [Error];
    expect(error.message).toContain("99999");
    expect(onCrash).not.toHaveBeenCalled();
  });

  test("that exits by itself is reported as crashed", async () => {
    const began = once(process, "worker") as Promise<[Worker]>;
    await listen((_request, response) => response.end());
    const [worker] = await began;
    expect(onCrash).not.toHaveBeenCalled();
    await worker.terminate();
    expect(onCrash.mock.calls).toEqual([[expect.objectContaining({ message: expect.stringContaining("thread") })]]);
    server = null;
  });

  test("that closes refuses new connections and waits for pending responses", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const port = await listen(async (_request, response) => {
      onAsked();
      await promise;
      response.end("late");
    });
    const socket = await open(port);
    const received = receiveAll(socket);
    socket.write(LAST);
    await asked;
    const onClosed = vi.fn<() => void>();
    if (!server) throw new Error("no server");
    server.close(onClosed);
    const refused = await eventually(
      () => open(port).then((late) => late.destroy() && null, (error: NodeJS.ErrnoException) => error.code), // prettier-ignore
      (code) => code === "ECONNREFUSED",
    );
    expect([refused, onClosed.mock.calls.length]).toEqual(["ECONNREFUSED", 0]);
    const closed = once(server, "close");
    resolve();
    expect(String(await received)).toContain("late");
    await closed;
    expect(onClosed).toHaveBeenCalledOnce();
    server = null;
  });

  test("that closes reports the last client's disconnect to its request", async () => {
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

  test("lets a server stop in time although clients keep their connections open", async () => {
    const application = await startTestServer("sqlite", { connectionThread: true });
    expect((await application.send()).status).toBe(200);
    const port = Number(new URL(application.url).port);
    const silent = receiveAll(await open(port));
    const stream = await fetch(`${application.url}/api/live`, { headers: { apikey: application.key } });
    const received = stream.text().then(
      () => "ended",
      () => "cut",
    );
    await application.close();
    expect([stream.status, await received, String(await silent)]).toEqual([200, "ended", ""]);
  });
});
