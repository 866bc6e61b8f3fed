import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { request } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PENDING_MAX } from "../../src/http/connection-limits.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { startServer } from "../support/server-process.ts";

const ROOT = join(import.meta.dirname, "../..");
const CONNECTION_OWNERS = [
  ["the event loop owns", { connectionThread: false }],
  ["the connection thread owns", { connectionThread: true }],
] as const;

let own: TestServer | null = null;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await own?.close();
  own = null;
});

/** The server must be idle for five seconds, and other tests may take its CPU. */
const RELEASED_WITHIN_MS = 500_000;

/** Starts a server of the test's own. */
async function start(given: Parameters<typeof startTestServer>[1]): Promise<TestServer> {
  own = await startTestServer("sqlite", given);
  return own;
}

/** A server that the tests of one group share; before each of them, all earlier requests have ended. */
function sharedServer(given: Parameters<typeof startTestServer>[1] = {}): () => TestServer {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer("sqlite", given);
  });
  beforeEach(async () => {
    await eventually(
      () => pending(server.url),
      (count) => count === 1,
    );
  });
  afterAll(() => server.close());
  return () => server;
}

/** A client that asks and does not read. */
async function open(url: string, bytes = ""): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.on("error", () => undefined).pause();
  sockets.push(socket);
  await once(socket, "connect");
  socket.write(bytes);
  return socket;
}

