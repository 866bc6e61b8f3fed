import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { issueCertificates } from "../support/certificates.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const HEADER = "PROXY TCP4 203.0.113.7 10.0.0.1 12345 80\r\n";

const open = async (server: TestServer): Promise<Socket> => {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(server.url).port) });
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
};

/** Everything that the server sends until it closes. */
async function readAll(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  // Not once(), which rejects on a reset.
  await new Promise((resolve) => socket.on("error", () => {}).on("close", resolve));
  return text;
}

const logInRequest = (email: string): string => {
  const body = JSON.stringify({ email, password: "password of the owner" });
  return `POST /api/session HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
};

const HEALTH = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

const cookieOf = (answer: string): string => /set-cookie: ([^;]+)/i.exec(answer)?.[1] ?? "";

const auditRequest = (cookie: string): string =>
  `GET /api/audit HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncookie: ${cookie}\r\n\r\n`;

describe.each([
  ["the event loop", false],
  ["the connection thread", true],
])("a server behind a TCP proxy, with connections in %s", (_, connectionThread) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer("sqlite", { env: { HELIOGRAPH_PROXY_PROTOCOL: "127.0.0.0/8" }, connectionThread });
  });
  afterAll(() => server.close());

  const exchange = async (...chunks: readonly string[]): Promise<string> => {
    const socket = await open(server);
    const answer = readAll(socket);
    for (const chunk of chunks) socket.write(chunk, "latin1");
    return answer;
  };

  test("takes the client's address from the header, in one packet or byte by byte", async () => {
    const answer = await exchange(HEADER + logInRequest("admin@localhost"));
    expect(answer).toMatch(/^HTTP\/1.1 200/);
    const audit = await exchange(...HEADER.split(""), auditRequest(cookieOf(answer)));
    expect(audit).toMatch(/^HTTP\/1.1 200/);
    expect(audit).toContain("203.0.113.7");
  });

  test("closes a proxy's connection without a header, with a wrong one, or with one that is too long", async () => {
    expect(await exchange(HEALTH)).toBe("");
    expect(await exchange(`PROXY TCP4 nobody 10.0.0.1 1 2\r\n${HEALTH}`)).toBe("");
    expect(await exchange(`PROXY UNKNOWN ${"x".repeat(200)}`)).toBe("");
  });

  test("answers the health checks of the proxy, which name no client", async () => {
    expect(await exchange(`PROXY UNKNOWN\r\n${HEALTH}`)).toMatch(/^HTTP\/1.1 200/);
  });
});

describe("a server with a list of proxies", () => {
  test("takes a header from elsewhere for malformed HTTP, and plain requests as they are", async () => {
    const server = await startTestServer("sqlite", { env: { HELIOGRAPH_PROXY_PROTOCOL: "10.0.0.0/8" } });
    const forged = await open(server);
    const answer = readAll(forged);
    forged.write(HEADER + HEALTH);
    expect(await answer).toMatch(/^HTTP\/1.1 400/);
    expect((await server.request("GET", "/healthz")).status).toBe(200);
    await server.close();
  });

  test("reads the header before the TLS handshake, and stops although a header never comes", async () => {
    const { ca, cert, key } = issueCertificates();
    const folder = await mkdtemp(join(inject("scratchFolder"), "proxy-"));
    writeFileSync(join(folder, "cert.pem"), cert);
    writeFileSync(join(folder, "key.pem"), key);
    const env = {
      HELIOGRAPH_PROXY_PROTOCOL: "127.0.0.0/8",
      HELIOGRAPH_TLS_CERT_FILE: join(folder, "cert.pem"),
      HELIOGRAPH_TLS_KEY_FILE: join(folder, "key.pem"),
    };
    const server = await startTestServer("sqlite", { env });
    const exchange = async (request: string): Promise<string> => {
      const raw = await open(server);
      raw.write(HEADER);
      const secure = connectTls({ socket: raw, ca, servername: "localhost" });
      const answer = readAll(secure);
      secure.write(request);
      return answer;
    };
    const answer = await exchange(logInRequest("admin@localhost"));
    expect(answer).toMatch(/^HTTP\/1.1 200/);
    expect(await exchange(auditRequest(cookieOf(answer)))).toContain("203.0.113.7");
    const silent = await open(server);
    const closed = once(silent.resume(), "close");
    await server.close();
    await closed;
  });
});
