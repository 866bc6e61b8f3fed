import { once } from "node:events";
import { createServer as createHttpServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { array, assert as assertProperty, asyncProperty, constantFrom, nat, record } from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Credential } from "../src/accounts/keyring.ts";
import { authenticate, type Admission } from "../src/http/authenticate.ts";
import { MinuteCounter } from "../src/lib/minute-counter.ts";
import { createCodeFinder } from "../src/http/express/find-code.ts";
import { readLinkHead, readSendHead } from "../src/http/express/read-head.ts";
import { putPorterBefore } from "../src/http/porter/porter.ts";
import { putExpressDoorBefore } from "../src/http/express-door.ts";
import type { SendCall, SendRoute, Services } from "../src/http/route.ts";
import { ROUTES } from "../src/http/routes.ts";
import { shortLinkRoutes } from "../src/http/short-link.ts";
import { systemClock } from "../src/lib/clock.ts";
import type { Follow } from "../src/links/follow.ts";
import { StorageUnavailable } from "../src/store/store.ts";
import { openTenants, type Tenants } from "./fuzz/tenants.ts";
import { eventually } from "./support/eventually.ts";
import { openHouse, type Envelope, type House, type MessageBody } from "./support/house.ts";
import { plantLinks, TARGET } from "./support/links.ts";

/** The door reads bytes by itself, so what it takes and what it leaves to Node is tested byte by byte, on bare sockets. */
let tenants: Tenants;
let house: House;
/** Codes of a link that leads somewhere, and of one that did. */
let found: string;
let gone: string;
async function enter(wishes: { porter?: boolean } = {}): Promise<void> {
  tenants = await openTenants("sqlite", systemClock, wishes);
  house = tenants.house;
  found = await plant({ createdAt: Date.now() });
  gone = await plant({ expiresAt: Date.now() - 1 });
}

const plant = async (wishes: Parameters<typeof plantLinks>[1]): Promise<string> =>
  (await plantLinks(tenants.execute, wishes)).codes[0]?.[0] ?? "";

const HEALTHZ = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";
const GOODBYE = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
const bodyOf = (to: string): string => JSON.stringify({ sender: "RAW", to, text: "Hello", type: "TRANS" });
const BODY = bodyOf("15550100100");

