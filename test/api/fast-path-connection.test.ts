import { once } from "node:events";
import { createServer as createHttpServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { array, assert as assertProperty, asyncProperty, constantFrom, nat, record } from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Credential } from "../../src/accounts/secret-index.ts";
import type { AuthenticateDeps } from "../../src/http/auth/authenticate.ts";
import { MinuteCounter } from "../../src/lib/minute-counter.ts";
import { createShortCodeParser, parseLinkHead, parseSendHead } from "../../src/http/fast-path/parse-head.ts";
import { installConnectionThread } from "../../src/http/fast-path/connection-thread/connection-thread.ts";
import { installFastPath } from "../../src/http/fast-path/fast-path.ts";
import { BodyBudget } from "../../src/http/body-budget.ts";
import { RequestLog } from "../../src/http/request-log/request-log.ts";
import type { SendCall, SendRoute, Services } from "../../src/http/route.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { shortLinkRoutes } from "../../src/http/short-link.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { Follow } from "../../src/links/follow.ts";
import { StorageUnavailable } from "../../src/store/store.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { eventually } from "../support/eventually.ts";
import { repetitions } from "../support/repetitions.ts";
import { startTestServer, type Envelope, type TestServer, type MessageBody } from "../support/test-server.ts";
import { insertLinks, TARGET } from "../support/links.ts";

/** The fast path parses bytes itself, so these tests write bytes to bare sockets. */
let tenants: Tenants;
let server: TestServer;
/** Codes of a valid and of an expired link. */
let found: string;
let gone: string;
async function startServer(options: { connectionThread?: boolean } = {}): Promise<void> {
  tenants = await openTenants("sqlite", systemClock, options);
  server = tenants.server;
  found = await plant({ createdAt: Date.now() });
  gone = await plant({ expiresAt: Date.now() - 1 });
}

const plant = async (options: Parameters<typeof insertLinks>[1]): Promise<string> =>
  (await insertLinks(tenants.execute, options)).codes[0]?.[0] ?? "";

const HEALTHZ = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";
const GOODBYE = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
const bodyOf = (to: string): string => JSON.stringify({ sender: "RAW", to, text: "Hello", type: "TRANS" });
const BODY = bodyOf("15550100100");

