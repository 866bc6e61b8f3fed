import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { Agent } from "node:https";
import { join } from "node:path";
import { connect as connectTls, type PeerCertificate, type TLSSocket } from "node:tls";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { bind, type BindResult } from "../../src/smpp/client.ts";
import { submitSm } from "../../src/smpp/pdu.ts";
import type { Session } from "../../src/smpp/session.ts";
import { issueCertificates, type Certificates } from "../support/certificates.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { Http2Client, requestOverHttp1, type SecureAnswer } from "../support/secure-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const TO = { ton: 1, npi: 1, address: "15550100100" };
const SMS = { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" };

const tlsEnv = async (pair: Certificates): Promise<Record<string, string>> => {
  const folder = await mkdtemp(join(inject("scratchFolder"), "tls-"));
  const env = { HELIOGRAPH_TLS_CERT_FILE: join(folder, "cert.pem"), HELIOGRAPH_TLS_KEY_FILE: join(folder, "key.pem") };
  writePair(env, pair);
  return env;
};

const writePair = (env: Record<string, string>, { cert, key }: Pick<Certificates, "cert" | "key">): void => {
  writeFileSync(env["HELIOGRAPH_TLS_CERT_FILE"] ?? "", cert);
  writeFileSync(env["HELIOGRAPH_TLS_KEY_FILE"] ?? "", key);
};

const certificateOf = async (url: string, ca: string): Promise<PeerCertificate> => {
  const socket = connectTls({ host: "127.0.0.1", port: Number(new URL(url).port), ca });
  await once(socket, "secureConnect");
  const certificate = socket.getPeerCertificate();
  socket.destroy();
  return certificate;
};

/** Ids, times and the connection differ between two answers to the same request. */
const comparable = ({ status, headers, text }: SecureAnswer) => ({
  status,
  type: headers["content-type"],
  allow: headers.allow,
  text: text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "id").replaceAll(/"requestId":"[^"]*"/g, '"requestId":"…"'),
});