/** A send as a client writes it; what is given stands in the place of the ordinary. */
function send(
  given: { line?: string; host?: string; key?: string; extra?: string; length?: string; body?: string } = {},
): string {
  const body = given.body ?? BODY;
  const lines = [
    given.line ?? "POST /v1/sms HTTP/1.1",
    given.host ?? "Host: example.com",
    `apikey: ${given.key ?? house.key}`,
    "Content-Type: application/json",
    ...(given.extra === undefined ? [] : [given.extra]),
    given.length ?? `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

const PHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";

/** A short link as a phone asks for it; what is given stands in the place of the ordinary. */
function ask(given: { line?: string; path?: string; agent?: string; extra?: string } = {}): string {
  const lines = [
    given.line ?? `GET ${given.path ?? `/s/${found}`} HTTP/1.1`,
    "Host: go.example",
    ...(given.extra === undefined ? [] : [given.extra]),
    `User-Agent: ${given.agent ?? PHONE}`,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

interface Heard {
  status: number;
  headers: Record<string, string>;
  body: string;
}

async function open(url = house.url): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, "connect");
  return socket;
}

/** What comes until the other side closes. A reset is one of the ways to close. */
async function hearAll(socket: Socket): Promise<Heard[]> {
  let received = Buffer.alloc(0);
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("data", (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
  socket.on("error", () => undefined).on("close", () => resolve());
  await promise;
  return answersIn(received);
}

/** Writes the pieces one after the other, each after the last was read, and hears until the server closes. */
async function converse(...pieces: (string | Buffer)[]): Promise<Heard[]> {
  const socket = await open();
  const heard = hearAll(socket);
  for (const piece of pieces) {
    socket.write(piece);
    await turn();
    await turn();
  }
  return heard;
}

function answersIn(received: Buffer): Heard[] {
  const answers: Heard[] = [];
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
      throw new Error(`no answer: ${JSON.stringify(received.toString("latin1", at))}`);
    answers.push({ status: Number(line.slice(9, 12)), headers, body: received.toString("utf8", end + 4, bodyEnd) });
    at = bodyEnd;
  }
  return answers;
}

const statusesOf = (answers: readonly Heard[]): number[] => answers.map((answer) => answer.status);
const recipientOf = ({ body }: Heard): string | undefined => (JSON.parse(body) as Envelope).data?.[0]?.recipient;

/** An answer without what is new in each. */
const alike = ({ status, headers: { date, "request-id": requestId, ...headers }, body }: Heard) => ({
  status,
  headers: { ...headers, date: typeof date, requestId: typeof requestId },
  body: body.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<id>"),
});

/** The same bytes on a line that Node's HTTP has had from the first request on. */
async function converseOrdinarily(bytes: string | Buffer): Promise<Heard[]> {
  const socket = await open();
  const heard = hearAll(socket);
  socket.write(HEALTHZ);
  await once(socket, "data");
  socket.write(bytes);
  return (await heard).slice(1);
}

async function countStored(): Promise<number> {
  type Page = { data: MessageBody[]; nextCursor: string | null };
  let count = 0;
  let cursor: string | null = "";
  while (cursor !== null) {
    const { body }: { body: Page } = await house.ask<Page>(
      "GET",
      `/v1/messages?limit=200${cursor && `&cursor=${cursor}`}`,
    );
    count += body.data.length;
    cursor = body.nextCursor;
  }
  return count;
}

describe("the head of a send", () => {
  const read = (...lines: string[]) => readSendHead(`${lines.join("\r\n")}\r\n`, 0);
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

  test("gives the key, the idempotency key, the forwarded address and the wish to close, without spaces around them", () => {
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
      "Transfer-Encoding: chunked", "TRANSFER-ENCODING: identity", "Transfer-Encoding:", "Expect: 100-continue", "Upgrade: h2c", "Connection: upgrade", "Connection: keep-alive, TE", "Proxy-Connection: close",
      "x-a : b", " x-a: b", "\tx-a: b", ": b", "x-a", "x a: b", "x-a: b\rc", "x-a: b\nc", "x-a: b\r", "x-a: b\u0000c", "x-a: b\u0001", "x-a: b\tc", "x-a: b\u007f", "x-é: b", "x-a: é", "x(a: b", "x\u0000: b", "",
    ].map((line) => [`with the line ${JSON.stringify(line)}`, [...OURS, line, "x-b: c"]] as const),
    ["with more headers than anybody needs", [...OURS, ...Array.from({ length: 100 }, () => "a:")]],
  ] as const)("is not ordinary %s", (_name, lines) => {
    expect(read(...lines)).toBeNull();
  }); // prettier-ignore

  test("is not ordinary when its last line has no end", () => {
    expect(readSendHead(`${OURS.join("\r\n")}\r`, 0)).toBeNull();
    expect(readSendHead(OURS.join("\r\n"), 0)).toBeNull();
    expect(readSendHead("", 0)).toBeNull();
  });
});

describe("the head of a request for a short link", () => {
  const read = (...lines: string[]) => readLinkHead(`${lines.join("\r\n")}\r\n`, 0);

  test.each([
    ["Safari", ["Host: x", "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "Sec-Fetch-Site: none", "Accept-Encoding: gzip, deflate", "Connection: keep-alive", "Upgrade-Insecure-Requests: 1", "Sec-Fetch-Mode: navigate", `User-Agent: ${PHONE}`, "Accept-Language: en-GB,en;q=0.9"]],
    ["Chrome", ["Host: x:8080", "Connection: keep-alive", 'sec-ch-ua: "Chromium";v="138", "Not)A;Brand";v="8"', "sec-ch-ua-mobile: ?1", "Upgrade-Insecure-Requests: 1", `User-Agent: ${PHONE}`, "Accept: text/html,*/*;q=0.8", "Cookie: a=b; c=d"]],
    ["a proxy", ["X-Forwarded-For: 10.0.0.1", "X-Forwarded-Proto: https", "Host: x", "Connection: close", `User-Agent: ${PHONE}`]],
    ["a client that tells a type", ["host: x", "content-type: application/json", `user-agent:   ${PHONE} `]],
  ] as const)("is ordinary as %s writes it", (_client, lines) => {
    expect(read(...lines)).toEqual({ userAgent: PHONE, keepAlive: !lines.some((line) => line === "Connection: close") });
  }); // prettier-ignore

  test("need not say who asks, and tells nobody from somebody without a name", () => {
    expect(read("Host: x")).toEqual({ userAgent: undefined, keepAlive: true });
    expect(read("Host: x", "User-Agent: ")).toEqual({ userAgent: "", keepAlive: true });
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

describe("the first line of a request", () => {
  const find = createCodeFinder(ROUTES);

  test("holds a code below /s and at the root", () => {
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
  ])("%j holds none that is ours to follow", (line) => {
    expect(find(line)).toBeNull();
  }); // prettier-ignore

  test("holds no code for a node that answers for its health only", () => {
    const healthOnly = createCodeFinder(ROUTES.filter(({ group }) => group === "Health"));
    expect(healthOnly("GET /s/aB3defg HTTP/1.1")).toBeNull();
  });
});

const HOLDERS = [
  ["the event loop holds", { porter: false }],
  ["the porter holds", { porter: true }],
] as const;

describe.each(HOLDERS)("on connections that %s,", (_holder, wishes) => {
  beforeAll(() => enter(wishes));
  afterAll(() => tenants.close());

  describe("a request in pieces", () => {
    test("is answered whole wherever it is cut in two", { timeout: 60_000 }, async () => {
      const before = await countStored();
      const whole = Buffer.from(send({ extra: "Connection: close" }));
      const cuts = Array.from({ length: whole.length - 1 }, (_, index) => index + 1);
      for (let from = 0; from < cuts.length; from += 50) {
        const answers = await Promise.all(
          cuts.slice(from, from + 50).map((cut) => converse(whole.subarray(0, cut), whole.subarray(cut))),
        );
        expect(answers.map(statusesOf)).toEqual(answers.map(() => [200]));
      }
      expect(await countStored()).toBe(before + cuts.length);
    });

    test("for a short link is answered whole wherever it is cut in two", async () => {
      for (const path of [`/s/${found}`, `/${found}`]) {
        const whole = Buffer.from(ask({ path, extra: "Connection: close" }));
        const cuts = Array.from({ length: whole.length - 1 }, (_, index) => index + 1);
        const answers = await Promise.all(cuts.map((cut) => converse(whole.subarray(0, cut), whole.subarray(cut))));
        expect(answers.map((all) => all.map(({ headers }) => headers["location"]))).toEqual(cuts.map(() => [TARGET]));
      }
    });

    test("is answered when each byte comes alone, be it of the head or only of the body", async () => {
      const bytes = (text: string): Buffer[] => [...Buffer.from(text)].map((byte) => Buffer.of(byte));
      const first = send({ body: bodyOf("15550100001") });
      const [head = "", body = ""] = send({ body: bodyOf("15550100002") }).split(/(?<=\r\n\r\n)/);
      const inBodies = await converse(head, ...bytes(body), head, ...bytes(body), GOODBYE);
      expect(inBodies.slice(0, 2).map(recipientOf)).toEqual(["15550100002", "15550100002"]);
      const everywhere = await converse(...bytes(first + head + body + GOODBYE));
      expect(everywhere.slice(0, 2).map(recipientOf)).toEqual(["15550100001", "15550100002"]);
      expect([statusesOf(inBodies), statusesOf(everywhere)]).toEqual([
        [200, 200, 200],
        [200, 200, 200],
      ]);
    });

    test("of the largest size is read, and one byte more is refused", async () => {
      const fill = (length: number): string =>
        BODY.replace("}", `,"x":"${"a".repeat(length - Buffer.byteLength(BODY) - 7)}"}`);
      const largest = fill(1_048_576);
      expect(Buffer.byteLength(largest)).toBe(1_048_576);
      expect(statusesOf(await converse(send({ body: largest }), GOODBYE))).toEqual([200, 200]);
      const [tooLarge] = await converse(send({ body: fill(1_048_577), extra: "connection: close" }));
      expect(tooLarge?.status).toBe(413);
    });
  });

  describe("requests one behind the other", () => {
    test("are answered in their order, ordinary and odd ones mixed", async () => {
      const numbers = Array.from({ length: 8 }, (_, index) => `1555010020${index}`);
      const sends = numbers.map((to, index) =>
        send({ body: bodyOf(to), ...(index % 3 === 2 ? { extra: "x-odd: a\tb" } : {}) }),
      );
      for (const bytes of [sends.join("") + GOODBYE, sends.join(HEALTHZ) + GOODBYE]) {
        const answers = await converse(bytes);
        expect(answers.map(recipientOf).filter((to) => to !== undefined)).toEqual(numbers);
        expect(statusesOf(answers)).toEqual(answers.map(() => 200));
        expect(answers.length).toBe(bytes.split(" HTTP/1.1").length - 1);
      }
    });

    test("are answered in their order, sends and short links mixed", async () => {
      const parts = [send(), ask(), send(), ask({ path: `/${found}` }), ask({ path: "/zzzzzzz" }), ask({ path: `/s/${gone}` }), send({ body: "{" }), ask()]; // prettier-ignore
      const statuses = [200, 302, 200, 302, 404, 410, 400, 302];
      const rounds = Array.from({ length: 10 }, (_, first) =>
        [...parts.keys()].map((n) => (n * 3 + first) % parts.length),
      );
      const expected = rounds.flat().map((n) => statuses[n] ?? 0);
      const bytes = rounds
        .flat()
        .map((n) => parts[n] ?? "")
        .join("");
      expect(statusesOf(await converse(bytes + GOODBYE))).toEqual([...expected, 200]);
      const odd = ask({ line: `HEAD /s/${found} HTTP/1.1`, extra: "Connection: close" });
      const behindThem = await converse(bytes + ask({ path: "/metrics" }) + GOODBYE);
      expect(statusesOf(behindThem)).toEqual([...expected, 200, 200]);
      expect(behindThem.at(-2)?.body).toContain("heliograph_link_clicks_total");
      expect(statusesOf(await converse(bytes + odd))).toEqual([...expected, 302]);
    });

    test("are all answered when there are more of them than are read at once", async () => {
      const numbers = Array.from({ length: 300 }, (_, index) => `15550103${String(index).padStart(3, "0")}`);
      const answers = await converse(numbers.map((to) => send({ body: bodyOf(to) })).join("") + GOODBYE);
      expect(answers.slice(0, -1).map(recipientOf)).toEqual(numbers);
      expect(answers.length).toBe(301);
    });

    test("with the same head are judged each by itself: a key that is revoked meanwhile is refused", async () => {
      const { body } = await house.ask<{ id: string; key: string }>("POST", "/api/keys", {
        name: "brief",
        scopes: ["sms", "chatapp"],
      });
      const socket = await open();
      const heard = hearAll(socket);
      const same = send({ key: body.key });
      socket.write(same);
      await once(socket, "data");
      socket.write(send({ key: body.key, line: "POST /v1/chatapp HTTP/1.1" }) + same);
      await once(socket, "data");
      await house.ask("DELETE", `/api/keys/${body.id}`);
      socket.write(same + send() + GOODBYE);
      const answers = await heard;
      expect(statusesOf(answers)).toEqual([200, 400, 200, 401, 200, 200]);
    });

    test("behind a refused one are answered, and its body is not taken for a request", async () => {
      const hidden = send({ body: bodyOf("15550100666") });
      const answers = await converse(
        send({ key: "hg_live_wrong", body: hidden }) + send(),
        send({ key: "hg_live_wrong", body: hidden }).slice(0, -20),
        hidden.slice(-20) + send(),
        send({ body: hidden }) + GOODBYE,
      );
      expect(statusesOf(answers)).toEqual([401, 200, 401, 200, 400, 200]);
    });

    test("behind one that closes are not looked at", async () => {
      const before = await countStored();
      const answers = await converse(send() + send({ extra: "Connection: close" }) + send() + HEALTHZ);
      expect(statusesOf(answers)).toEqual([200, 200]);
      expect(answers.map((answer) => answer.headers["connection"])).toEqual(["keep-alive", "close"]);
      expect(await countStored()).toBe(before + 2);
    });
  });

  describe("both doors", () => {
    const wrong = (fields: object): string => JSON.stringify({ ...(JSON.parse(BODY) as object), ...fields });

    test.each([
      ["a good send", () => send()],
      ["a repeated header that says nothing", () => send({ extra: "x-a: 1\r\nx-a: 2" })],
      ["a bad key", () => send({ key: "hg_live_wrong" })],
      ["no key", () => send({ key: "" })],
      ["two keys", () => send({ extra: "apikey: other" })],
      ["no JSON", () => send({ body: "{" })],
      ["no object", () => send({ body: "[]" })],
      ["deep nesting", () => send({ body: "[".repeat(30) + "]".repeat(30) })],
      ["half a character", () => send({ body: '{"sender":"\ud800"}' })],
      ["missing fields", () => send({ body: "{}" })],
      ["wrong fields", () => send({ body: wrong({ sender: "", to: [5], type: "é", unicode: 2 }) })],
      ["a number that is none", () => send({ body: wrong({ to: "nobody" }) })],
      ["a text too long", () => send({ body: wrong({ text: "x".repeat(2000) }) })],
      ["an idempotency key that is too long", () => send({ extra: `Idempotency-Key: ${"k".repeat(256)}` })],
      ["an empty idempotency key", () => send({ extra: "Idempotency-Key:" })],
    ])("answer %s with the same headers and body", async (_name, make) => {
      for (const bytes of [make() + GOODBYE, make().replace("\r\n", "\r\nConnection: close\r\n")]) {
        const [express] = await converse(bytes);
        const [ordinary] = await converseOrdinarily(bytes);
        if (!express || !ordinary) throw new Error("one of them did not answer");
        expect(alike(express)).toEqual(alike(ordinary));
      }
    });

    test.each([
      ["a code below /s", () => ask()],
      ["a code at the root", () => ask({ path: `/${found}` })],
      ["a code with a query", () => ask({ path: `/s/${found}?to=https://evil.example` })],
      ["a code that nobody has", () => ask({ path: "/s/zzzzzzz" })],
      ["a code at the root that nobody has", () => ask({ path: "/zzzzzzz" })],
      ["a link that has expired", () => ask({ path: `/s/${gone}` })],
      ["an expired link at the root", () => ask({ path: `/${gone}` })],
      ["what is no code", () => ask({ path: "/s/not-a-code" })],
      ["a page that could be a code", () => ask({ path: "/healthz" })],
      ["no agent", () => ask({ agent: "" })],
      ["an agent with odd bytes", () => ask({ agent: "caf\u00e9\t1.0" })],
      ["two agents", () => ask({ extra: "User-Agent: curl/8.5.0" })],
      ["a length of nothing", () => ask({ extra: "Content-Length: 0" })],
      ["a body", () => `${ask({ extra: "Content-Type: text/plain\r\nContent-Length: 4" })}body`],
      ["a type without a body", () => ask({ extra: "Content-Type: text/plain" })],
      ["two hosts", () => ask({ extra: "Host: evil.example" })],
      ["a foreign host", () => ask({ extra: "X-Forwarded-Host: evil.example\r\nForwarded: host=evil.example" })],
      ["an address in full", () => ask({ line: `GET http://evil.example/s/${found} HTTP/1.1` })],
    ])("answer a short link (%s) with the same headers and body", async (_name, make) => {
      for (const bytes of [make() + GOODBYE, make().replace("\r\n", "\r\nConnection: close\r\n")]) {
        const express = await converse(Buffer.from(bytes, "latin1"));
        const ordinary = await converseOrdinarily(Buffer.from(bytes, "latin1"));
        expect(express.map(alike)).toEqual(ordinary.map(alike));
        expect(express[0]?.headers["location"] ?? TARGET).toBe(TARGET);
      }
    });

    test("lead to the target with the same words", async () => {
      const [answer] = await converse(ask() + GOODBYE);
      expect(answer && alike(answer)).toEqual({
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

    test("answer a short link with the same failure while the store is away", async () => {
      const away = vi.spyOn(house.app.store, "findLinks").mockRejectedValue(new StorageUnavailable("away"));
      const [express] = await converse(ask() + GOODBYE);
      const [ordinary] = await converseOrdinarily(ask() + GOODBYE);
      away.mockRestore();
      if (!express || !ordinary) throw new Error("one of them did not answer");
      expect(express).toMatchObject({ status: 503, headers: { "retry-after": "2" } });
      expect(alike(express)).toEqual(alike(ordinary));
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
        ask({ path: `/s/${code}`, agent }) + ask({ path: `/${code}`, agent }) + GOODBYE,
        "latin1",
      );
      await converse(bytes);
      await converseOrdinarily(bytes);
      type Clicks = { clicks: Record<string, number> };
      const { clicks } = await eventually(
        async () => (await house.ask<Clicks>("GET", `/api/links/${code}`)).body,
        (link) => Object.values(link.clicks).reduce((sum, count) => sum + count, 0) >= 4,
      );
      expect(clicks).toEqual({ person: 0, preview: 0, bot: 0, [agentClass]: 4 });
    });

    test("know one another's idempotency keys", async () => {
      const bytes = send({ extra: "Idempotency-Key: both-doors" });
      const [first] = await converse(bytes + GOODBYE);
      const [again] = await converse(bytes + GOODBYE);
      const [ordinarily] = await converseOrdinarily(bytes + GOODBYE);
      expect([again?.body, ordinarily?.body]).toEqual([first?.body, first?.body]);
      expect([first, again, ordinarily].map((answer) => answer?.headers["idempotent-replayed"])).toEqual([
        undefined,
        "true",
        "true",
      ]);
    });

    test("tell the rate of a key in the same way", async () => {
      const { body } = await house.ask<{ key: string }>("POST", "/api/keys", {
        name: "slow",
        scopes: ["sms"],
        requestsPerSecond: 1,
      });
      const bytes = send({ key: body.key }).repeat(3) + GOODBYE;
      const answers = await converse(bytes);
      expect(answers[0]).toMatchObject({ status: 200, headers: { "ratelimit-policy": '"key";q=1;w=1' } });
      const [express, ordinary] = [answers, await converseOrdinarily(bytes)].map((all) =>
        all.find((answer) => answer.status === 429),
      );
      if (!express || !ordinary) throw new Error("one of them was not refused");
      expect(alike(express)).toEqual(alike(ordinary));
      expect(express.headers).toMatchObject({ ratelimit: '"key";r=0;t=1', "retry-after": "1" });
    });
  });

  /** What hides behind each of these must never be answered by itself; its number would show. */
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
  ["HTTP/2.0", () => send({ line: "POST /v1/sms HTTP/2.0" }), [400]],
  ["a method in small letters", () => send({ line: "post /v1/sms HTTP/1.1" }), [400]],
  ["two spaces in the line", () => send({ line: "POST  /v1/sms HTTP/1.1" }), [200, 200]],
  ["a line with more behind it", () => send({ line: "POST /v1/sms HTTP/1.1 x" }), [400]],
  ["a query", () => send({ line: "POST /v1/sms?a=b HTTP/1.1" }), [200, 200]],
  ["a path spelled otherwise", () => send({ line: "POST /v1/%73ms HTTP/1.1" }), [200, 200]],
  ["a path with more behind it", () => send({ line: "POST /v1/sms/ HTTP/1.1" }), [404, 200]],
  ["empty lines before it", () => `\r\n\r\n${send()}`, [200, 200]],
  ["an expectation", () => send({ extra: "Expect: 100-continue" }), [100, 200, 200]],
  ["an expectation nobody knows", () => send({ extra: "Expect: miracles" }), [417, 200]],
  ["a head of more than 16 KiB", () => send({ extra: `x-a: ${"a".repeat(20_000)}` }), [431]],
  ["a type with parameters", () => send({ extra: "content-type: text/plain" }), [200, 200]],
  ["noise", () => "\u0016\u0003\u0001\u0002\u0000\u0001\r\n\r\n", [400]],
]; // prettier-ignore

  describe("a request that could be read in two ways", () => {
    test.each(AMBIGUOUS)(
      "(%s) is answered as Node reads it, and what it hides is not taken",
      async (_name, make, statuses) => {
        const answers = await converse(Buffer.from(make() + GOODBYE, "latin1"));
        expect(statusesOf(answers)).toEqual(statuses);
        expect(answers.map(alike)).toEqual(
          (await converseOrdinarily(Buffer.from(make() + GOODBYE, "latin1"))).map(alike),
        );
        // Behind ordinary ones that are still being answered it is read no differently.
        const behind = await converse(Buffer.from(send() + send() + make() + GOODBYE, "latin1"));
        expect(statusesOf(behind)).toEqual([200, 200, ...statuses]);
        const { body } = await house.ask<{ data: MessageBody[] }>("GET", `/v1/messages?recipient=${HIDDEN}`);
        expect(body.data).toEqual([]);
      },
    );
  });

  describe("a client that leaves", () => {
    test("in the middle of a body, before an answer or in the middle of many does no harm", async () => {
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
      expect((await house.send()).status).toBe(200);
    });

    test("after the end of its own side is still answered all that it asked", async () => {
      const socket = await open();
      const heard = hearAll(socket);
      const { store } = house.app;
      const accept = store.accept.bind(store);
      const finished = once(socket, "finish");
      // No answer before the end has been heard: one that is quicker does not know yet that it is the last.
      const held = vi.spyOn(store, "accept").mockImplementation(async (...batch) => {
        await finished;
        // It is heard once the server has answered another.
        await house.ask("GET", "/healthz");
        return accept(...batch);
      });
      socket.end(send() + send());
      const answers = await heard;
      held.mockRestore();
      expect(statusesOf(answers)).toEqual([200, 200]);
      expect(answers.map((answer) => answer.headers["connection"])).toEqual([expect.any(String), "close"]);
      const mixed = await open();
      const mixedHeard = hearAll(mixed);
      mixed.end(send() + send() + GOODBYE);
      expect(statusesOf((await mixedHeard).slice(0, 2))).toEqual([200, 200]);
    });

    test("in the middle of a body gets its earlier answers and then a 400", async () => {
      const socket = await open();
      const heard = hearAll(socket);
      socket.end(send() + send().slice(0, -5));
      expect(statusesOf(await heard)).toEqual([200, 400]);
    });
  });

  describe("a stop", () => {
    test("lets go of idle connections at once, and answers what has begun with a close", async () => {
      const stopped = await openHouse("sqlite", wishes);
      const idle = await open(stopped.url);
      const idleHeard = hearAll(idle);
      idle.write(send({ key: stopped.key }));
      await once(idle, "data");
      const begun = await open(stopped.url);
      const begunHeard = hearAll(begun);
      const bytes = Buffer.from(send({ key: stopped.key }));
      // In one piece: whoever has answered the first has read what there is of the second.
      begun.write(Buffer.concat([bytes, bytes.subarray(0, -5)]));
      await once(begun, "data");
      const closed = stopped.close();
      expect((await idleHeard).map((answer) => answer.headers["connection"])).toEqual(["keep-alive"]);
      begun.write(bytes.subarray(-5));
      expect((await begunHeard).map(({ status, headers }) => [status, headers["connection"]])).toEqual([
        [200, "keep-alive"],
        [200, "close"],
      ]);
      await closed;
    });

    test("answers a short link that is being looked up with a close", async () => {
      const stopped = await openHouse("sqlite", wishes);
      const { promise, resolve } = Promise.withResolvers<null[]>();
      const lookup = vi.spyOn(stopped.app.store, "findLinks").mockReturnValue(promise);
      const socket = await open(stopped.url);
      const heard = hearAll(socket);
      socket.write(ask());
      await eventually(() => lookup.mock.calls.length, (calls) => calls === 1); // prettier-ignore
      const closed = stopped.close();
      resolve([null]);
      expect((await heard).map(({ status, headers }) => [status, headers["connection"]])).toEqual([[404, "close"]]);
      await closed;
    });

    test("does not wait for ever for a body that never comes, nor for a client that never asks", async () => {
      const stopped = await openHouse("sqlite", wishes);
      const silent = await open(stopped.url);
      const half = await open(stopped.url);
      half.write(send({ key: stopped.key }).slice(0, -5));
      const heard = Promise.all([hearAll(silent), hearAll(half)]);
      // They are there once the server has answered another.
      await stopped.ask("GET", "/healthz");
      await stopped.close();
      expect(await heard).toEqual([[], []]);
    });
  });
});