const get = (path: string, more = ""): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n${more}\r\n`;

async function gauge(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

const pending = (url: string): Promise<number> => gauge(url, "heliograph_http_pending_requests");
const buffered = (url: string): Promise<number> => gauge(url, "heliograph_http_buffered_bytes");

/** The statuses of all answers, once so many have come. */
async function readStatuses(socket: Socket, count: number): Promise<number[]> {
  const statuses: number[] = [];
  let rest = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    rest += chunk;
    for (const [, status] of rest.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z][A-Za-z ]*\r\n/g)) statuses.push(Number(status));
    rest = rest.slice(Math.max(rest.lastIndexOf("\r\n") + 2, rest.length - 60));
  });
  socket.resume();
  return eventually(
    async () => statuses,
    (seen) => seen.length >= count,
  );
}

describe.each(CONNECTION_OWNERS)("on connections that %s,", (_owner, wishes) => {
  const server = sharedServer(wishes);

  test("a client that pipelines without reading has at most 32 pending requests, and gets their responses in order", async () => {
    const { url } = server();
    // The kernel takes the first responses, so a connection that is paused may have a few less than its limit.
    const clients = await Promise.all(Array.from({ length: 4 }, () => open(url, get("/openapi.json").repeat(100))));
    await eventually(
      () => pending(url),
      (count) => count > 2 * PENDING_MAX,
    );
    // The request that reads the figure is pending itself; a burst that was let through would show at once.
    for (let looks = 0; looks < 10; looks += 1) expect(await pending(url)).toBeLessThanOrEqual(4 * PENDING_MAX + 1);
    const statuses = await readStatuses(clients[0] as Socket, 100);
    expect(statuses).toEqual(Array.from({ length: 100 }, () => 200));
  });

  test("mixed requests in one burst get complete responses in order", async () => {
    const { url, key } = server();
    const body = JSON.stringify({ sender: "HELIOG", to: "15550100100", text: "a\r\n\r\nGET / HTTP/1.1\r\n\r\n", type: "TRANS" });
    const post = (path: string): string =>
      `POST ${path} HTTP/1.1\r\nhost: x\r\napikey: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const burst = [get("/docs"), post("/v1/sms/preview"), get("/nowhere"), post("/v1/sms"), get("/healthz"), "DELETE /v1/sms HTTP/1.1\r\nhost: x\r\n\r\n"];
    const client = await open(url, burst.join("").repeat(60));
    const statuses = await readStatuses(client, 360);
    expect(statuses).toEqual(Array.from({ length: 60 }, () => [200, 200, 404, 200, 200, 405]).flat());
    expect(await pending(url)).toBe(1);
    expect(await buffered(url)).toBe(0);
  }); // prettier-ignore

  test("a shared body takes no memory per client that does not read it", async () => {
    const { url } = server();
    await Promise.all(Array.from({ length: 8 }, () => open(url, get("/openapi.json").repeat(100))));
    await eventually(
      () => pending(url),
      (count) => count > 4 * PENDING_MAX,
    );
    expect(await buffered(url)).toBe(0);
  });

  test("over the limit of buffered bytes reads are refused, sends and health are not, and stalled clients are disconnected", async () => {
    // No client counts as stalled while the clock stands still.
    const clock = new MovedClock();
    const { url, key, request: ask, send } = await start({ ...wishes, clock, env: { HELIOGRAPH_HTTP_BUFFER_MB: "1" } });
    const to = Array.from({ length: 200 }, (_, index) => String(15550100000 + index));
    expect((await send({ to, text: "x".repeat(1500) })).status).toBe(200);
    const list = get("/v1/messages?limit=200", `apikey: ${key}\r\n`);
    const stalled = await Promise.all(Array.from({ length: 3 }, () => open(url, list.repeat(60))));
    const refused = await eventually(
      () => {
        // The kernel takes some megabytes of responses, so the clients go on until it takes no more.
        for (const socket of stalled) socket.write(list);
        return ask<{ error: { code: string } }>("GET", "/v1/messages?limit=200");
      },
      // On a busy machine, lists may be refused before because too many wait.
      ({ status, body }) => status === 503 && body.error.code !== "QUERY_QUEUE_FULL",
    );
    expect([refused.body.error.code, refused.headers.get("retry-after")]).toEqual(["OVERLOADED", "2"]);
    expect(await buffered(url)).toBeLessThanOrEqual(1_048_576 + 3 * PENDING_MAX * 1024);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await send()).status).toBe(200);
    await eventually(
      () => {
        clock.advance(1000);
        return ask("GET", "/v1/messages?limit=200");
      },
      ({ status }) => status === 200,
    );
    for (const socket of stalled) socket.destroy();
    await eventually(
      () => buffered(url),
      (bytes) => bytes === 0,
    );
    expect(await pending(url)).toBe(1);
  });

  test("a client that reads nothing of its response for a minute is disconnected", async () => {
    const clock = new MovedClock();
    const { url } = await start({ ...wishes, clock });
    const stalled = await open(url, get("/openapi.json").repeat(100));
    const closed = once(stalled, "close");
    await eventually(
      () => pending(url),
      (count) => count > PENDING_MAX,
    );
    const advancing = setInterval(() => clock.advance(20_000), 500);
    try {
      await eventually(
        () => pending(url),
        (count) => count === 1,
      );
    } finally {
      clearInterval(advancing);
    }
    stalled.resume();
    await closed;
    expect(stalled.destroyed).toBe(true);
  });

  test("a callback for an unknown carrier is refused before its body is read", async () => {
    const { url } = server();
    const head =
      "POST /hooks/0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47 HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n";
    expect(await readStatuses(await open(url, head), 1)).toEqual([404]);
  });

  test("a login body has at most 16 KiB", async () => {
    const { url } = server();
    const head =
      "POST /api/session HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 16385\r\n\r\n";
    expect(await readStatuses(await open(url, head), 1)).toEqual([413]);
  });
});