describe.each([
  ["the event loop", false],
  ["the connection thread", true],
])("a server with a certificate, with TLS in %s", (_, connectionThread) => {
  const pair = issueCertificates();
  let env: Record<string, string>;
  let server: TestServer;
  let client: Http2Client;
  beforeAll(async () => {
    env = await tlsEnv(pair);
    server = await startTestServer("sqlite", { env: { ...env, HELIOGRAPH_SMPP_TLS_PORT: "0" }, connectionThread });
    client = new Http2Client(server.url, pair.ca);
  });
  afterAll(async () => {
    client.close();
    await server.close();
  });

  test("measures requests over HTTP/2 like those over HTTP/1.1", async () => {
    const measured = async (): Promise<number> => {
      const { text } = await client.request({ path: "/metrics" });
      const labels = '{family="api",status="4xx"}';
      const line = text
        .split("\n")
        .find((each) => each.startsWith(`heliograph_http_request_duration_seconds_count${labels}`));
      return Number(line?.split(" ")[1] ?? 0);
    };
    const before = await measured();
    await client.request({ path: "/v1/messages" });
    await requestOverHttp1(server.url, { path: "/v1/messages" }, { ca: pair.ca });
    expect(await eventually(measured, (count) => count >= before + 2)).toBe(before + 2);
  });

  test("answers the same over HTTP/1.1 and HTTP/2", async () => {
    expect(server.url).toMatch(/^https:/);
    const json = { apikey: server.key, "content-type": "application/json" };
    const large = JSON.stringify({ ...SMS, to: Array.from({ length: 1000 }, () => SMS.to), text: "x".repeat(900) });
    const requests = [
      { path: "/healthz" },
      { path: "/readyz" },
      { path: "/openapi.json", headers: { "accept-encoding": "identity" } },
      { method: "HEAD", path: "/healthz" },
      { path: "/v1/messages" },
      { path: "/v1/messages/none", headers: { apikey: server.key } },
      { path: "/nowhere" },
      { method: "DELETE", path: "/v1/sms", headers: { apikey: server.key } },
      { method: "POST", path: "/v1/sms", headers: json, body: JSON.stringify(SMS) },
      { method: "POST", path: "/v1/sms", headers: json, body: "{" },
      { method: "POST", path: "/v1/sms", headers: json, body: JSON.stringify({ ...SMS, to: 7 }) },
      {
        method: "POST",
        path: "/v1/sms",
        headers: { ...json, "content-encoding": "gzip" },
        body: gzipSync(JSON.stringify(SMS)),
      },
      { method: "POST", path: "/v1/sms", headers: { ...json, "content-type": "text/plain" }, body: "x" },
      { method: "POST", path: "/v1/sms", headers: json, body: large },
      { method: "POST", path: "/v1/sms", headers: { ...json, "content-length": "999999999" }, body: "x" },
    ];
    for (const request of requests.slice(0, -1)) {
      const first = await requestOverHttp1(server.url, request, pair);
      const second = await client.request(request);
      expect(comparable(second)).toEqual(comparable(first));
    }
    const { status } = await client.request(requests.at(-1) ?? { path: "/" }).catch(() => ({ status: 413 }));
    expect(status).toBe(413);
    expect((await client.request({ path: "/healthz" })).status).toBe(200);
  });

  test("streams events over HTTP/2, beside other requests of the same connection", async () => {
    const stream = client.session.request({ ":path": "/api/live", apikey: server.key });
    let text = "";
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    await eventually(
      () => Promise.resolve(text),
      (received) => received.includes(": open"),
    );
    const sent = await client.request({
      method: "POST",
      path: "/v1/sms",
      headers: { apikey: server.key, "content-type": "application/json" },
      body: JSON.stringify(SMS),
    });
    expect(sent.status).toBe(200);
    await eventually(
      () => Promise.resolve(text),
      (received) => received.includes("event: "),
    );
    stream.close();
    await eventually(
      () => client.request({ path: "/metrics" }),
      (metrics) =>
        metrics.text.includes("heliograph_http_streams 0") || !/heliograph_\w*streams\w* [1-9]/.test(metrics.text),
    );
  });

  test("knows the client's address over HTTP/2", async () => {
    const made = await client.request({
      method: "POST",
      path: "/api/session",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: "admin@localhost", password: "password of the owner" }),
    });
    expect(made.status).toBe(200);
    expect(String(made.headers["set-cookie"])).toContain("; Secure");
    const cookie = [made.headers["set-cookie"] ?? []]
      .flat()
      .map((each) => each.split(";", 1)[0])
      .join("; ");
    const sessions = await client.request({ path: "/api/audit", headers: { cookie } });
    expect(sessions.text).toContain("127.0.0.1");
  });

  test("refuses protocols below TLS 1.2", async () => {
    const old = connectTls({
      host: "127.0.0.1",
      port: Number(new URL(server.url).port),
      ca: pair.ca,
      minVersion: "TLSv1",
      maxVersion: "TLSv1.1",
      ciphers: "DEFAULT@SECLEVEL=0",
    });
    await expect(once(old, "secureConnect")).rejects.toBeInstanceOf(Error);
  });

  test("keeps the previous certificate if the new pair cannot be used", async () => {
    writePair(env, { cert: issueCertificates().cert, key: pair.key });
    server.app.reloadCertificate();
    expect((await certificateOf(server.url, pair.ca)).subject.CN).toBe("localhost");
  });

  test("uses a new certificate for new connections, and closes no existing one", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<TLSSocket>();
    const health = (): Promise<SecureAnswer> =>
      requestOverHttp1(server.url, { path: "/healthz" }, { ca: pair.ca, agent });
    agent.on("free", (socket: TLSSocket) => sockets.add(socket));
    expect((await health()).status).toBe(200);
    const next = issueCertificates();
    writePair(env, next);
    expect(server.app.reloadCertificate()).toBe(true);
    await eventually(
      () => certificateOf(server.url, next.ca).catch(() => null),
      (certificate) => certificate !== null,
    );
    expect((await health()).status).toBe(200);
    expect((await client.request({ path: "/healthz" })).status).toBe(200);
    expect(sockets.size).toBe(1);
    agent.destroy();
  });

  test("the SMPP port uses the certificate of HTTPS, and a new one for new connections, and keeps open binds", async () => {
    const made = await client.request({
      method: "POST",
      path: "/api/credentials",
      headers: { apikey: server.key, "content-type": "application/json" },
      body: JSON.stringify({ kind: "smpp", name: "Reseller" }),
    });
    const { username, password } = JSON.parse(made.text) as { username: string; password: string };
    const login = { host: "127.0.0.1", port: server.app.smppPorts.tls ?? 0, systemId: username, password };
    const bindWith = (ca: string): Promise<BindResult> => bind({ ...login, tls: { ca }, onRequest: () => null });
    const sessions: Session[] = [];
    for (const next of [issueCertificates(), issueCertificates()]) {
      expect((await bindWith(next.ca)).kind).toBe("unreachable");
      writePair(env, next);
      expect(server.app.reloadCertificate()).toBe(true);
      const result = await bindWith(next.ca);
      if (result.kind === "bound") sessions.push(result.session);
    }
    expect(sessions).toHaveLength(2);
    for (const session of sessions) {
      expect((await session.request(submitSm({ destination: TO, shortMessage: Buffer.from("Hello") }))).kind).toBe(
        "answer",
      );
      session.destroy();
    }
  });

  test("stops with an idle session of HTTP/2 and one that streams", async () => {
    const stopped = await startTestServer("sqlite", { env: await tlsEnv(pair), connectionThread });
    const idle = new Http2Client(stopped.url, pair.ca);
    const streaming = new Http2Client(stopped.url, pair.ca);
    expect((await idle.request({ path: "/healthz" })).status).toBe(200);
    const stream = streaming.session.request({ ":path": "/api/live", apikey: stopped.key });
    await once(stream, "response");
    stream.resume();
    const closed = Promise.all(
      [idle.session, stream].map((each) => new Promise((resolve) => each.on("error", () => {}).on("close", resolve))),
    );
    await stopped.close();
    await closed;
  });
});

