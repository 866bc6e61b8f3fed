import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { MovedClock } from "../support/moved-clock.ts";
import {
  startTestServer,
  type Envelope,
  type ErrorBody,
  type TestServer,
  type MessageBody,
} from "../support/test-server.ts";

const PATHS = [
  ["the fast path", "on"],
  ["the ordinary path", "off"],
] as const;

interface Failure {
  error: ErrorBody;
}

describe.each(PATHS)("a body on %s", (_path, fastPath) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer("sqlite", {
      env: { HELIOGRAPH_HTTP_FAST_PATH: fastPath, HELIOGRAPH_BODY_MAX_MB: "1" },
    });
  });
  afterAll(() => server.close());

  const sms = (text: string): string => JSON.stringify({ sender: "HELIOG", to: "15550100100", text, type: "TRANS" });

  const post = (body: string | Buffer, headers: Record<string, string> = {}, path = "/v1/sms"): Promise<Response> =>
    fetch(server.url + path, {
      method: "POST",
      headers: { apikey: server.key, "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : new Uint8Array(body),
    });

  /** The text as it is stored after a send. */
  async function storedText(body: string | Buffer, headers: Record<string, string> = {}): Promise<string> {
    const sent = await post(body, headers);
    expect(sent.status).toBe(200);
    const { data } = (await sent.json()) as Envelope;
    const read = await server.request<MessageBody>("GET", `/v1/messages/${data[0]?.messageId}`);
    expect(read.status).toBe(200);
    return read.body.text;
  }

  /** The status, code and message of a failure. */
  async function refusal(...request: Parameters<typeof post>): Promise<[number, string, string]> {
    const refused = await post(...request);
    const { error } = (await refused.json()) as Failure;
    return [refused.status, error.code, error.message];
  }

  const NOT_UTF8 = [400, "INVALID_JSON", expect.stringMatching("UTF-8")];
  const TOO_LARGE = [413, "BODY_TOO_LARGE", expect.stringMatching("large")];

  test.each(["/v1/sms", "/v1/sms/preview", "/v1/verify", "/api/senders"])(
    "for %s that is not UTF-8 is refused and never repaired",
    async (path) => {
      expect(await refusal(Buffer.from(sms("Gr\u00fc\u00dfe"), "latin1"), {}, path)).toEqual(NOT_UTF8);
      expect(await refusal(Buffer.concat([Buffer.from('{"sender":"'), Buffer.of(0xed, 0xa0, 0x80), Buffer.from('"}')]), {}, path)).toEqual(NOT_UTF8);
      expect(await refusal(Buffer.from(sms("cut").slice(0, -2) + "\u20ac").subarray(0, -1), {}, path)).toEqual(NOT_UTF8);
      expect(await refusal(Buffer.from(`\ufeff${sms("a")}`, "utf16le"), {}, path)).toEqual(NOT_UTF8);
    },
  ); // prettier-ignore

  test("in UTF-8 arrives unchanged, including the replacement character", async () => {
    const text = "Gr\u00fc\u00dfe \u20ac \ud83d\ude00 \ufffd";
    expect(await storedText(sms(text))).toBe(text);
    expect(await storedText(sms(text), { "content-type": "application/json; charset=utf-8" })).toBe(text);
    expect(await storedText(sms(text), { "content-type": 'application/json;charset="UTF-8"' })).toBe(text);
    expect(await storedText(sms(text), { "content-type": "application/json; version=1" })).toBe(text);
  });

  test.each(["latin1", "iso-8859-1", "utf-16", '"windows-1252"', "utf-8x", "us-ascii"])(
    "with the charset %s is 415, whatever its bytes are",
    async (charset) => {
      expect(
        await refusal(sms("a"), {
          "content-type": `application/json; charset=${charset}`,
        }),
      ).toEqual([415, "UNSUPPORTED_MEDIA_TYPE", expect.stringMatching("charset")]);
    },
  );

  test("that begins with a byte order mark is refused with that reason", async () => {
    expect(await refusal(`\ufeff${sms("a")}`)).toEqual([400, "INVALID_JSON", expect.stringMatching("byte order mark")]);
  });

  test.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
    ["GZIP", gzipSync],
    ["identity", Buffer.from],
  ] as const)("in the encoding %s is decoded", async (encoding, encode) => {
    const text = "Gr\u00fc\u00dfe in few bytes";
    expect(await storedText(encode(Buffer.from(sms(text))), { "content-encoding": encoding })).toBe(text);
  });

  test("that exceeds 1 MiB after decompression is refused as too large", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1_048_576, " "));
    expect(bomb.length).toBeLessThan(100_000);
    expect(
      await refusal(bomb, {
        "content-encoding": "gzip",
      }),
    ).toEqual(TOO_LARGE);
    const exact = sms("a").padEnd(1_048_576, " ");
    expect(await storedText(gzipSync(exact), { "content-encoding": "gzip" })).toBe("a");
    expect(
      await refusal(gzipSync(`${exact} `), {
        "content-encoding": "gzip",
      }),
    ).toEqual(TOO_LARGE);
  });

  test("whose bytes do not match its Content-Encoding is refused", async () => {
    const invalid = [400, "INVALID_JSON", expect.stringMatching("Content-Encoding")];
    expect(await refusal(sms("a"), { "content-encoding": "gzip" })).toEqual(invalid);
    expect(await refusal(gzipSync(sms("a")).subarray(0, -9), { "content-encoding": "gzip" })).toEqual(invalid);
    expect(await refusal(gzipSync(Buffer.from(sms("\u00fc"), "latin1")), { "content-encoding": "gzip" })).toEqual(
      NOT_UTF8,
    );
  });

  test.each(["br", "zstd", "gzip, gzip", "compress", "gzip, br"])(
    "in the encoding %s is 415, and the answer names those that are read",
    async (encoding) => {
      const refused = await post(brotliCompressSync(sms("a")), { "content-encoding": encoding });
      const { error } = (await refused.json()) as Failure;
      expect([refused.status, error.code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
      expect([error.parameter, refused.headers.get("accept-encoding")]).toEqual([
        "Content-Encoding",
        "gzip, deflate, identity",
      ]);
    },
  );

  test("may be omitted with a JSON content type if the operation has none", async () => {
    const headers = { "content-type": "application/json" };
    const made = await server.request<{ id: string }>("POST", "/api/senders", { name: `TMP${fastPath}` });
    expect(made.status).toBe(201);
    expect((await server.request("DELETE", `/api/senders/${made.body.id}`, undefined, headers)).status).toBe(200);
    expect((await server.send({ campaignName: "spring", sendAt: Date.now() + 3_600_000 })).status).toBe(200);
    const { body } = await server.request<{ data: { id: string; name: string }[] }>("GET", "/api/campaigns");
    const id = body.data.find(({ name }) => name === "spring")?.id;
    for (const action of ["pause", "resume", "cancel"]) {
      const { status } = await server.request("POST", `/api/campaigns/${id}/${action}`, undefined, headers);
      expect([action, status]).toEqual([action, 200]);
    }
  });

  test("is required with a JSON content type if the operation has one", async () => {
    for (const path of ["/v1/sms", "/v1/sms/preview", "/api/senders"])
      expect(await refusal("", {}, path)).toEqual([400, "INVALID_JSON", expect.stringMatching("JSON")]);
  });

  test("of a carrier callback must not be compressed, because its signature covers the received bytes", async () => {
    const carrier = await server.request<{ id: string; callbackUrl: string }>("POST", "/api/carriers", WEBHOOK_CARRIER);
    expect(carrier.status).toBe(201);
    const answer = await fetch(`${server.url}/hooks/${carrier.body.id}`, {
      method: "POST",
      headers: { "content-encoding": "gzip" },
      body: gzipSync("{}"),
    });
    expect([answer.status, ((await answer.json()) as Failure).error.code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
  });

  test("that ends early leaves no state behind", async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.write(`POST /v1/sms HTTP/1.1\r\nhost: x\r\napikey: ${server.key}\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 100\r\n\r\nhalf`);
    socket.end();
    let heard = "";
    socket.setEncoding("latin1").on("data", (chunk: string) => (heard += chunk));
    await once(socket, "close");
    expect(heard).not.toContain("200 OK");
  }); // prettier-ignore
});

const WEBHOOK_CARRIER = {
  name: "gateway",
  adapter: "http",
  http: {
    preset: "kannel",
    baseUrl: "http://127.0.0.1:1",
    values: { username: "heliograph" },
    secrets: { password: "secret" },
  },
};

describe.each(PATHS)("the memory of bodies on %s", (_path, fastPath) => {
  const MIB = 1_048_576;
  const ACCEPT_WAIT_MS = 1500;
  let server: TestServer;
  let clock: MovedClock;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    clock = new MovedClock();
    const env = {
      HELIOGRAPH_HTTP_FAST_PATH: fastPath,
      HELIOGRAPH_BODY_MAX_MB: "1",
      HELIOGRAPH_BODY_MEMORY_MB: "16",
      HELIOGRAPH_ACCEPT_WAIT_MS: String(ACCEPT_WAIT_MS),
    };
    server = await startTestServer("sqlite", { clock, env });
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(() => server.close());

  /** A send of 1 MiB that lacks its last byte. */
  async function beginSend(bytes: number): Promise<Socket> {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) }).on("error", () => undefined);
    sockets.push(socket);
    const head = `POST /v1/sms HTTP/1.1\r\nhost: x\r\napikey: ${server.key}\r\ncontent-type: application/json\r\ncontent-length: ${MIB}\r\n\r\n`;
    await once(socket, "connect");
    socket.write(head);
    socket.write(sendBody().slice(0, bytes));
    return socket;
  }

  const sendBody = (): string =>
    JSON.stringify({ sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" }).padEnd(MIB, " ");

  const heldBytes = async (): Promise<number> => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^heliograph_http_body_bytes (\S+)/m.exec(metrics)?.[1]);
  };

  const waiting = async (): Promise<number> => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^heliograph_requests_waiting (\S+)/m.exec(metrics)?.[1]);
  };

  const large = (): Promise<Response> =>
    fetch(`${server.url}/v1/sms`, {
      method: "POST",
      headers: { apikey: server.key, "content-type": "application/json" },
      body: sendBody(),
    });

  test("a large send over the body budget gets 503 with Retry-After after the configured time; a small one is accepted", async () => {
    const holding = await Promise.all([1, 2, 3].map(() => beginSend(MIB - 1)));
    await eventually(heldBytes, (bytes) => bytes >= 3 * MIB);
    const refused = large();
    await eventually(waiting, (count) => count === 1);
    expect((await server.send()).status).toBe(200);
    clock.advance(ACCEPT_WAIT_MS - 1);
    expect((await server.send()).status).toBe(200);
    expect(await waiting()).toBe(1);
    clock.advance(1);
    const response = await refused;
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
    for (const socket of holding) socket.write("}");
    for (const socket of holding) socket.destroy();
    await eventually(heldBytes, (bytes) => bytes < 10_000);
  });

  test("a client that does not send its body uses no share of the body budget", async () => {
    await Promise.all([1, 2, 3].map(() => beginSend(10)));
    await eventually(heldBytes, (bytes) => bytes >= 3 * MIB);
    let done = false;
    const sent = large().then((response) => {
      done = true;
      return response;
    });
    await eventually(waiting, (count) => count === 1);
    await advanceUntil(() => done);
    expect((await sent).status).toBe(200);
  });

  const advanceUntil = (isDone: () => boolean): Promise<unknown> =>
    eventually(
      () => {
        if (!isDone()) clock.advance(50);
        return isDone();
      },
      (ended) => ended,
    );

  test("a chunked body counts as it arrives and is refused where it exceeds the budget", async () => {
    const holding = await Promise.all([1, 2, 3].map(() => beginSend(MIB - 1)));
    await eventually(heldBytes, (bytes) => bytes >= 3 * MIB);
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) }).on("error", () => undefined);
    sockets.push(socket);
    let received = "";
    socket.setEncoding("utf8").on("data", (text: string) => (received += text));
    socket.write(
      `POST /v1/sms HTTP/1.1\r\nhost: x\r\napikey: ${server.key}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    for (let chunk = 0; chunk < 15; chunk += 1) socket.write(`10000\r\n${" ".repeat(65_536)}\r\n`);
    const second = connect({ host: hostname, port: Number(port) }).on("error", () => undefined);
    sockets.push(second);
    second.write(
      `POST /v1/sms HTTP/1.1\r\nhost: x\r\napikey: ${server.key}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    let other = "";
    second.setEncoding("utf8").on("data", (text: string) => (other += text));
    for (let chunk = 0; chunk < 15; chunk += 1) second.write(`10000\r\n${" ".repeat(65_536)}\r\n`);
    const refusal = await eventually(
      async () => received + other,
      (text) => text.includes("OVERLOADED"),
    );
    expect(refusal).toMatch(/HTTP\/1\.1 503 .*retry-after: 2/is);
    for (const each of holding) each.destroy();
  });
});

describe.each(PATHS)("the largest send on %s", (_path, fastPath) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer("sqlite", { env: { HELIOGRAPH_HTTP_FAST_PATH: fastPath } });
  });
  afterAll(() => server.close());

  test("has 1,000 recipients with 1,600 characters each, all escaped", async () => {
    const made = await server.request("POST", "/api/templates", { channel: "sms", name: "largest", text: "{#var#}" });
    expect(made.status).toBe(201);
    const recipients = Array.from({ length: 1000 }, (_, index) => ({
      to: `1555010${1000 + index}`,
      custom: ["a".repeat(1600)],
    }));
    const body = JSON.stringify({ sender: "HELIOG", type: "TRANS", templateId: "largest", recipients }).replaceAll(
      "a".repeat(1600),
      "\\u0061".repeat(1600),
    );
    expect(body.length).toBeGreaterThan(9_600_000);
    const sent = await fetch(`${server.url}/v1/sms`, {
      method: "POST",
      headers: { apikey: server.key, "content-type": "application/json" },
      body,
    });
    expect(sent.status).toBe(200);
    expect(((await sent.json()) as Envelope).totalCount).toBe(1000);
  });
});