/** The bytes of a send; `given` replaces parts of an ordinary one. */
function send(
  given: { line?: string; host?: string; key?: string; extra?: string; length?: string; body?: string } = {},
): string {
  const body = given.body ?? BODY;
  const lines = [
    given.line ?? "POST /v1/sms HTTP/1.1",
    given.host ?? "Host: example.com",
    `apikey: ${given.key ?? server.key}`,
    "Content-Type: application/json",
    ...(given.extra === undefined ? [] : [given.extra]),
    given.length ?? `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

const PHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";

/** The bytes of a short-link request; `given` replaces parts of an ordinary one. */
function get(given: { line?: string; path?: string; agent?: string; extra?: string } = {}): string {
  const lines = [
    given.line ?? `GET ${given.path ?? `/s/${found}`} HTTP/1.1`,
    "Host: go.example",
    ...(given.extra === undefined ? [] : [given.extra]),
    `User-Agent: ${given.agent ?? PHONE}`,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

interface Received {
  status: number;
  headers: Record<string, string>;
  body: string;
}

async function open(url = server.url): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, "connect");
  return socket;
}

/** All responses until the server closes or resets the connection. */
async function receiveAll(socket: Socket): Promise<Received[]> {
  let received = Buffer.alloc(0);
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("data", (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
  socket.on("error", () => undefined).on("close", () => resolve());
  await promise;
  return responsesIn(received);
}

/** Writes the chunks one by one, and returns all responses until the server closes. */
async function exchange(...chunks: (string | Buffer)[]): Promise<Received[]> {
  const socket = await open();
  const received = receiveAll(socket);
  for (const chunk of chunks) {
    socket.write(chunk);
    await turn();
    await turn();
  }
  return received;
}

function responsesIn(received: Buffer): Received[] {
  const answers: Received[] = [];
  for (let at = 0; at < received.length;) {
    const end = received.indexOf("\r\n\r\n", at);
    const [line = "", ...lines] = received.toString("latin1", at, end).split("\r\n");
    const headers = Object.fromEntries(
      lines.map((header) => {
        const [name = "", value = ""] = header.split(": ", 2);
        return [name.toLowerCase(), value];
      }),
    );
    const bodyEnd = end + 4 + Number(headers["content-length"] ?? (headers["transfer-encoding"] ? 5 : 0));
    if (end < 0 || !line.startsWith("HTTP/1.1 ") || bodyEnd > received.length)
      throw new Error(`no response: ${JSON.stringify(received.toString("latin1", at))}`);
    answers.push({ status: Number(line.slice(9, 12)), headers, body: received.toString("utf8", end + 4, bodyEnd) });
    at = bodyEnd;
  }
  return answers;
}

const statusesOf = (answers: readonly Received[]): number[] => answers.map((answer) => answer.status);
const recipientOf = ({ body }: Received): string | undefined => (JSON.parse(body) as Envelope).data?.[0]?.recipient;

/** A response without its date and ids. */
const comparable = ({ status, headers: { date, "request-id": requestId, ...headers }, body }: Received) => ({
  status,
  headers: { ...headers, date: typeof date, requestId: typeof requestId },
  body: body.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<id>"),
});

/** The same bytes on a connection that Node's server has had from the first request on. */
async function exchangeWithNode(bytes: string | Buffer): Promise<Received[]> {
  const socket = await open();
  const received = receiveAll(socket);
  socket.write(HEALTHZ);
  await once(socket, "data");
  socket.write(bytes);
  return (await received).slice(1);
}

async function countStored(): Promise<number> {
  type Page = { data: MessageBody[]; nextCursor: string | null };
  let count = 0;
  let cursor: string | null = "";
  while (cursor !== null) {
    const { body }: { body: Page } = await server.request<Page>(
      "GET",
      `/v1/messages?limit=200${cursor && `&cursor=${cursor}`}`,
    );
    count += body.data.length;
    cursor = body.nextCursor;
  }
  return count;
}

describe("the head of a send", () => {
  const read = (...lines: string[]) => parseSendHead(`${lines.join("\r\n")}\r\n`, 0);
  const OURS = ["Host: x", "apikey: k", "content-type: application/json", "content-length: 7"];

  test.each([
    ["curl", ["Host: x", "User-Agent: curl/8.5.0", "Accept: */*", "apikey: k", "Content-Type: application/json", "Content-Length: 7"]],
    ["fetch", ["host: x", "connection: keep-alive", "apikey: k", "content-type: application/json", "accept: */*", "accept-language: *", "sec-fetch-mode: cors", "user-agent: node", "accept-encoding: gzip, deflate", "content-length: 7"]],
    ["axios", ["Accept: application/json, text/plain, */*", "Content-Type: application/json", "apikey: k", "User-Agent: axios/1.7.2", "Content-Length: 7", "Accept-Encoding: gzip, compress, deflate, br", "Host: x:8080", "Connection: close"]],
    ["requests", ["Host: x", "User-Agent: python-requests/2.32.3", "Accept-Encoding: gzip, deflate", "Accept: */*", "Connection: keep-alive", "apikey: k", "Content-Length: 7", "Content-Type: application/json"]],
    ["Go", ["Host: x", "User-Agent: Go-http-client/1.1", "Content-Length: 7", "Apikey: k", "Content-Type: application/json", "Accept-Encoding: gzip"]],
    ["OkHttp", ["apikey: k", "Content-Type: application/json; charset=utf-8", "Content-Length: 7", "Host: x", "Connection: Keep-Alive", "Accept-Encoding: gzip", "User-Agent: okhttp/4.12.0"]],
    ["Spring", ["Accept: application/json, application/*+json", "Content-Type: application/json;charset=UTF-8", "apikey: k", "User-Agent: Java/21", "Host: x", "Connection: keep-alive", "Content-Length: 7"]],
  ] as const)("is ordinary as %s writes it", (_client, lines) => {
    expect(read(...lines)).toMatchObject({ headers: { apikey: "k" }, bodyBytes: 7 });
  }); // prettier-ignore

  test("is parsed into key, idempotency key, forwarded address and keep-alive, all trimmed", () => {
    expect(
      read(...OURS, "Idempotency-Key:  order 4711 ", "X-Forwarded-For: 10.0.0.1, 10.0.0.2", "Connection: Close"),
    ).toEqual({
      headers: { apikey: "k", "idempotency-key": "order 4711" },
      forwardedFor: "10.0.0.1, 10.0.0.2",
      bodyBytes: 7,
      keepAlive: false,
    });
  });

  test.each([
    ...OURS.map((line) => [`without ${line.split(":")[0]}`, OURS.filter((other) => other !== line)] as const),
    ...OURS.map((line) => [`with ${line.split(":")[0]} twice`, [...OURS, line]] as const),
    ...["Idempotency-Key: a", "X-Forwarded-For: a", "Connection: close"].map(
      (line) => [`with ${line} twice`, [...OURS, line, line.toUpperCase()]] as const,
    ),
    ...["0", "00", "07", "+7", "-7", "0x7", "7 7", "7,7", "7;", "7.0", "1e1", "", "٧", "9999999999"].map(
      (length) => [`with the length ${JSON.stringify(length)}`, [...OURS.slice(0, 3), `content-length: ${length}`]] as const,
    ),
    ...["text/plain", "application/json; charset=latin1", "application/jsonx", "", "application/json,"].map(
      (type) => [`of the type ${JSON.stringify(type)}`, [...OURS.filter((line) => !line.startsWith("content-t")), `content-type: ${type}`]] as const,
    ),
    ...[
      "Transfer-Encoding: chunked", "Content-Encoding: gzip", "TRANSFER-ENCODING: identity", "Transfer-Encoding:", "Expect: 100-continue", "Upgrade: h2c", "Connection: upgrade", "Connection: keep-alive, TE", "Proxy-Connection: close",
      "x-a : b", " x-a: b", "\tx-a: b", ": b", "x-a", "x a: b", "x-a: b\rc", "x-a: b\nc", "x-a: b\r", "x-a: b\u0000c", "x-a: b\u0001", "x-a: b\tc", "x-a: b\u007f", "x-é: b", "x-a: é", "x(a: b", "x\u0000: b", "",
    ].map((line) => [`with the line ${JSON.stringify(line)}`, [...OURS, line, "x-b: c"]] as const),
    ["with more than 100 headers", [...OURS, ...Array.from({ length: 100 }, () => "a:")]],
  ] as const)("is not ordinary %s", (_name, lines) => {
    expect(read(...lines)).toBeNull();
  }); // prettier-ignore

  test("is not ordinary when its last line has no end", () => {
    expect(parseSendHead(`${OURS.join("\r\n")}\r`, 0)).toBeNull();
    expect(parseSendHead(OURS.join("\r\n"), 0)).toBeNull();
    expect(parseSendHead("", 0)).toBeNull();
  });
});

describe("the head of a request for a short link", () => {
  const read = (...lines: string[]) => parseLinkHead(`${lines.join("\r\n")}\r\n`, 0);

  test.each([
    ["Safari", ["Host: x", "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "Sec-Fetch-Site: none", "Accept-Encoding: gzip, deflate", "Connection: keep-alive", "Upgrade-Insecure-Requests: 1", "Sec-Fetch-Mode: navigate", `User-Agent: ${PHONE}`, "Accept-Language: en-GB,en;q=0.9"]],
    ["Chrome", ["Host: x:8080", "Connection: keep-alive", 'sec-ch-ua: "Chromium";v="138", "Not)A;Brand";v="8"', "sec-ch-ua-mobile: ?1", "Upgrade-Insecure-Requests: 1", `User-Agent: ${PHONE}`, "Accept: text/html,*/*;q=0.8", "Cookie: a=b; c=d"]],
    ["a proxy", ["X-Forwarded-For: 10.0.0.1", "X-Forwarded-Proto: https", "Host: x", "Connection: close", `User-Agent: ${PHONE}`]],
    ["a client that sends a content type", ["host: x", "content-type: application/json", `user-agent:   ${PHONE} `]],
  ] as const)("is ordinary as %s writes it", (_client, lines) => {
    expect(read(...lines)).toMatchObject({ userAgent: PHONE, keepAlive: !lines.some((line) => line === "Connection: close") });
  }); // prettier-ignore

  test("has no user agent, an empty one or one with a value", () => {
    expect(read("Host: x")).toEqual({ userAgent: undefined, forwardedFor: undefined, keepAlive: true });
    expect(read("Host: x", "User-Agent: ")).toEqual({ userAgent: "", forwardedFor: undefined, keepAlive: true });
  });

  test.each([
    ["without a host", ["User-Agent: a"]],
    ...[
      "Host: y", "User-Agent: b", "Content-Length: 0", "Content-Length: 7", "Transfer-Encoding: chunked", "Expect: 100-continue", "Upgrade: h2c", "Connection: upgrade",
      "Proxy-Connection: close", "x-a: b\tc", "x-a: \u00e9", "x-a : b", " folded", "x-a: b\nc", "x-a: b\0",
    ].map((line) => [`with the line ${JSON.stringify(line)}`, ["Host: x", "User-Agent: a", line]] as const),
    ...["caf\u00e9/1.0", "a\tb", "a\u0001", "\u007f", "a\0b", "\u00ff"].map(
      (agent) => [`of the agent ${JSON.stringify(agent)}`, ["Host: x", `User-Agent: ${agent}`]] as const,
    ),
  ] as const)("is not ordinary %s", (_name, lines) => {
    expect(read(...lines)).toBeNull();
  }); // prettier-ignore
});

describe("the request line", () => {
  const find = createShortCodeParser(ROUTES);

  test("contains a code below /s and at the root", () => {
    expect(["GET /s/aB3defg HTTP/1.1", "GET /aB3defg HTTP/1.1", "GET /s/metrics HTTP/1.1"].map(find)).toEqual([
      "aB3defg",
      "aB3defg",
      "metrics",
    ]);
  });

  test.each([
    "GET /metrics HTTP/1.1", "GET /healthz HTTP/1.1", "GET / HTTP/1.1", "GET /docs HTTP/1.1", "HEAD /s/aB3defg HTTP/1.1", "POST /s/aB3defg HTTP/1.1", "get /s/aB3defg HTTP/1.1",
    "GET /s/aB3defg HTTP/1.0", "GET /s/aB3defg HTTP/1.10", "GET /s/aB3defg", "GET  /s/aB3defg HTTP/1.1", "GET /s/aB3defg HTTP/1.1 ", " GET /s/aB3defg HTTP/1.1", "GET /s/aB3defg? HTTP/1.1", "GET /s/aB3defg?a=b HTTP/1.1",
    "GET /s/aB3defg/ HTTP/1.1", "GET /s/aB3def HTTP/1.1", "GET /s/aB3defgh HTTP/1.1", "GET /s/0B3defg HTTP/1.1", "GET /S/aB3defg HTTP/1.1", "GET //aB3defg HTTP/1.1", "GET /s//aB3defg HTTP/1.1", "GET /s/%61B3defg HTTP/1.1",
    "GET /s/aB3defg#a HTTP/1.1", "GET http://x/s/aB3defg HTTP/1.1", "GET s/aB3defg HTTP/1.1", "GET /s/aB3def\u00e9 HTTP/1.1", "GET /s/aB3defg\tHTTP/1.1", "GET /s/aB3defg HTTP/1.1\n", "",
  ])("%j contains no code", (line) => {
    expect(find(line)).toBeNull();
  }); // prettier-ignore

  test("contains no code on a node that serves only its health", () => {
    const healthOnly = createShortCodeParser(ROUTES.filter(({ group }) => group === "Health"));
    expect(healthOnly("GET /s/aB3defg HTTP/1.1")).toBeNull();
  });
});

const CONNECTION_OWNERS = [
  ["the event loop owns", { connectionThread: false }],
  ["the connection thread owns", { connectionThread: true }],
] as const;

describe.each(CONNECTION_OWNERS)("on connections that %s,", (_owner, options) => {
  beforeAll(() => startServer(options));
  afterAll(() => tenants.close());

  describe("a request in several chunks", () => {
    test("gets its response wherever it is split in two", async () => {
      const before = await countStored();
      const whole = Buffer.from(send({ extra: "Connection: close" }));
      const cuts = Array.from({ length: whole.length - 1 }, (_, index) => index + 1);
      for (let from = 0; from < cuts.length; from += 50) {
        const answers = await Promise.all(
          cuts.slice(from, from + 50).map((cut) => exchange(whole.subarray(0, cut), whole.subarray(cut))),
        );
        expect(answers.map(statusesOf)).toEqual(answers.map(() => [200]));
      }
      expect(await countStored()).toBe(before + cuts.length);
    });

    test("for a short link gets its response wherever it is split in two", async () => {
      for (const path of [`/s/${found}`, `/${found}`]) {
        const whole = Buffer.from(get({ path, extra: "Connection: close" }));
        const cuts = Array.from({ length: whole.length - 1 }, (_, index) => index + 1);
        const answers = await Promise.all(cuts.map((cut) => exchange(whole.subarray(0, cut), whole.subarray(cut))));
        expect(answers.map((all) => all.map(({ headers }) => headers["location"]))).toEqual(cuts.map(() => [TARGET]));
      }
    });

    test("gets its response when each byte of head or body comes alone", async () => {
      const bytes = (text: string): Buffer[] => [...Buffer.from(text)].map((byte) => Buffer.of(byte));
      const first = send({ body: bodyOf("15550100001") });
      const [head = "", body = ""] = send({ body: bodyOf("15550100002") }).split(/(?<=\r\n\r\n)/);
      const inBodies = await exchange(head, ...bytes(body), head, ...bytes(body), GOODBYE);
      expect(inBodies.slice(0, 2).map(recipientOf)).toEqual(["15550100002", "15550100002"]);
      const everywhere = await exchange(...bytes(first + head + body + GOODBYE));
      expect(everywhere.slice(0, 2).map(recipientOf)).toEqual(["15550100001", "15550100002"]);
      expect([statusesOf(inBodies), statusesOf(everywhere)]).toEqual([
        [200, 200, 200],
        [200, 200, 200],
      ]);
    });

    test("of the largest size is accepted, and one byte more is refused", async () => {
      const fill = (length: number): string =>
        BODY.replace("}", `,"x":"${"a".repeat(length - Buffer.byteLength(BODY) - 7)}"}`);
      const largest = fill(10_485_760);
      expect(Buffer.byteLength(largest)).toBe(10_485_760);
      expect(statusesOf(await exchange(send({ body: largest }), GOODBYE))).toEqual([200, 200]);
      const [tooLarge] = await exchange(send({ body: fill(10_485_761), extra: "connection: close" }));
      expect(tooLarge?.status).toBe(413);
    });
  });

  describe("pipelined requests", () => {
    test("get their responses in order on both paths", async () => {
      const numbers = Array.from({ length: 8 }, (_, index) => `1555010020${index}`);
      const sends = numbers.map((to, index) =>
        send({ body: bodyOf(to), ...(index % 3 === 2 ? { extra: "x-odd: a\tb" } : {}) }),
      );
      for (const bytes of [sends.join("") + GOODBYE, sends.join(HEALTHZ) + GOODBYE]) {
        const answers = await exchange(bytes);
        expect(answers.map(recipientOf).filter((to) => to !== undefined)).toEqual(numbers);
        expect(statusesOf(answers)).toEqual(answers.map(() => 200));
        expect(answers.length).toBe(bytes.split(" HTTP/1.1").length - 1);
      }
    });

    test("get their responses in order, sends and short links mixed", async () => {
      const parts = [send(), get(), send(), get({ path: `/${found}` }), get({ path: "/zzzzzzz" }), get({ path: `/s/${gone}` }), send({ body: "{" }), get()]; // prettier-ignore
      const statuses = [200, 302, 200, 302, 404, 410, 400, 302];
      const rounds = Array.from({ length: 10 }, (_, first) =>
        [...parts.keys()].map((n) => (n * 3 + first) % parts.length),
      );
      const expected = rounds.flat().map((n) => statuses[n] ?? 0);
      const bytes = rounds
        .flat()
        .map((n) => parts[n] ?? "")
        .join("");
      expect(statusesOf(await exchange(bytes + GOODBYE))).toEqual([...expected, 200]);
      const odd = get({ line: `HEAD /s/${found} HTTP/1.1`, extra: "Connection: close" });
      const behindThem = await exchange(bytes + get({ path: "/metrics" }) + GOODBYE);
      expect(statusesOf(behindThem)).toEqual([...expected, 200, 200]);
      expect(behindThem.at(-2)?.body).toContain("heliograph_link_clicks_total");
      expect(statusesOf(await exchange(bytes + odd))).toEqual([...expected, 302]);
    });

    test("all get a response when they exceed one read", async () => {
      const numbers = Array.from({ length: 300 }, (_, index) => `15550103${String(index).padStart(3, "0")}`);
      const answers = await exchange(numbers.map((to) => send({ body: bodyOf(to) })).join("") + GOODBYE);
      expect(answers.slice(0, -1).map(recipientOf)).toEqual(numbers);
      expect(answers.length).toBe(301);
    });

    test("with the same head are authenticated one by one: a key that is revoked meanwhile is refused", async () => {
      const { body } = await server.request<{ id: string; key: string }>("POST", "/api/keys", {
        name: "brief",
        scopes: ["sms", "chatapp"],
      });
      const socket = await open();
      const received = receiveAll(socket);
      const same = send({ key: body.key });
      socket.write(same);
      await once(socket, "data");
      socket.write(send({ key: body.key, line: "POST /v1/chatapp HTTP/1.1" }) + same);
      await once(socket, "data");
      await server.request("DELETE", `/api/keys/${body.id}`);
      socket.write(same + send() + GOODBYE);
      const answers = await received;
      expect(statusesOf(answers)).toEqual([200, 400, 200, 401, 200, 200]);
    });

    test("after a refused one get a response, and its body is not parsed as a request", async () => {
      const hidden = send({ body: bodyOf("15550100666") });
      const answers = await exchange(
        send({ key: "hg_live_wrong", body: hidden }) + send(),
        send({ key: "hg_live_wrong", body: hidden }).slice(0, -20),
        hidden.slice(-20) + send(),
        send({ body: hidden }) + GOODBYE,
      );
      expect(statusesOf(answers)).toEqual([401, 200, 401, 200, 400, 200]);
    });

    test("after one with Connection: close are ignored", async () => {
      const before = await countStored();
      const answers = await exchange(send() + send({ extra: "Connection: close" }) + send() + HEALTHZ);
      expect(statusesOf(answers)).toEqual([200, 200]);
      expect(answers.map((answer) => answer.headers["connection"])).toEqual(["keep-alive", "close"]);
      expect(await countStored()).toBe(before + 2);
    });
  });

  describe("both HTTP paths", () => {
    const wrong = (fields: object): string => JSON.stringify({ ...(JSON.parse(BODY) as object), ...fields });

    test.each([
      ["a good send", () => send()],
      ["a repeated header without meaning", () => send({ extra: "x-a: 1\r\nx-a: 2" })],
      ["a bad key", () => send({ key: "hg_live_wrong" })],
      ["no key", () => send({ key: "" })],
      ["two keys", () => send({ extra: "apikey: other" })],
      ["no JSON", () => send({ body: "{" })],
      ["no object", () => send({ body: "[]" })],
      ["deep nesting", () => send({ body: "[".repeat(30) + "]".repeat(30) })],
      ["half a character", () => send({ body: '{"sender":"\ud800"}' })],
      ["missing fields", () => send({ body: "{}" })],
      ["wrong fields", () => send({ body: wrong({ sender: "", to: [5], type: "é", unicode: 2 }) })],
      ["an invalid number", () => send({ body: wrong({ to: "nobody" }) })],
      ["a text too long", () => send({ body: wrong({ text: "x".repeat(2000) }) })],
      ["an idempotency key that is too long", () => send({ extra: `Idempotency-Key: ${"k".repeat(256)}` })],
      ["an empty idempotency key", () => send({ extra: "Idempotency-Key:" })],
    ])("respond to %s with the same headers and body", async (_name, make) => {
      for (const bytes of [make() + GOODBYE, make().replace("\r\n", "\r\nConnection: close\r\n")]) {
        const [fast] = await exchange(bytes);
        const [ordinary] = await exchangeWithNode(bytes);
        if (!fast || !ordinary) throw new Error("a response is missing");
        expect(comparable(fast)).toEqual(comparable(ordinary));
      }
    });

    test.each([
      ["a code below /s", () => get()],
      ["a code at the root", () => get({ path: `/${found}` })],
      ["a code with a query", () => get({ path: `/s/${found}?to=https://evil.example` })],
      ["an unknown code", () => get({ path: "/s/zzzzzzz" })],
      ["an unknown code at the root", () => get({ path: "/zzzzzzz" })],
      ["a link that has expired", () => get({ path: `/s/${gone}` })],
      ["an expired link at the root", () => get({ path: `/${gone}` })],
      ["a malformed code", () => get({ path: "/s/not-a-code" })],
      ["a page that could be a code", () => get({ path: "/healthz" })],
      ["no agent", () => get({ agent: "" })],
      ["a user agent with bytes outside ASCII", () => get({ agent: "caf\u00e9\t1.0" })],
      ["two agents", () => get({ extra: "User-Agent: curl/8.5.0" })],
      ["a length of nothing", () => get({ extra: "Content-Length: 0" })],
      ["a body", () => `${get({ extra: "Content-Type: text/plain\r\nContent-Length: 4" })}body`],
      ["a type without a body", () => get({ extra: "Content-Type: text/plain" })],
      ["two hosts", () => get({ extra: "Host: evil.example" })],
      ["a foreign host", () => get({ extra: "X-Forwarded-Host: evil.example\r\nForwarded: host=evil.example" })],
      ["an address in full", () => get({ line: `GET http://evil.example/s/${found} HTTP/1.1` })],
    ])("respond to a short link (%s) with the same headers and body", async (_name, make) => {
      for (const bytes of [make() + GOODBYE, make().replace("\r\n", "\r\nConnection: close\r\n")]) {
        const fast = await exchange(Buffer.from(bytes, "latin1"));
        const ordinary = await exchangeWithNode(Buffer.from(bytes, "latin1"));
        expect(fast.map(comparable)).toEqual(ordinary.map(comparable));
        expect(fast[0]?.headers["location"] ?? TARGET).toBe(TARGET);
      }
    });

    test("redirect to the target with the same headers", async () => {
      const [answer] = await exchange(get() + GOODBYE);
      expect(answer && comparable(answer)).toEqual({
        status: 302,
        headers: {
          "cache-control": "no-store",
          "referrer-policy": "no-referrer",
          location: TARGET,
          "content-type": "text/plain; charset=utf-8",
          "content-length": "0",
          connection: "keep-alive",
          "keep-alive": "timeout=65",
          date: "string",
          requestId: "undefined",
        },
        body: "",
      });
    });

    test("respond to a short link with the same error while the store is unavailable", async () => {
      const away = vi.spyOn(server.app.store, "findLinks").mockRejectedValue(new StorageUnavailable("away"));
      const [fast] = await exchange(get() + GOODBYE);
      const [ordinary] = await exchangeWithNode(get() + GOODBYE);
      away.mockRestore();
      if (!fast || !ordinary) throw new Error("a response is missing");
      expect(fast).toMatchObject({ status: 503, headers: { "retry-after": "2" } });
      expect(comparable(fast)).toEqual(comparable(ordinary));
    });

    test.each([
      ["person", PHONE],
      ["preview", "WhatsApp/2.25.1 A"],
      ["bot", "curl/8.5.0"],
      ["bot", ""],
      ["person", "caf\u00e9/1.0"],
    ] as const)("record the click of a %s: %s", async (agentClass, agent) => {
      const code = await plant({ createdAt: Date.now() });
      const bytes = Buffer.from(
        get({ path: `/s/${code}`, agent }) + get({ path: `/${code}`, agent }) + GOODBYE,
        "latin1",
      );
      await exchange(bytes);
      await exchangeWithNode(bytes);
      type Clicks = { clicks: Record<string, number> };
      const { clicks } = await eventually(
        async () => (await server.request<Clicks>("GET", `/api/links/${code}`)).body,
        (link) => Object.values(link.clicks).reduce((sum, count) => sum + count, 0) >= 4,
      );
      expect(clicks).toEqual({ person: 0, preview: 0, bot: 0, [agentClass]: 4 });
    });

    test("share idempotency keys", async () => {
      const bytes = send({ extra: "Idempotency-Key: both-paths" });
      const [first] = await exchange(bytes + GOODBYE);
      const [again] = await exchange(bytes + GOODBYE);
      const [ordinarily] = await exchangeWithNode(bytes + GOODBYE);
      expect([again?.body, ordinarily?.body]).toEqual([first?.body, first?.body]);
      expect([first, again, ordinarily].map((answer) => answer?.headers["idempotent-replayed"])).toEqual([
        undefined,
        "true",
        "true",
      ]);
    });

    test("send the same rate-limit headers", async () => {
      const { body } = await server.request<{ key: string }>("POST", "/api/keys", {
        name: "slow",
        scopes: ["sms"],
        requestsPerSecond: 1,
      });
      const bytes = send({ key: body.key }).repeat(3) + GOODBYE;
      const answers = await exchange(bytes);
      expect(answers[0]).toMatchObject({ status: 200, headers: { "ratelimit-policy": '"key";q=1;w=1' } });
      const [fast, ordinary] = [answers, await exchangeWithNode(bytes)].map((all) =>
        all.find((answer) => answer.status === 429),
      );
      if (!fast || !ordinary) throw new Error("a refusal is missing");
      expect(comparable(fast)).toEqual(comparable(ordinary));
      expect(fast.headers).toMatchObject({ ratelimit: '"key";r=0;t=1', "retry-after": "1" });
    });
  });

  /** Recipient of the smuggled request: it must never be sent, and its number would show it. */
  const HIDDEN = "15550109999";
  const hidden = (): string => send({ body: bodyOf(HIDDEN) });
  const chunked = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`;

  const AMBIGUOUS: readonly [name: string, make: () => string, statuses: number[]][] = [
  ["a length and chunks", () => send({ length: "Content-Length: 4\r\nTransfer-Encoding: chunked", body: `0\r\n\r\n${hidden()}` }), [400]],
  ["chunks and a length", () => send({ length: "Transfer-Encoding: chunked\r\nContent-Length: 4", body: `0\r\n\r\n${hidden()}` }), [400]],
  ["chunks", () => send({ length: "Transfer-Encoding: chunked", body: chunked(BODY) }), [200, 200]],
  ["chunks by a name with a space", () => send({ extra: "Transfer-Encoding : chunked", body: `0\r\n\r\n${hidden()}` }), [400]],
  ["chunks by a value with a tab", () => send({ extra: "Transfer-Encoding:\tchunked", body: `0\r\n\r\n${hidden()}` }), [400]],
  ["two lengths", () => send({ length: `Content-Length: 4\r\nContent-Length: ${BODY.length}`, body: `{}\r\n${hidden()}` }), [400]],
  ["the same length twice", () => send({ length: "Content-Length: 2\r\nContent-Length: 2", body: "{}" }), [400]],
  ["a list of lengths", () => send({ length: "Content-Length: 2, 2", body: "{}" }), [400]],
  ["a length with a plus", () => send({ length: "Content-Length: +2", body: "{}" }), [400]],
  ["a length with a minus", () => send({ length: "Content-Length: -2", body: "{}" }), [400]],
  ["a length with a space", () => send({ length: "Content-Length: 2 0", body: "{}" }), [400]],
  ["a length in hex", () => send({ length: "Content-Length: 0x2", body: "{}" }), [400]],
  ["a length with zeros", () => send({ length: "Content-Length: 002", body: "{}" }), [400, 200]],
  ["a length by a name with a space", () => send({ length: "Content-Length : 2", body: "{}" }), [400]],
  ["a length on a line of its own", () => send({ length: "Content-Length:\r\n 2", body: "{}" }), [400]],
  ["no length", () => send({ length: "x-a: b", body: "" }), [400, 200]],
  ["a length of nothing", () => send({ length: "Content-Length: 0", body: "" }), [400, 200]],
  ["a folded header", () => send({ extra: "x-a: b\r\n folded" }), [400]],
  ["a header folded over the length", () => send({ length: "x-a: b\r\n\tContent-Length: 2", body: "{}" }), [400]],
  ["a bare line feed", () => send({ extra: `x-a: b\nContent-Length: 2` }), [400]],
  ["a bare line feed at the end of the head", () => send().replace("\r\n\r\n", "\r\n\n"), [400]],
  ["bare line feeds only", () => send().replaceAll("\r\n", "\n"), [400]],
  ["a bare carriage return", () => send({ extra: "x-a: b\rContent-Length: 2" }), [400]],
  ["a NUL in a value", () => send({ extra: "x-a: b\u0000c" }), [400]],
  ["a NUL in a name", () => send({ extra: "x\u0000a: b" }), [400]],
  ["a space in a name", () => send({ extra: "x a: b" }), [400]],
  ["no name", () => send({ extra: ": b" }), [400]],
  ["no colon", () => send({ extra: "x-a" }), [400]],
  ["two hosts", () => send({ extra: "Host: other" }), [200, 200]],
  ["no host", () => send({ host: "x-a: b" }), [400]],
  ["an address in full", () => send({ line: "POST http://evil.example/v1/sms HTTP/1.1" }), [200, 200]],
  ["HTTP/1.0", () => send({ line: "POST /v1/sms HTTP/1.0", extra: "Connection: keep-alive" }), [200, 200]],
  ["HTTP/1.2", () => send({ line: "POST /v1/sms HTTP/1.2" }), [400]],
  // Node accepts it and closes the connection: the send succeeds, and the bytes after it are not read.
  ["HTTP/2.0", () => send({ line: "POST /v1/sms HTTP/2.0" }), [200]],
  ["a method in small letters", () => send({ line: "post /v1/sms HTTP/1.1" }), [400]],
  ["two spaces in the line", () => send({ line: "POST  /v1/sms HTTP/1.1" }), [200, 200]],
  ["a line with more behind it", () => send({ line: "POST /v1/sms HTTP/1.1 x" }), [400]],
  ["a query", () => send({ line: "POST /v1/sms?a=b HTTP/1.1" }), [200, 200]],
  ["a path spelled otherwise", () => send({ line: "POST /v1/%73ms HTTP/1.1" }), [200, 200]],
  ["a path with more behind it", () => send({ line: "POST /v1/sms/ HTTP/1.1" }), [404, 200]],
  ["empty lines before it", () => `\r\n\r\n${send()}`, [200, 200]],
  ["an expectation", () => send({ extra: "Expect: 100-continue" }), [100, 200, 200]],
  ["an unknown expectation", () => send({ extra: "Expect: miracles" }), [417, 200]],
  ["a head of more than 16 KiB", () => send({ extra: `x-a: ${"a".repeat(20_000)}` }), [431]],
  ["a type with parameters", () => send({ extra: "content-type: text/plain" }), [200, 200]],
  ["noise", () => "\u0016\u0003\u0001\u0002\u0000\u0001\r\n\r\n", [400]],
]; // prettier-ignore

  describe("an ambiguous request (request smuggling)", () => {
    test.each(AMBIGUOUS)(
      "(%s) is parsed as Node parses it, and the smuggled request is not sent",
      async (_name, make, statuses) => {
        const answers = await exchange(Buffer.from(make() + GOODBYE, "latin1"));
        expect(statusesOf(answers)).toEqual(statuses);
        expect(answers.map(comparable)).toEqual(
          (await exchangeWithNode(Buffer.from(make() + GOODBYE, "latin1"))).map(comparable),
        );
        // The same after ordinary requests that are still pending.
        const behind = await exchange(Buffer.from(send() + send() + make() + GOODBYE, "latin1"));
        expect(statusesOf(behind)).toEqual([200, 200, ...statuses]);
        const { body } = await server.request<{ data: MessageBody[] }>("GET", `/v1/messages?recipient=${HIDDEN}`);
        expect(body.data).toEqual([]);
      },
    );
  });

  describe("a client that disconnects", () => {
    test("in a body, before a response or between many does no harm", async () => {
      const whole = send();
      for (const bytes of [whole.slice(0, -5), whole, whole.repeat(50), whole + HEALTHZ + whole.slice(0, -5)]) {
        for (const leave of ["destroy", "resetAndDestroy", "end"] as const) {
          const socket = await open();
          socket.on("error", () => undefined).resume();
          socket.write(bytes);
          await turn();
          socket[leave]();
          await once(socket, "close");
        }
      }
      expect((await server.send()).status).toBe(200);
    });

    test("by half-closing still gets all responses", async () => {
      const socket = await open();
      const received = receiveAll(socket);
      const { store } = server.app;
      const accept = store.accept.bind(store);
      const finished = once(socket, "finish");
      // No response before the end has arrived: an earlier one could not know that it is the last.
      const held = vi.spyOn(store, "accept").mockImplementation(async (...batch) => {
        await finished;
        // It has arrived once the server has responded to another request.
        await server.request("GET", "/healthz");
        return accept(...batch);
      });
      socket.end(send() + send());
      const answers = await received;
      held.mockRestore();
      expect(statusesOf(answers)).toEqual([200, 200]);
      expect(answers.map((answer) => answer.headers["connection"])).toEqual([expect.any(String), "close"]);
      const mixed = await open();
      const mixedReceived = receiveAll(mixed);
      mixed.end(send() + send() + GOODBYE);
      expect(statusesOf((await mixedReceived).slice(0, 2))).toEqual([200, 200]);
    });

    test("in the middle of a body gets its earlier responses and then a 400", async () => {
      const socket = await open();
      const received = receiveAll(socket);
      socket.end(send() + send().slice(0, -5));
      expect(statusesOf(await received)).toEqual([200, 400]);
    });
  });

  describe("a shutdown", () => {
    test("closes idle connections at once, and others after their response", async () => {
      const stopped = await startTestServer("sqlite", options);
      const idle = await open(stopped.url);
      const idleReceived = receiveAll(idle);
      idle.write(send({ key: stopped.key }));
      await once(idle, "data");
      const begun = await open(stopped.url);
      const begunReceived = receiveAll(begun);
      const bytes = Buffer.from(send({ key: stopped.key }));
      // In one chunk: when the first has its response, the second has been read.
      begun.write(Buffer.concat([bytes, bytes.subarray(0, -5)]));
      await once(begun, "data");
      const closed = stopped.close();
      expect((await idleReceived).map((answer) => answer.headers["connection"])).toEqual(["keep-alive"]);
      begun.write(bytes.subarray(-5));
      expect((await begunReceived).map(({ status, headers }) => [status, headers["connection"]])).toEqual([
        [200, "keep-alive"],
        [200, "close"],
      ]);
      await closed;
    });

    test("closes the connection of a pending short link after its response", async () => {
      const stopped = await startTestServer("sqlite", options);
      const { promise, resolve } = Promise.withResolvers<null[]>();
      const lookup = vi.spyOn(stopped.app.store, "findLinks").mockReturnValue(promise);
      const socket = await open(stopped.url);
      const received = receiveAll(socket);
      socket.write(get());
      await eventually(() => lookup.mock.calls.length, (calls) => calls === 1); // prettier-ignore
      const closed = stopped.close();
      resolve([null]);
      expect((await received).map(({ status, headers }) => [status, headers["connection"]])).toEqual([[404, "close"]]);
      await closed;
    });

    test("does not wait for a body that never comes or a client that never sends", async () => {
      const stopped = await startTestServer("sqlite", options);
      const silent = await open(stopped.url);
      const half = await open(stopped.url);
      half.write(send({ key: stopped.key }).slice(0, -5));
      const received = Promise.all([receiveAll(silent), receiveAll(half)]);
      // They have arrived once the server has responded to another request.
      await stopped.request("GET", "/healthz");
      await stopped.close();
      expect(await received).toEqual([[], []]);
    });
  });
});

describe("on a server of its own,", () => {
  beforeAll(() => startServer());
  afterAll(() => tenants.close());

  describe("a slow client", () => {
    let slow: TestServer;
    beforeEach(async () => {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
      slow = await startTestServer("sqlite");
    });
    afterEach(async () => {
      await slow.close();
      vi.useRealTimers();
    });
    const say = async (bytes: string): Promise<{ received: Promise<Received[]>; socket: Socket }> => {
      const socket = await open(slow.url);
      const received = receiveAll(socket);
      socket.write(bytes);
      await turn();
      await turn();
      return { received, socket };
    };

    test("that sends nothing gets 408 after 10 s", async () => {
      const { received, socket } = await say("");
      // It has arrived once the server has responded to another request.
      await slow.request("GET", "/healthz");
      vi.advanceTimersByTime(9000);
      expect((await slow.request("GET", "/healthz")).status).toBe(200);
      expect(socket.readyState).toBe("open");
      vi.advanceTimersByTime(3000);
      expect(statusesOf(await received)).toEqual([408]);
    });

    test("that drips its body gets 408 after 30 s", async () => {
      const { received, socket } = await say(send({ key: slow.key }).slice(0, -30));
      for (let second = 0; second < 29; second += 1) {
        socket.write("x");
        await turn();
        vi.advanceTimersByTime(1000);
      }
      expect(socket.readyState).toBe("open");
      vi.advanceTimersByTime(3000);
      expect(statusesOf(await received)).toEqual([408]);
    });

    test("that drips the body of a refused request is disconnected", async () => {
      const made = await slow.request<{ key: string }>("POST", "/api/keys", { name: "Reads", scopes: ["read"] });
      expect(made.status).toBe(201);
      const { received } = await say(send({ key: made.body.key }).slice(0, -5));
      vi.advanceTimersByTime(32_000);
      expect(statusesOf(await received)).toEqual([403]);
    });

    test("that sends no further request is disconnected after 65 s, and not before", async () => {
      const { received, socket } = await say(send({ key: slow.key }));
      await once(socket, "data");
      vi.advanceTimersByTime(60_000);
      socket.write(send({ key: slow.key }));
      await once(socket, "data");
      vi.advanceTimersByTime(67_000);
      expect(statusesOf(await received)).toEqual([200, 200]);
    });
  });

  /** The fast path in front of a stub server that records the requests of both paths. */
  async function openStub(
    handle: (call: SendCall) => Promise<string>,
    onRefused: (code: string) => void = () => {},
    follow: Follow["follow"] = async () => ({ kind: "found", url: TARGET }),
    { connectionThread = false } = {},
  ) {
    const route = { fastPath: true, method: "POST", path: "/v1/sms", family: "send", scope: "sms" };
    const credentialOf = (secret: string) =>
      ({
        key: { scopes: ["sms"], agent: null },
        actor: { name: secret },
        account: {},
        networks: null,
        bucket: null,
      }) as unknown as Credential;
    const keyring = { find: credentialOf } as unknown as AuthenticateDeps["keyring"];
    const admission = {
      keyring,
      clock: systemClock,
      badKeys: new MinuteCounter(),
      readAgain: async () => undefined,
    };
    const bodies = new BodyBudget(systemClock, { bytesMax: 2 ** 28, waitMs: 1000, recipientsMax: 1000 });
    const ordinary = (asked: IncomingMessage, response: ServerResponse): void => {
      const chunks: Buffer[] = [];
      asked.on("data", (chunk: Buffer) => chunks.push(chunk));
      asked.on("end", () => {
        const { headers, url = "", method = "" } = asked;
        const code = /^\/(?:s\/)?([1-9A-HJ-NP-Za-km-z]{7})(?:\?.*)?$/.exec(url)?.[1];
        if (code !== undefined && method === "GET") {
          void follow(code, headers["user-agent"], method);
          response.end("ordinary");
          return;
        }
        const caller = credentialOf(String(headers.apikey));
        try {
          const seen = { "idempotency-key": headers["idempotency-key"] };
          const body = new TextDecoder("utf8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
          const lease = bodies.lease();
          void handle({ headers: seen, body: JSON.parse(body), caller, lease, setHeader: () => {} });
        } catch {
          onRefused("INVALID_JSON");
        }
        response.end("ordinary");
      });
    };
    const fastServer = installFastPath(
      createHttpServer(ordinary),
      {
        services: {
          clock: systemClock,
          bodies,
          draining: new AbortController().signal,
          stopping: new AbortController().signal,
          proxyWarning: { observe: () => {} },
          acceptDeps: { admission: { isRefusing: () => false } },
          metrics: {
            refused: (code: string) => ({ inc: () => onRefused(code) }),
            requestSeconds: () => ({ observe: () => {} }),
          },
          baseUrl: () => "",
          links: { follow },
          requestLog: new RequestLog(systemClock),
        } as unknown as Services,
        admission,
        bodyBytesMax: 1_048_576,
        addressOf: () => "",
      },
      [
        { ...route, handle: async (_services, call) => ({ text: await handle(call) }) } as SendRoute,
        ...shortLinkRoutes,
      ],
    );
    const stubServer = connectionThread ? installConnectionThread(fastServer, () => {}) : fastServer;
    stubServer.listen({ port: 0, host: "127.0.0.1" });
    await once(stubServer, "listening");
    return {
      url: `http://127.0.0.1:${(stubServer.address() as AddressInfo).port}`,
      async close() {
        stubServer.close();
        stubServer.closeAllConnections();
        await once(stubServer, "close");
      },
    };
  }

  test("both HTTP paths parse the same requests from the same mutated bytes", async () => {
    let seen: unknown[] = [];
    const stub = await openStub(
      async ({ headers, body, caller }) => {
        seen.push([caller.actor.name, headers["idempotency-key"], body]);
        return "{}";
      },
      (code) => void seen.push(code),
      async (...link) => {
        seen.push(link);
        return { kind: "unknown" };
      },
    );
    /** The requests that the server parses, after an optional first request. */
    const readBy = async (bytes: Buffer, first: string): Promise<unknown[]> => {
      seen = [];
      const socket = await open(stub.url);
      const received = new Promise((resolve) => socket.on("error", () => undefined).on("close", resolve));
      if (first !== "") {
        socket.write(first);
        await once(socket, "data");
      }
      seen = [];
      socket.resume().write(bytes);
      await received;
      return seen;
    };
    // Longer than any mutated length, and not a request: the server closes the connection at the end.
    const end = `${"x".repeat(150_000)}\r\n\r\n`;
    const aBreak = record({
      at: nat(),
      cut: nat(3),
      put: constantFrom(
      "", "\r\n", "\r", "\n", "\0", " ", "\t", ":", ",", "0", "1", "-", "+", ";", "a", "A", "é", "\r\n\r\n", "\n\n", "\r\n ", "/", "?",
      "Transfer-Encoding: chunked\r\n", "Content-Length: 5\r\n", "Connection: close\r\n", "Host: b\r\n", "apikey: b\r\n", "Expect: x\r\n", "User-Agent: b\r\n", "x-a: b\r\n",
    ), // prettier-ignore
    });
    try {
      await assertProperty(
        asyncProperty(array(aBreak, { minLength: 1, maxLength: 3 }), async (breaks) => {
          const links = [`/s/${found}`, `/${found}`].map((path) => get({ path, agent: "a b" }));
          let bytes = links.join(send({ extra: "Idempotency-Key: i" })) + send({ key: "k", extra: "x-a: b" });
          for (const { at, cut, put } of breaks) {
            const from = at % bytes.length;
            bytes = bytes.slice(0, from) + put + bytes.slice(from + cut);
          }
          const raw = Buffer.from(bytes + end, "latin1");
          expect(await readBy(raw, "")).toEqual(await readBy(raw, HEALTHZ));
        }),
        { numRuns: repetitions(300, 1000) },
      );
    } finally {
      await stub.close();
    }
  });

  test("the HTTP clients of Node use the fast path", async () => {
    const stub = await openStub(async () => '"fast"');
    const headers = { apikey: "k", "content-type": "application/json", "idempotency-key": "i" };
    const byFetch = await (await fetch(`${stub.url}/v1/sms`, { method: "POST", headers, body: BODY })).text();
    const { promise, resolve } = Promise.withResolvers<string>();
    const asked = request(`${stub.url}/v1/sms`, { method: "POST", headers }, (answer) =>
      answer.setEncoding("utf8").on("data", resolve),
    );
    asked.setHeader("content-length", Buffer.byteLength(BODY)).end(BODY);
    expect([byFetch, await promise]).toEqual(['"fast"', '"fast"']);
    const link = await fetch(`${stub.url}/s/${found}`, { redirect: "manual", headers: { "user-agent": PHONE } });
    expect([link.status, link.headers.get("location")]).toEqual([302, TARGET]);
    await stub.close();
  });

  describe.each(CONNECTION_OWNERS)("on a connection that %s, a client that does not read", (_owner, options) => {
    let stub: Awaited<ReturnType<typeof openStub>>;
    let waiting: (() => void)[] = [];
    const ANSWER = `"${"x".repeat(200_000)}"`;
    beforeEach(async () => {
      waiting = [];
      stub = await openStub(
        () => new Promise((resolve) => waiting.push(() => resolve(ANSWER))),
        undefined,
        undefined,
        options,
      );
    });
    afterEach(() => stub.close());
    const respondToAll = (): number => {
      const due = waiting.splice(0);
      for (const answer of due) answer();
      return due.length;
    };
    const turns = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i += 1) await turn();
    };

    test("is paused while 32 responses are pending or earlier ones are unread", async () => {
      const count = 250;
      const socket = await open(stub.url);
      socket.write(send().repeat(count));
      await eventually(() => waiting.length, (due) => due === 32); // prettier-ignore
      await turns(20);
      expect(waiting.length).toBe(32);

      // Unread responses fill the connection, and the handler gets no further request.
      let answered = 0;
      for (let due = respondToAll(); due > 0; due = respondToAll()) {
        answered += due;
        await turns(50);
      }
      expect(answered).toBeLessThan(count);

      let read = 0;
      socket.on("data", (chunk: Buffer) => (read += chunk.length));
      await eventually(
        () => {
          answered += respondToAll();
          return read;
        },
        (bytes) => bytes > count * ANSWER.length,
      );
      expect(answered).toBe(count);
      socket.destroy();
    });

    test("is paused while 32 short-link responses are pending", async () => {
      const links = await openStub(
        async () => "{}",
        undefined,
        () => new Promise((resolve) => waiting.push(() => resolve({ kind: "found", url: TARGET }))),
        options,
      );
      const socket = await open(links.url);
      const received = receiveAll(socket);
      socket.write(get().repeat(100) + GOODBYE);
      await eventually(() => waiting.length, (due) => due === 32); // prettier-ignore
      await turns(20);
      let answered = respondToAll();
      expect(answered).toBe(32);
      await eventually(() => (answered += respondToAll()), (count) => count === 100); // prettier-ignore
      expect(statusesOf(await received)).toEqual([...Array.from({ length: 100 }, () => 302), 200]);
      await links.close();
    });

    test("is not disconnected while a response is pending", async () => {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
      const patient = await openStub(
        () => new Promise((resolve) => waiting.push(() => resolve("{}"))),
        undefined,
        undefined,
        options,
      );
      const socket = await open(patient.url);
      socket.write(send());
      await eventually(() => waiting.length, (due) => due === 1); // prettier-ignore
      vi.advanceTimersByTime(600_000);
      respondToAll();
      expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 200 /);
      await patient.close();
      vi.useRealTimers();
    });

    test("gets the response of Node's server after all earlier ones", async () => {
      const socket = await open(stub.url);
      const received = receiveAll(socket);
      socket.write(send() + send() + GOODBYE);
      await eventually(() => waiting.length, (due) => due === 2); // prettier-ignore
      waiting[1]?.();
      await turns(20);
      expect(socket.bytesRead).toBe(0);
      waiting[0]?.();
      expect((await received).map((answer) => answer.body.length)).toEqual([
        ANSWER.length,
        ANSWER.length,
        "ordinary".length,
      ]);
    });
  });
});
