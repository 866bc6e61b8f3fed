import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EgressRules } from "../../src/egress/addresses.ts";
import { createGuardedClient } from "../../src/egress/guarded-connect.ts";
import type { HttpClient, HttpSender } from "../../src/http-client/client.ts";
import type { RequestObserver } from "../../src/http-client/connection.ts";
import { readResponseHead } from "../../src/http-client/response-head.ts";
import { createMediaProbe } from "../../src/egress/media-probe.ts";
import type { MediaKind } from "../../src/egress/media.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { eventually } from "../support/eventually.ts";
import { MovedClock } from "../support/moved-clock.ts";

const MB = 1024 * 1024;
const UNKNOWN = { kind: "unknown" };
const FINE = { kind: "fine" };

type Script = (socket: Socket, method: string) => void;

const head = (status: string, ...headers: string[]): string => [`HTTP/1.1 ${status}`, ...headers, "", ""].join("\r\n");

/** Sends the same response to every request, and keeps the connection. */
const saying =
  (status: string, ...headers: string[]): Script =>
  (socket) =>
    socket.write(head(status, ...headers));

/** Sends one response to HEAD and another to GET. */
const sayingBoth =
  (toHead: string, toGet: string): Script =>
  (socket, method) =>
    socket.write(method === "HEAD" ? toHead : toGet);

/** Writes the same data until the peer closes. */
const pour = (socket: Socket, what: string): void => {
  const more = (): void => {
    while (!socket.destroyed && socket.write(what));
  };
  socket.on("drain", more);
  more();
};