describe("a server with a certificate", () => {
  const pair = issueCertificates();

  test("sends GOAWAY to HTTP/2 clients while draining", async () => {
    const env = { ...(await tlsEnv(pair)), HELIOGRAPH_DRAIN_SECONDS: "600" };
    const server = await startTestServer("sqlite", { env });
    const client = new Http2Client(server.url, pair.ca);
    expect((await client.request({ path: "/readyz" })).status).toBe(200);
    const skip = new AbortController();
    const drained = server.app.drain(skip.signal);
    const goaway = once(client.session, "goaway");
    expect((await client.request({ path: "/readyz" })).status).toBe(503);
    await goaway;
    skip.abort();
    await drained;
    client.close();
    await server.close();
  });

  test("redirects browsers from the plain port, and refuses sends there", async () => {
    const port = await freePort();
    const env = {
      ...(await tlsEnv(pair)),
      HELIOGRAPH_REDIRECT_PORT: String(port),
      HELIOGRAPH_BASE_URL: "https://sms.example",
      HELIOGRAPH_HSTS_SECONDS: "300",
    };
    const server = await startTestServer("sqlite", { env });
    const plain = `http://127.0.0.1:${port}`;
    const seen = await fetch(`${plain}//evil.example/x?y=1`, { redirect: "manual", headers: { host: "evil.example" } });
    expect([seen.status, seen.headers.get("location")]).toEqual([308, "https://sms.example//evil.example/x?y=1"]);
    const sent = await fetch(`${plain}/v1/sms`, { method: "POST", body: "{}" });
    expect([sent.status, await sent.text()]).toEqual([403, expect.stringContaining("https://sms.example")]);
    const page = await requestOverHttp1(server.url, { path: "/", headers: { accept: "text/html" } }, pair);
    expect(page.headers["strict-transport-security"] ?? "not built").toMatch(/^(max-age=300|not built)$/);
    await server.close();
  });

  test("does not start with half of a pair, a missing file, another's key, or TLS for SMPP alone without files, and names the setting", async () => {
    const env = await tlsEnv(pair);
    const start = (changed: Record<string, string>): Promise<TestServer> =>
      startTestServer("sqlite", { env: { ...env, ...changed } });
    await expect(start({ HELIOGRAPH_TLS_KEY_FILE: "" })).rejects.toThrow("belong together");
    await expect(startTestServer("sqlite", { env: { HELIOGRAPH_SMPP_TLS_PORT: "0" } })).rejects.toThrow(
      "HELIOGRAPH_SMPP_TLS_PORT needs a certificate",
    );
    await expect(start({ HELIOGRAPH_TLS_CERT_FILE: "/nowhere.pem" })).rejects.toThrow(
      "HELIOGRAPH_TLS_CERT_FILE: /nowhere.pem cannot be read",
    );
    writePair(env, { cert: pair.cert, key: issueCertificates().key });
    await expect(start({})).rejects.toThrow("is not the key of the first certificate");
  });
});
