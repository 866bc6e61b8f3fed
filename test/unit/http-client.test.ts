import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createSecureServer, getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EgressRules } from "../../src/egress/addresses.ts";
import { createGuardedClient } from "../../src/egress/guarded-connect.ts";
import type { HttpClient } from "../../src/http-client/client.ts";
import type { RequestHandle } from "../../src/http-client/connection.ts";
import type { ResponseHead } from "../../src/http-client/response-head.ts";
import { readTarget, type OutgoingRequest } from "../../src/http-client/write-request.ts";
import { eventually } from "../support/eventually.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { SINK_CERTIFICATE, SINK_KEY } from "../support/sink-certificate.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

describe("the HTTP client", () => {
  let server: Server;
  let port: number;
  let sockets: Set<Socket>;
  let connections: number;
  let asked: string[];
  let script: (socket: Socket) => void;
  let clock: MovedClock;
  let client: HttpClient;

  const clientWith = (resolved: string[] = ["127.0.0.1"], keptMax?: number): HttpClient =>
    createGuardedClient({
      rules: new EgressRules({ allow: [], loopback: true }),
      clock,
      resolve: async () => resolved.map((address) => ({ address })),
      ...(keptMax === undefined ? {} : { keptMax }),
    });

  const listen = (listener: Server): Promise<number> =>
    new Promise((resolve) => listener.listen(0, "127.0.0.1", () => resolve((listener.address() as AddressInfo).port)));

  beforeEach(async () => {
    sockets = new Set();
    connections = 0;
    asked = [];
    clock = new MovedClock();
    client = clientWith();
    script = (socket) => socket.write(OK);
    server = createServer((socket) => {
      connections += 1;
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
      socket.on("data", (data) => {
        asked.push(data.toString("latin1"));
        script(socket);
      });
    });
    port = await listen(server);
  });
  afterEach(async () => {
    client.destroy();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Result of one request as a line: status and body, or the error. */
  function ask(changes: Partial<OutgoingRequest> & { url?: string; isWaiting?: () => boolean } = {}): Promise<string> {
    const { url = `http://127.0.0.1:${port}/hook`, isWaiting = () => true, ...request } = changes;
    const target = readTarget(url);
    if (!target) throw new Error("no URL");
    return new Promise((resolve, reject) => {
      let told = "";
      const caller = {
        isWaiting,
        onConnected: (_line: RequestHandle) => {},
        onHead: ({ status }: ResponseHead) => (told = `${status} `),
        onBody: (bytes: Buffer) => (told += bytes.toString("latin1")),
        onEnd: () => resolve(told),
        onFailure: (error: Error) => resolve(error.message),
      };
      try {
        client.send(target, { method: "POST", headers: {}, body: "{}", ...request }, caller);
      } catch (error) {
        reject(error);
      }
    });
  }
  const openCount = (count: number): Promise<unknown> =>
    eventually(
      () => sockets.size,
      (size) => size === count,
    );

  test("a connection is reused, whatever the responses were", async () => {
    for (const answer of [OK, OK.replace("200", "500"), "HTTP/1.1 204 No\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"]) {
      script = (socket) => socket.write(answer);
      expect(await ask()).toMatch(/^\d{3} /);
    }
    expect([asked.length, connections]).toEqual([4, 1]);
  }); // prettier-ignore

  test.each([
    ["the server says that it closes", OK.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")],
    ["the server speaks an older version", OK.replace("1.1", "1.0")],
    ["bytes follow the answer", `${OK}\r\n`],
    ["another answer follows it", `${OK}${OK}`],
    ["the server keeps it no longer than it takes to ask again", OK.replace("\r\n\r\n", "\r\nKeep-Alive: timeout=1\r\n\r\n")],
    ["a body is announced that must not be", "HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\n"],
  ])("a connection is not reused when %s", async (_why, answer) => {
    script = (socket) => socket.write(answer);
    expect(await ask()).toMatch(/^20[04] (ok)?$/);
    await openCount(0);
    expect(await ask()).toMatch(/^20[04] (ok)?$/);
    expect(connections).toBe(2);
  }); // prettier-ignore

  test("a connection is not reused when the response came before the request was written", async () => {
    server.removeAllListeners("connection");
    server.on("connection", (socket) => {
      connections += 1;
      sockets.add(socket);
      // Reading is paused, so that the request cannot be written completely.
      socket.on("error", () => {}).pause().write(OK); // prettier-ignore
    });
    expect(await ask({ body: "x".repeat(50_000_000) })).toBe("200 ok");
    expect(await ask({ body: "x".repeat(50_000_000) })).toBe("200 ok");
    expect(connections).toBe(2);
  });

  test("a request takes another connection if its server closed the idle one", async () => {
    await ask();
    for (const socket of sockets) socket.end();
    await openCount(0);
    expect(await ask()).toBe("200 ok");
    expect(connections).toBe(2);
  });

  test("unsolicited bytes are never a response", async () => {
    await ask();
    for (const socket of sockets) socket.write(OK.replace("200", "299"));
    await openCount(0);
    expect(await ask()).toBe("200 ok");
    expect(connections).toBe(2);
  });

  test.each([
    ["an end", (socket: Socket) => socket.end()],
    ["an answer to nothing", (socket: Socket) => socket.write(OK.replace("200", "299"))],
  ])("%s in the kernel buffer is seen, and the request takes another connection", async (_what, act) => {
    await ask();
    for (const socket of sockets) act(socket);
    // No await in between, so the bytes are still in the kernel buffer.
    expect(await ask()).toBe("200 ok");
    expect([asked.length, connections]).toEqual([2, 2]);
  });

  test("a request is not repeated after its connection broke", async () => {
    await ask();
    script = (socket) => socket.resetAndDestroy();
    expect(await ask()).toMatch(/ECONNRESET|closed|ended/);
    script = (socket) => socket.end();
    expect(await ask()).toBe("the connection has ended");
    expect(asked.length).toBe(3);
  });

  test("a connection is reused only for the keep-alive time, then closed", async () => {
    script = (socket) => socket.write(OK.replace("\r\n\r\n", "\r\nKeep-Alive: timeout=10\r\n\r\n"));
    await ask();
    clock.advance(7900);
    await ask();
    expect(connections).toBe(1);
    clock.advance(9000);
    await openCount(0);
    await ask();
    expect(connections).toBe(2);
    await eventually(
      () => client.origins,
      (count) => count === 1,
    );
  });

  test("an expired connection is not used, and is closed together with its replacement in time", async () => {
    await ask();
    clock.advance(500);
    await ask();
    // Expired, and before the next sweep.
    clock.advance(4200);
    expect(await ask()).toBe("200 ok");
    expect([connections, client.origins]).toEqual([2, 1]);
    clock.advance(1000);
    await openCount(1);
    expect(client.origins).toBe(1);
    clock.advance(5000);
    await openCount(0);
    await eventually(
      () => client.origins,
      (count) => count === 0,
    );
  });

  test("an origin has at most 1,024 connections, and waiting requests get the next free one", async () => {
    const waiting: Socket[] = [];
    script = (socket) => waiting.push(socket);
    const outcomes = Promise.all(Array.from({ length: 1030 }, (_, n) => ask({ body: `${n}` })));
    let isForgotten = false;
    const forgotten = ask({ body: "forgotten", isWaiting: () => !isForgotten });
    const last = ask({ body: "last" });
    isForgotten = true;
    await eventually(
      () => waiting.length,
      (count) => count === 1024,
    );
    expect(connections).toBe(1024);
    // Closed connections free slots too.
    for (const socket of waiting.splice(0, 3)) socket.destroy();
    for (const socket of waiting.splice(0)) socket.write(OK);
    script = (socket) => socket.write(OK);
    await eventually(
      () => waiting.splice(0).map((socket) => socket.write(OK)),
      () => asked.length === 1031,
    );
    for (const socket of waiting) socket.write(OK);
    expect((await outcomes).filter((outcome) => outcome === "200 ok").length).toBe(1027);
    expect(await last).toBe("200 ok");
    expect(asked.filter((request) => request.endsWith("forgotten"))).toEqual([]);
    expect(await Promise.race([forgotten, Promise.resolve("nothing")])).toBe("nothing");
  });

  test("connections are kept up to a limit, and closed after their response beyond it", async () => {
    client = clientWith(["127.0.0.1"], 3);
    for (let n = 0; n < 6; n += 1) {
      expect(await ask({ url: `http://host-${n}.example:${port}/` })).toBe("200 ok");
      await openCount(Math.min(n + 1, 3));
    }
    expect(asked.filter((request) => request.includes("\r\nconnection: keep-alive\r\n")).length).toBe(3);
    expect(asked.filter((request) => request.includes("\r\nconnection: close\r\n")).length).toBe(3);
    await ask({ url: `http://host-0.example:${port}/` });
    expect(asked.at(-1)).toContain("connection: keep-alive");
    expect(connections).toBe(6);
  });

  test("destroy fails all requests, also later ones", async () => {
    await ask();
    script = () => {};
    const running = [ask(), ask()];
    const connecting = ask({ url: `http://other.example:${port}/` });
    await eventually(
      () => asked.length,
      (count) => count >= 3,
    );
    const leaving = ask({ url: `http://third.example:${port}/` });
    client.destroy();
    expect(await Promise.all([...running, connecting, leaving])).toEqual(
      Array(4).fill("was called off, because this server stops"),
    );
    await expect(ask()).rejects.toThrow("was called off, because this server stops");
    await openCount(0);
    expect(client.origins).toBe(0);
  });

  test("the next address of a name is tried if the first refuses", async () => {
    client = clientWith(["127.0.0.9", "127.0.0.1"]);
    expect(await ask({ url: `http://two.example:${port}/` })).toBe("200 ok");
    expect(await ask({ url: `http://two.example:${port}/` })).toBe("200 ok");
    expect(connections).toBe(1);
  });

  test("refused hosts leave no state behind", async () => {
    client = createGuardedClient({
      rules: new EgressRules({ allow: [], loopback: false }),
      clock,
      resolve: async () => [{ address: "127.0.0.1" }],
    });
    const hosts = [...Array.from({ length: 100 }, (_, n) => `host-${n}.example`), "127.0.0.1", "[::1]", "[::ffff:7f00:1]"];
    const outcomes = await Promise.all(hosts.map((host) => ask({ url: `http://${host}:${port}/` })));
    expect(outcomes.filter((outcome) => outcome.includes("HELIOGRAPH_EGRESS_ALLOW")).length).toBe(hosts.length);
    expect([client.origins, connections]).toEqual([0, 0]);
  }); // prettier-ignore

  test("invalid connect options count as a failed connection", async () => {
    const rules = new EgressRules({ allow: [], loopback: true });
    rules.isOpen = () => {
      throw new Error("no rules");
    };
    client = createGuardedClient({ rules, clock });
    expect(await ask()).toBe("no rules");
    expect(client.origins).toBe(0);
  });

  test("bodies are UTF-8 and headers Latin-1", async () => {
    for (const body of ["{}", "ü", "नमस्ते 🌍", ""]) {
      await ask({ headers: { "x-name": "Müller" }, body });
      const bytes = Buffer.from(body).toString("latin1");
      expect(asked.at(-1)).toBe(
        `POST /hook HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: keep-alive\r\nx-name: Müller\r\ncontent-length: ${bytes.length}\r\n\r\n${bytes}`,
      );
    }
  });

  test.each([
    ["a\r\nb", "c"], ["a b", "c"], ["", "c"], ["é", "c"], ["a:", "c"], ["a", "b\r\nc: d"], ["a", "b\nc"], ["a", "b\rc"], ["a", "\0"],
    ["a", "\u0100"], ["a", "\u{1f30d}"], ["a", "\x7f"], ["Host", "b"], ["Content-Length", "2"], ["Transfer-Encoding", "chunked"],
    ["connection", "close"], ["upgrade", "x"], ["expect", "100-continue"], ["keep-alive", "timeout=9"],
  ])("a header is never written: %j: %j", async (name, value) => {
    await expect(ask({ headers: { [name]: value } })).rejects.toThrow("could not be written as a request: invalid ");
    expect([connections, client.origins]).toEqual([0, 0]);
  }); // prettier-ignore

  test("a path with line breaks is never written", () => {
    for (const path of ["/a b", "/a\r\nb", "/a\0", "/\u0100", "/?a=b c\r\nd: e", "/é"])
      expect(readTarget(`http://a.example${path}`)?.lines).toMatch(/^[\x21-\x7e]+ HTTP\/1\.1\r\nhost: a\.example\r\n$/);
  });

  test("TLS connects to a server with a valid certificate, and reuses the connection", async () => {
    const trusted = getCACertificates("default");
    setDefaultCACertificates([...trusted, SINK_CERTIFICATE]);
    const secure = createSecureServer({ key: SINK_KEY, cert: SINK_CERTIFICATE }, (socket) => {
      connections += 1;
      socket.on("error", () => {}).on("data", () => socket.write(OK.replace("2\r\n", "30000\r\n") + "x".repeat(29_998)));
    }); // prettier-ignore
    const securePort = await listen(secure);
    for (const _ of [1, 2])
      expect(await ask({ url: `https://sink.example:${securePort}/` })).toBe(`200 ok${"x".repeat(29_998)}`);
    expect(connections).toBe(1);
    expect(await ask({ url: `https://other.example:${securePort}/` })).toContain("does not match certificate");
    client.destroy();
    await new Promise((resolve) => secure.close(resolve));
    setDefaultCACertificates(trusted);
  });
});