describe("shared bodies", () => {
  const server = sharedServer();

  interface Answer {
    status: number;
    headers: Record<string, string | string[] | undefined>;
    body: Buffer;
  }

  const ask = (url: string, headers: Record<string, string>, method = "GET"): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const asked = request(url, { method, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
        );
      });
      asked.on("error", reject);
      asked.end();
    });

  test.each(["/docs", "/docs/reference", "/docs/reference/sms", "/docs/errors/INVALID_JSON", "/docs/search.json", "/openapi.json"])(
    "%s is compressed as its client wishes, and not sent again to a client that has it",
    async (path) => {
      const { url } = server();
      const plain = await ask(url + path, {});
      expect([plain.status, plain.headers["content-encoding"], plain.headers["vary"]]).toEqual([200, undefined, "accept-encoding"]);
      const br = await ask(url + path, { "accept-encoding": "gzip, deflate, br" });
      expect([br.status, br.headers["content-encoding"], brotliDecompressSync(br.body).equals(plain.body)]).toEqual([200, "br", true]);
      const gzip = await ask(url + path, { "accept-encoding": "br;q=0, gzip;q=0.5" });
      expect([gzip.status, gzip.headers["content-encoding"], gunzipSync(gzip.body).equals(plain.body)]).toEqual([200, "gzip", true]);
      const etag = String(plain.headers["etag"]);
      expect([br.headers["etag"], gzip.headers["etag"]]).toEqual([etag, etag]);
      for (const known of [etag, `"other", ${etag}`, etag.replace("W/", ""), "*"]) {
        const again = await ask(url + path, { "if-none-match": known });
        expect([again.status, again.body.length, again.headers["etag"], again.headers["cache-control"]]).toEqual([304, 0, etag, "public, max-age=60"]);
      }
      expect((await ask(url + path, { "if-none-match": '"other"' })).status).toBe(200);
      const head = await ask(url + path, {}, "HEAD");
      expect([head.status, head.headers["content-length"], head.body.length]).toEqual([200, String(plain.body.length), 0]);
    },
  ); // prettier-ignore
});

describe("the memory of a server", () => {
  const memoryMb = (pid: number, field: string): number =>
    Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024);
  const rssMb = (pid: number): number => memoryMb(pid, "VmRSS");

  test(
    "stays within bounds while clients pipeline requests for an asset and do not read",
    { timeout: 600_000 },
    async () => {
      await promisify(execFile)(process.execPath, [join(ROOT, "scripts/build-dashboard.mjs")]);
      const script = (await readdir(join(ROOT, "dashboard/dist/assets"))).find((name) => /^charts.*\.js$/.test(name));
      const server = await startServer();
      try {
        const before = rssMb(server.pid);
        // 8 × 64 KB: with a response in memory for each request these took 3 GB.
        const requests = get(`/assets/${script}`).repeat(1000);
        await Promise.all(Array.from({ length: 8 }, () => open(server.baseUrl, requests)));
        await eventually(
          () => pending(server.baseUrl),
          (count) => count > 4 * PENDING_MAX,
        );
        expect(rssMb(server.pid) - before).toBeLessThan(400);
      } finally {
        await server.cleanup();
      }
    },
  );

  test(
    "returns to within 192 MB of its level before a burst of 200 requests of 1 MB",
    { timeout: 600_000 },
    async () => {
      // As `npm start` starts it: the script passes settings for the C library.
      const server = await startServer({
        entry: "scripts/start.mjs",
        ipc: false,
        env: { HELIOGRAPH_LOG_LEVEL: "info" },
      });
      try {
        const before = rssMb(server.pid);
        // Few messages, so that the server is soon idle: it releases memory only then.
        const to = Array.from({ length: 20 }, (_, index) => String(15_560_000_000 + index));
        const bulk = JSON.stringify({ sender: "HELIOG", type: "PROMO", text: "x".repeat(950), to });
        const head = `POST /v1/sms HTTP/1.1\r\nhost: x\r\napikey: ${server.apiKey}\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n`;
        const clients = await Promise.all(Array.from({ length: 200 }, () => open(server.baseUrl)));
        const answered = clients.map((client) => readStatuses(client, 1));
        for (const client of clients) client.write(head + bulk.padEnd(1_000_000));
        const statuses = (await Promise.all(answered)).flat();
        expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
        expect(memoryMb(server.pid, "VmHWM") - before).toBeGreaterThan(192);
        await eventually(
          () => server.output(),
          (output) => output.includes("memory released"),
          RELEASED_WITHIN_MS,
        );
        await eventually(
          () => rssMb(server.pid) - before,
          (growth) => growth < 192,
        );
      } finally {
        await server.cleanup();
      }
    },
  );
});