describe("a media probe", () => {
  let server: Server;
  let base: string;
  let script: Script;
  let seen: string[];
  let heads: string[];
  let sockets: Set<Socket>;
  let egress: HttpClient;
  let clock: MovedClock;

  beforeEach(async () => {
    seen = [];
    heads = [];
    sockets = new Set();
    clock = new MovedClock();
    script = saying("404 Not Found", "Content-Length: 0");
    egress = createGuardedClient({ rules: new EgressRules({ allow: [], loopback: true }), clock: systemClock });
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
      socket.on("data", (data) => {
        heads.push(data.toString("latin1"));
        const [line = "", ...headers] = data.toString("latin1").split("\r\n");
        const [method = "", path = ""] = line.split(" ");
        const range = headers.find((header) => header.toLowerCase().startsWith("range:"));
        seen.push([method, path, ...(range ? [range.toLowerCase()] : [])].join(" "));
        script(socket, method);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    egress.destroy();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const allGone = (): Promise<number> =>
    eventually(
      () => sockets.size,
      (count) => count === 0,
    );
  const asked = (count: number): Promise<string[]> =>
    eventually(
      () => seen,
      (requests) => requests.length >= count,
    );

  const FITTING: [MediaKind, string, number][] = [
    ["image", "image/jpeg", 5 * MB],
    ["image", "image/jpg", 1],
    ["image", "IMAGE/PNG; foo=bar", 5 * MB],
    ["video", "video/mp4", 16 * MB],
    ["video", "video/3gpp", 16 * MB],
    ["document", "application/pdf", 100 * MB],
    ["document", "application/msword", 100 * MB],
    ["document", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", 1],
    ["document", "application/vnd.ms-excel", 1],
    ["document", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", 1],
    ["document", "application/vnd.ms-powerpoint", 1],
    ["document", "application/vnd.openxmlformats-officedocument.presentationml.presentation", 1],
    ["document", "text/plain; charset=utf-8", 100 * MB],
  ];

  test.each(FITTING)("accepts an %s of type %s with %i bytes by its HEAD response", async (kind, type, bytes) => {
    script = saying("200 OK", `Content-Type: ${type}`, `Content-Length: ${bytes}`);
    expect(await createMediaProbe({ egress, clock }).probe(`${base}/a`, kind)).toEqual(FINE);
    expect(seen).toEqual(["HEAD /a"]);
    await allGone();
  });

  test.each<[MediaKind, string]>([
    ["image", "image/gif"],
    ["image", "image/webp"],
    ["image", "image/svg+xml"],
    ["image", "text/html"],
    ["image", "video/mp4"],
    ["video", "video/quicktime"],
    ["video", "image/png"],
    ["document", "application/zip"],
    ["document", "text/html"],
    ["document", "image/jpeg"],
  ])("refuses a link for an %s that serves %s as the wrong type", async (kind, type) => {
    script = saying("200 OK", `Content-Type: ${type}; charset=x`, "Content-Length: 7");
    expect(await createMediaProbe({ egress, clock }).probe(`${base}/a`, kind)).toEqual({
      kind: "wrong type",
      found: type,
    });
  });

  test.each<[MediaKind, string, number, number]>([
    ["image", "image/png", 5 * MB + 1, 5 * MB],
    ["video", "video/mp4", 16 * MB + 1, 16 * MB],
    ["document", "application/pdf", 100 * MB + 1, 100 * MB],
    ["document", "application/octet-stream", 100 * MB + 1, 100 * MB],
    ["image", "image/png", 2 ** 53 - 1, 5 * MB],
  ])("refuses an %s of type %s with %i bytes as too large", async (kind, type, bytes, bytesMax) => {
    script = sayingBoth(
      head("200 OK", `Content-Type: ${type}`, `Content-Length: ${bytes}`),
      head("206 Partial Content", `Content-Type: ${type}`, `Content-Range: bytes 0-0/${bytes}`, "Content-Length: 1"),
    );
    const verdict = await createMediaProbe({ egress, clock }).probe(`${base}/a`, kind);
    expect(verdict).toEqual({ kind: "too large", bytes, bytesMax });
  });

  test.each([
    ["refuses HEAD", head("405 Method Not Allowed", "Content-Type: text/html", "Content-Length: 9")],
    ["does not know HEAD", head("501 Not Implemented", "Connection: close")],
    ["hides it from HEAD", head("403 Forbidden", "Content-Type: application/xml", "Transfer-Encoding: chunked")],
    ["gives no size", head("200 OK", "Content-Type: image/png")],
    ["gives no type", head("200 OK", "Content-Length: 3")],
    ["says that the size is 0", head("200 OK", "Content-Type: image/png", "Content-Length: 0")],
    ["says that it is some bytes", head("200 OK", "Content-Type: binary/octet-stream", "Content-Length: 4")],
    ["gives a type that is none", head("200 OK", "Content-Type: png", "Content-Length: 4")],
    ["gives two types", head("200 OK", "Content-Type: image/gif", "Content-Type: image/bmp", "Content-Length: 4")],
    ["talks garbage to HEAD", "what do you want?\r\n\r\n"],
  ])("requests the first byte if a server %s", async (_what, toHead) => {
    const partial = head(
      "206 Partial Content",
      "Content-Type: image/png",
      "Content-Range: bytes 0-0/6000000",
      "Content-Length: 1",
    );
    script = sayingBoth(toHead, `${partial}x`);
    const verdict = await createMediaProbe({ egress, clock }).probe(`${base}/a`, "image");
    expect(verdict).toEqual({ kind: "too large", bytes: 6_000_000, bytesMax: 5 * MB });
    expect(seen).toEqual(["HEAD /a", "GET /a range: bytes=0-0"]);
    await allGone();
  });

  test("a server that resets the connection at HEAD is asked for the first byte", async () => {
    const partial = head(
      "206 Partial Content",
      "Content-Type: image/png",
      "Content-Range: bytes 0-0/5",
      "Content-Length: 1",
    );
    script = (socket, method) => (method === "HEAD" ? socket.resetAndDestroy() : socket.write(`${partial}x`));
    expect(await createMediaProbe({ egress, clock }).probe(`${base}/a`, "image")).toEqual(FINE);
  });

  test.each([
    ["an error page", saying("404 Not Found", "Content-Type: text/html", "Content-Length: 0")],
    ["a failure", saying("500 Oops", "Content-Type: text/html", "Content-Length: 99999999")],
    ["no content", saying("204 No Content")],
    ["a range beyond the end", saying("416 Range Not Satisfiable", "Content-Range: bytes */0", "Content-Length: 0")],
    ["no size at all", saying("200 OK", "Content-Type: image/png", "Transfer-Encoding: chunked")],
    [
      "a part without its whole",
      saying("206 Partial Content", "Content-Type: image/png", "Content-Range: bytes 0-0/*"),
    ],
    ["a size that is none", saying("200 OK", "Content-Type: image/gif", "Content-Length: lots")],
    ["two sizes", saying("200 OK", "Content-Type: image/gif", "Content-Length: 1", "Content-Length: 2")],
    ["a size beyond counting", saying("200 OK", "Content-Type: image/gif", `Content-Length: ${"9".repeat(40)}`)],
    ["garbage", (socket: Socket) => socket.write("\0\x01\x02\xff HTTP SSH-2.0\r\n\r\n")],
    ["another protocol's greeting", (socket: Socket) => socket.write("220 mail.example ESMTP\r\n")],
    ["a reset", (socket: Socket) => socket.resetAndDestroy()],
    ["an end", (socket: Socket) => socket.end()],
    ["half a head and an end", (socket: Socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Type: image/gif\r\nConte")],
    ["a switch of protocols", saying("101 Switching Protocols", "Upgrade: x", "Connection: upgrade")],
  ] satisfies [string, Script][])(
    "after %s the result is unknown, and the connection is closed",
    async (_what, answer) => {
      script = answer;
      expect(await createMediaProbe({ egress, clock }).probe(`${base}/a`, "image")).toEqual(UNKNOWN);
      expect(seen.map((line) => line.split(" ")[0])).toEqual(["HEAD", "GET"]);
      await allGone();
    },
  );

  test("the request has only the necessary headers, and closes its connection", async () => {
    const withPassword = `${base.replace("//", "//user:password@")}/a?b#c`;
    expect(await createMediaProbe({ egress, clock }).probe(withPassword, "image")).toEqual(UNKNOWN);
    const common = [`host: ${new URL(base).host}`, "connection: close", "accept-encoding: identity"];
    expect(heads.map((written) => written.split("\r\n"))).toEqual([
      ["HEAD /a?b HTTP/1.1", ...common, "", ""],
      ["GET /a?b HTTP/1.1", ...common, "range: bytes=0-0", "", ""],
    ]);
  });

  test("a redirect is not followed", async () => {
    for (const target of ["/inside", `${base}/inside`, "http://169.254.169.254/latest/", "file:///etc/passwd"]) {
      for (const status of [301, 302, 303, 307, 308]) {
        script = saying(`${status} Moved`, `Location: ${target}`, "Content-Type: image/gif", "Content-Length: 0");
        expect(await createMediaProbe({ egress, clock }).probe(`${base}/moved`, "image")).toEqual(UNKNOWN);
      }
    }
    expect(new Set(seen)).toEqual(new Set(["HEAD /moved", "GET /moved range: bytes=0-0"]));
  });

  test("a forbidden address is unknown and not connected to", async () => {
    const closed = createGuardedClient({ rules: new EgressRules({ allow: [], loopback: false }), clock });
    const probe = createMediaProbe({ egress: closed, clock });
    script = saying("200 OK", "Content-Type: image/gif", "Content-Length: 7");
    expect(await probe.probe(`${base}/a.png`, "image")).toEqual(UNKNOWN);
    expect(await probe.probe(base.replace("127.0.0.1", "localhost"), "image")).toEqual(UNKNOWN);
    expect([seen, sockets.size]).toEqual([[], 0]);
    closed.destroy();
  });

  test("a link that is not HTTP is unknown without a request", async () => {
    const probe = createMediaProbe({ egress, clock });
    for (const link of [
      "",
      "a.png",
      "//127.0.0.1/a",
      "ftp://127.0.0.1/a",
      "file:///etc/passwd",
      "http://",
      "http://[::1%25lo]/",
    ]) {
      expect(await probe.probe(link, "image")).toEqual(UNKNOWN);
      expect(await probe.probeWithin(link, "image", 1000)).toEqual(UNKNOWN);
    }
    expect(seen).toEqual([]);
  });

  test("a HEAD response with a body is accepted, and the body is never another response", async () => {
    const ok = head("200 OK", "Content-Type: image/png", "Content-Length: 5");
    script = saying(
      "200 OK",
      "Content-Type: image/png",
      "Content-Length: 5",
      "",
      head("200 OK", "Content-Type: text/html"),
    );
    const probe = createMediaProbe({ egress, clock });
    expect(await probe.probe(`${base}/a`, "image")).toEqual(FINE);
    script = (socket) => socket.write(ok);
    expect(await probe.probe(`${base}/b`, "image")).toEqual(FINE);
    await allGone();
  });

  test("an endless body is not read", async () => {
    let taken = 0;
    script = (socket, method) => {
      if (method === "HEAD") {
        socket.end(head("405 No"));
        return;
      }
      socket.on("close", () => (taken = socket.bytesWritten));
      socket.write(head("200 OK", "Content-Type: image/png", `Content-Length: ${2 ** 40}`));
      pour(socket, "x".repeat(65_536));
    };
    const verdict = await createMediaProbe({ egress, clock }).probe(`${base}/a`, "image");
    expect(verdict).toEqual({ kind: "too large", bytes: 2 ** 40, bytesMax: 5 * MB });
    await allGone();
    expect(taken).toBeLessThan(32 * MB);
  });

  test("an endless head is cut off at 16 KB", async () => {
    script = (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      pour(socket, `X-Filler: ${"x".repeat(500)}\r\n`);
    };
    expect(await createMediaProbe({ egress, clock }).probe(`${base}/a`, "image")).toEqual(UNKNOWN);
    await allGone();
  });

  test.each([
    ["says nothing", () => {}],
    ["stops in the middle of its head", (socket: Socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Ty")],
  ] satisfies [string, Script][])("a server that %s is given up after five seconds", async (_what, answer) => {
    script = answer;
    const verdict = createMediaProbe({ egress, clock }).probe(`${base}/a`, "image");
    await asked(1);
    clock.advance(4999);
    expect(sockets.size).toBe(1);
    clock.advance(1);
    expect(await verdict).toEqual(UNKNOWN);
    expect(seen).toEqual(["HEAD /a"]);
    await allGone();
  });

  test("endless interim responses are cut off", async () => {
    script = (socket) => pour(socket, head("103 Early Hints", "Link: </a>; rel=preload"));
    expect(await createMediaProbe({ egress, clock }).probe(`${base}/a`, "image")).toEqual(UNKNOWN);
    expect(seen).toEqual(["HEAD /a", "GET /a range: bytes=0-0"]);
    await allGone();
  });

  test("the five seconds cover both requests, and facts of the first count", async () => {
    script = (socket, method) => {
      if (method === "HEAD") socket.end(head("200 OK", "Content-Type: image/gif"));
    };
    const verdict = createMediaProbe({ egress, clock }).probe(`${base}/a`, "image");
    clock.advance(3000);
    await asked(2);
    clock.advance(2000);
    expect(await verdict).toEqual({ kind: "wrong type", found: "image/gif" });
    await allGone();
  });

  test("a probe ends in time although its DNS lookup is pending", async () => {
    let names = 0;
    const hanging = createGuardedClient({
      rules: new EgressRules({ allow: [], loopback: true }),
      clock: new MovedClock(),
      resolve: () => new Promise(() => (names += 1)),
    });
    const verdict = createMediaProbe({ egress: hanging, clock }).probe("http://slow.example/a", "image");
    await eventually(
      () => names,
      (count) => count === 1,
    );
    clock.advance(5000);
    expect(await verdict).toEqual(UNKNOWN);
    hanging.destroy();
  });

  test("facts are cached for ten minutes, for every media kind and URL fragment", async () => {
    const probe = createMediaProbe({ egress, clock });
    script = saying("200 OK", "Content-Type: image/png", `Content-Length: ${6 * MB}`);
    const tooLarge = { kind: "too large", bytes: 6 * MB, bytesMax: 5 * MB };
    expect(await probe.probe(`${base}/a`, "image")).toEqual(tooLarge);
    script = saying("200 OK", "Content-Type: image/png", "Content-Length: 5");
    clock.advance(599_999);
    expect(await probe.probe(`${base}/a#page=2`, "image")).toEqual(tooLarge);
    expect(await probe.probeWithin(`${base}/a`, "video", 0)).toEqual({ kind: "wrong type", found: "image/png" });
    expect(seen.length).toBe(1);
    expect(await probe.probe(`${base}/a?b`, "image")).toEqual(FINE);
    clock.advance(1);
    expect(await probe.probe(`${base}/a`, "image")).toEqual(FINE);
    expect(seen.length).toBe(3);
  });

  test("failures are cached too, so that a dead server is not probed at every send", async () => {
    const probe = createMediaProbe({ egress, clock });
    script = (socket) => socket.resetAndDestroy();
    expect(await probe.probe(`${base}/a`, "image")).toEqual(UNKNOWN);
    const before = seen.length;
    expect(await probe.probe(`${base}/a`, "image")).toEqual(UNKNOWN);
    expect(seen.length).toBe(before);
  });

  test("the first caller waits no longer than its limit, and the result is cached later", async () => {
    const probe = createMediaProbe({ egress, clock });
    script = () => {};
    const settled = probe.probeWithin(`${base}/a`, "image", 1000);
    const awaited = probe.probe(`${base}/a`, "image");
    await asked(1);
    clock.advance(1000);
    expect(await settled).toEqual(UNKNOWN);
    for (const socket of sockets) socket.write(head("200 OK", "Content-Type: image/gif", "Content-Length: 5"));
    const wrong = { kind: "wrong type", found: "image/gif" };
    expect(await awaited).toEqual(wrong);
    expect(await probe.probeWithin(`${base}/a`, "image", 0)).toEqual(wrong);
    expect(seen).toEqual(["HEAD /a"]);
  });

  test("a second caller does not wait", async () => {
    const probe = createMediaProbe({ egress, clock });
    script = () => {};
    const first = probe.probeWithin(`${base}/a`, "image", 1000);
    expect(await probe.probeWithin(`${base}/a`, "image", 1000)).toEqual(UNKNOWN);
    await asked(1);
    for (const socket of sockets) socket.write(head("200 OK", "Content-Type: image/png", "Content-Length: 5"));
    expect(await first).toEqual(FINE);
    expect(seen).toEqual(["HEAD /a"]);
  });
});

/** Answers on demand, without a network. */
class HeldWayOut implements HttpSender {
  held: RequestObserver[] = [];
  total = 0;

  send(...[, , caller]: Parameters<HttpSender["send"]>): void {
    this.total += 1;
    caller.onConnected({ abort: () => {} });
    this.held.push(caller);
  }

  answerAll(): void {
    const told = readResponseHead("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 5\r\n\r\n");
    for (const caller of this.held.splice(0)) if (typeof told !== "string") caller.onHead(told);
  }
}

describe("many media probes", () => {
  const linkOf = (n: number): string => `https://files.example/${n}`;
  const links = (count: number): string[] => Array.from({ length: count }, (_, n) => linkOf(n));

  test("concurrent probes of a link are shared", async () => {
    const egress = new HeldWayOut();
    const probe = createMediaProbe({ egress, clock: new MovedClock() });
    const verdicts = Array.from({ length: 20 }, () => probe.probe(linkOf(1), "image"));
    await eventually(
      () => egress.total,
      (count) => count > 0,
    );
    egress.answerAll();
    expect(new Set((await Promise.all(verdicts)).map(({ kind }) => kind))).toEqual(new Set(["fine"]));
    expect(egress.total).toBe(1);
  });

  test("at most fifty run at once, and all are served", async () => {
    const egress = new HeldWayOut();
    const probe = createMediaProbe({ egress, clock: new MovedClock() });
    const verdicts = Promise.all(links(175).map((link) => probe.probe(link, "image")));
    for (const running of [50, 50, 50, 25]) {
      await eventually(
        () => egress.held.length,
        (count) => count === running,
      );
      egress.answerAll();
    }
    expect(new Set((await verdicts).map(({ kind }) => kind))).toEqual(new Set(["fine"]));
    expect(egress.total).toBe(175);
  });

  test("links beyond the queue pass unprobed, and are probed another time", async () => {
    const egress = new HeldWayOut();
    const probe = createMediaProbe({ egress, clock: new MovedClock() });
    const waiting = Promise.all(links(1050).map((link) => probe.probe(link, "image")));
    expect(await probe.probe("https://files.example/late", "image")).toEqual(UNKNOWN);
    let done = false;
    void waiting.then(() => (done = true));
    await eventually(
      () => {
        egress.answerAll();
        return done;
      },
      (isDone) => isDone,
    );
    expect(egress.total).toBe(1050);
    const late = probe.probe("https://files.example/late", "image");
    await eventually(
      () => egress.total,
      (count) => count === 1051,
    );
    egress.answerAll();
    expect(await late).toEqual(FINE);
  });

  test("the cache holds ten thousand links and evicts the oldest", async () => {
    const egress = new HeldWayOut();
    const probe = createMediaProbe({ egress, clock: new MovedClock() });
    const learn = async (link: string): Promise<void> => {
      const verdict = probe.probe(link, "image");
      egress.answerAll();
      expect(await verdict).toEqual(FINE);
    };
    for (const link of links(10_001)) await learn(link);
    expect(egress.total).toBe(10_001);
    await learn(linkOf(1));
    await learn(linkOf(10_000));
    expect(egress.total).toBe(10_001);
    await learn(linkOf(0));
    expect(egress.total).toBe(10_002);
  });
});