describe("on connections of its own,", () => {
  beforeAll(() => enter());
  afterAll(() => tenants.close());

  describe("a client that takes too long", () => {
    let slow: House;
    beforeEach(async () => {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
      slow = await openHouse("sqlite");
    });
    afterEach(async () => {
      await slow.close();
      vi.useRealTimers();
    });
    const say = async (bytes: string): Promise<{ heard: Promise<Heard[]>; socket: Socket }> => {
      const socket = await open(slow.url);
      const heard = hearAll(socket);
      socket.write(bytes);
      await turn();
      await turn();
      return { heard, socket };
    };

    test("to say anything is cut off with a 408 after 10 s", async () => {
      const { heard, socket } = await say("");
      // It is there once the server has answered another.
      await slow.ask("GET", "/healthz");
      vi.advanceTimersByTime(9000);
      expect((await slow.ask("GET", "/healthz")).status).toBe(200);
      expect(socket.readyState).toBe("open");
      vi.advanceTimersByTime(3000);
      expect(statusesOf(await heard)).toEqual([408]);
    });

    test("over a body is cut off with a 408 after 30 s, however it drips", async () => {
      const { heard, socket } = await say(send({ key: slow.key }).slice(0, -30));
      for (let second = 0; second < 29; second += 1) {
        socket.write("x");
        await turn();
        vi.advanceTimersByTime(1000);
      }
      expect(socket.readyState).toBe("open");
      vi.advanceTimersByTime(3000);
      expect(statusesOf(await heard)).toEqual([408]);
    });

    test("over the body of a refused request is cut off without another word", async () => {
      const { heard } = await say(send({ key: "hg_live_wrong" }).slice(0, -5));
      vi.advanceTimersByTime(32_000);
      expect(statusesOf(await heard)).toEqual([401]);
    });

    test("to ask again is let go after 65 s, and not before", async () => {
      const { heard, socket } = await say(send({ key: slow.key }));
      await once(socket, "data");
      vi.advanceTimersByTime(60_000);
      socket.write(send({ key: slow.key }));
      await once(socket, "data");
      vi.advanceTimersByTime(67_000);
      expect(statusesOf(await heard)).toEqual([200, 200]);
    });
  });

  /** The door before a server of our own, which tells what it was asked, through whichever door. */
  async function openStub(
    handle: (call: SendCall) => Promise<string>,
    onRefused: (code: string) => void = () => {},
    follow: Follow["follow"] = async () => ({ kind: "found", url: TARGET }),
    { porter = false } = {},
  ) {
    const route = { express: true, method: "POST", path: "/v1/sms", family: "send", scope: "sms" };
    const credentialOf = (secret: string) =>
      ({
        key: { scopes: ["sms"] },
        actor: { name: secret },
        account: {},
        networks: null,
        bucket: null,
      }) as unknown as Credential;
    const keyring = { find: credentialOf } as unknown as Admission["keyring"];
    const admission = { keyring, clock: systemClock, badKeys: new MinuteCounter() };
    const ordinary = (asked: IncomingMessage, response: ServerResponse): void => {
      let body = "";
      asked.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      asked.on("end", () => {
        const { headers, url = "", method = "" } = asked;
        const code = /^\/(?:s\/)?([1-9A-HJ-NP-Za-km-z]{7})(?:\?.*)?$/.exec(url)?.[1];
        if (code !== undefined && method === "GET") {
          void follow(code, headers["user-agent"], method);
          response.end("ordinary");
          return;
        }
        const caller = authenticate(admission, { headers, address: "" }, "sms", () => {});
        try {
          const seen = { "idempotency-key": headers["idempotency-key"] };
          void handle({ headers: seen, body: JSON.parse(body), caller, setHeader: () => {} });
        } catch {
          onRefused("INVALID_JSON");
        }
        response.end("ordinary");
      });
    };
    const door = putExpressDoorBefore(
      createHttpServer(ordinary),
      {
        services: {
          clock: systemClock,
          stopping: new AbortController().signal,
          accepting: { doorstep: { isShut: () => false } },
          meters: { refused: (code: string) => ({ inc: () => onRefused(code) }) },
          baseUrl: () => "",
          links: { follow },
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
    const server = porter ? putPorterBefore(door, () => {}) : door;
    server.listen({ port: 0, host: "127.0.0.1" });
    await once(server, "listening");
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      async close() {
        server.close();
        server.closeAllConnections();
        await once(server, "close");
      },
    };
  }

  test(
    "both doors read the same requests out of the same bytes, however these are broken",
    { timeout: 120_000 },
    async () => {
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
      /** What the server reads out of the bytes, on a connection that has already said something or not. */
      const readBy = async (bytes: Buffer, said: string): Promise<unknown[]> => {
        seen = [];
        const socket = await open(stub.url);
        const heard = new Promise((resolve) => socket.on("error", () => undefined).on("close", resolve));
        if (said !== "") {
          socket.write(said);
          await once(socket, "data");
        }
        seen = [];
        socket.resume().write(bytes);
        await heard;
        return seen;
      };
      // However much of it a broken length takes, in the end this is no request, and the line is closed.
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
            const links = [`/s/${found}`, `/${found}`].map((path) => ask({ path, agent: "a b" }));
            let bytes = links.join(send({ extra: "Idempotency-Key: i" })) + send({ key: "k", extra: "x-a: b" });
            for (const { at, cut, put } of breaks) {
              const from = at % bytes.length;
              bytes = bytes.slice(0, from) + put + bytes.slice(from + cut);
            }
            const raw = Buffer.from(bytes + end, "latin1");
            expect(await readBy(raw, "")).toEqual(await readBy(raw, HEALTHZ));
          }),
          { numRuns: 1000 },
        );
      } finally {
        await stub.close();
      }
    },
  );

  test("the clients that customers have come through the express door", async () => {
    const stub = await openStub(async () => '"express"');
    const headers = { apikey: "k", "content-type": "application/json", "idempotency-key": "i" };
    const byFetch = await (await fetch(`${stub.url}/v1/sms`, { method: "POST", headers, body: BODY })).text();
    const { promise, resolve } = Promise.withResolvers<string>();
    const asked = request(`${stub.url}/v1/sms`, { method: "POST", headers }, (answer) =>
      answer.setEncoding("utf8").on("data", resolve),
    );
    asked.setHeader("content-length", Buffer.byteLength(BODY)).end(BODY);
    expect([byFetch, await promise]).toEqual(['"express"', '"express"']);
    const link = await fetch(`${stub.url}/s/${found}`, { redirect: "manual", headers: { "user-agent": PHONE } });
    expect([link.status, link.headers.get("location")]).toEqual([302, TARGET]);
    await stub.close();
  });

  describe.each(HOLDERS)("on a connection that %s, a client that asks without reading", (_holder, wishes) => {
    let stub: Awaited<ReturnType<typeof openStub>>;
    let waiting: (() => void)[] = [];
    const ANSWER = `"${"x".repeat(200_000)}"`;
    beforeEach(async () => {
      waiting = [];
      stub = await openStub(
        () => new Promise((resolve) => waiting.push(() => resolve(ANSWER))),
        undefined,
        undefined,
        wishes,
      );
    });
    afterEach(() => stub.close());
    const answerAll = (): number => {
      const due = waiting.splice(0);
      for (const answer of due) answer();
      return due.length;
    };
    const turns = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i += 1) await turn();
    };

    test("is not listened to while 32 answers are due, nor while earlier ones are unread", async () => {
      const count = 250;
      const socket = await open(stub.url);
      socket.write(send().repeat(count));
      await eventually(() => waiting.length, (due) => due === 32); // prettier-ignore
      await turns(20);
      expect(waiting.length).toBe(32);

      // Answered but unread, they fill the line, and then no more is asked of the handler.
      let answered = 0;
      for (let due = answerAll(); due > 0; due = answerAll()) {
        answered += due;
        await turns(50);
      }
      expect(answered).toBeLessThan(count);

      let read = 0;
      socket.on("data", (chunk: Buffer) => (read += chunk.length));
      await eventually(
        () => {
          answered += answerAll();
          return read;
        },
        (bytes) => bytes > count * ANSWER.length,
      );
      expect(answered).toBe(count);
      socket.destroy();
    });

    test("for short links is not listened to either while 32 answers are due", async () => {
      const links = await openStub(
        async () => "{}",
        undefined,
        () => new Promise((resolve) => waiting.push(() => resolve({ kind: "found", url: TARGET }))),
        wishes,
      );
      const socket = await open(links.url);
      const heard = hearAll(socket);
      socket.write(ask().repeat(100) + GOODBYE);
      await eventually(() => waiting.length, (due) => due === 32); // prettier-ignore
      await turns(20);
      let answered = answerAll();
      expect(answered).toBe(32);
      await eventually(() => (answered += answerAll()), (count) => count === 100); // prettier-ignore
      expect(statusesOf(await heard)).toEqual([...Array.from({ length: 100 }, () => 302), 200]);
      await links.close();
    });

    test("and waits for an answer is not cut off, however long that takes", async () => {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
      const patient = await openStub(
        () => new Promise((resolve) => waiting.push(() => resolve("{}"))),
        undefined,
        undefined,
        wishes,
      );
      const socket = await open(patient.url);
      socket.write(send());
      await eventually(() => waiting.length, (due) => due === 1); // prettier-ignore
      vi.advanceTimersByTime(600_000);
      answerAll();
      expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 200 /);
      await patient.close();
      vi.useRealTimers();
    });

    test("gets the ordinary door's answer only after those that were due before it", async () => {
      const socket = await open(stub.url);
      const heard = hearAll(socket);
      socket.write(send() + send() + GOODBYE);
      await eventually(() => waiting.length, (due) => due === 2); // prettier-ignore
      waiting[1]?.();
      await turns(20);
      expect(socket.bytesRead).toBe(0);
      waiting[0]?.();
      expect((await heard).map((answer) => answer.body.length)).toEqual([
        ANSWER.length,
        ANSWER.length,
        "ordinary".length,
      ]);
    });
  });
});
