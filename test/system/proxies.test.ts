import { mkdtemp, writeFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { issueCertificates } from "../support/certificates.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { canTestWith, inPath } from "../support/programmes.ts";
import { PROXIES, startProxy, type RunningProxy } from "../support/proxy-programme.ts";
import { Http2Client, requestOverHttp1, type SecureAnswer } from "../support/secure-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const SMS = { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" };
const IN_PARALLEL = 4;

const installed = PROXIES.filter(({ programme }) => canTestWith(inPath(programme), programme));

// A second address of loopback exists on Linux alone.
describe.runIf(process.platform === "linux").each(installed)("behind $name, as deploy/ configures it,", (kind) => {
  const certificates = issueCertificates();
  let nodePorts: [number, number];
  let folder: string;
  let node: TestServer;
  let proxy: RunningProxy;
  /** In the order of the starts. */
  const closeAll = new Map<object, () => Promise<void>>();

  const startNode = async (port: number): Promise<TestServer> => {
    const direct = { HELIOGRAPH_TRUST_PROXY: "true" };
    const tcp = {
      HELIOGRAPH_PROXY_PROTOCOL: "127.0.0.1",
      HELIOGRAPH_TLS_CERT_FILE: join(folder, "cert.pem"),
      HELIOGRAPH_TLS_KEY_FILE: join(folder, "key.pem"),
    };
    const env = {
      ...(node ? { HELIOGRAPH_API_KEY: node.key } : {}),
      HELIOGRAPH_PORT: String(port),
      HELIOGRAPH_BASE_URL: "https://localhost",
      HELIOGRAPH_DRAIN_SECONDS: "600",
      ...(kind.passesTls ? tcp : direct),
    };
    const started = await startTestServer("sqlite", { env, connectionThread: true });
    closeAll.set(started, () => started.close());
    return started;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(inject("scratchFolder"), "proxy-"));
    await Promise.all([
      writeFile(join(folder, "cert.pem"), certificates.cert),
      writeFile(join(folder, "key.pem"), certificates.key),
    ]);
    nodePorts = [await freePort(), await freePort()];
    // The second node does not run yet.
    node = await startNode(nodePorts[0]);
    proxy = await startProxy(kind, { folder, nodePorts, certificates });
    closeAll.set(proxy, proxy.stop);
  });
  afterAll(async () => {
    for (const close of [...closeAll.values()].toReversed()) await close();
  });

  /** Messages that a node has accepted, asked past the proxy: from an address that begins with no PROXY header. */
  const acceptedBy = async ({ url }: TestServer): Promise<number> => {
    const agent = new Agent({ localAddress: "127.0.0.9" });
    const text = kind.passesTls
      ? (await requestOverHttp1(url, { path: "/metrics" }, { ca: certificates.ca, agent })).text
      : await (await fetch(`${url}/metrics`)).text();
    agent.destroy();
    return Number(/^heliograph_messages_accepted_total\{.*\} (\d+)$/m.exec(text)?.[1] ?? 0);
  };

  const json = (key: string) => ({ apikey: key, "content-type": "application/json" });
  const send = (headers = json(node.key)): Promise<SecureAnswer> =>
    requestOverHttp1(proxy.url, { method: "POST", path: "/v1/sms", headers, body: JSON.stringify(SMS) }, certificates);

  test("every send is accepted while another node is down", async () => {
    for (let sends = 0; sends < 20; sends += 1) expect((await send()).status).toBe(200);
  });

  test("a body of the largest send passes, over HTTP/1.1 and HTTP/2", async () => {
    const to = Array.from({ length: 1000 }, (_, index) => String(15_550_100_000 + index));
    const body = JSON.stringify({ ...SMS, to, text: "x".repeat(1600) }).replace(
      '"sender"',
      `${" ".repeat(9e6)}"sender"`,
    );
    const upload = { method: "POST", path: "/v1/sms", headers: json(node.key), body };
    const first = await requestOverHttp1(proxy.url, upload, certificates);
    expect([first.status, JSON.parse(first.text).totalCount]).toEqual([200, 1000]);
    const client = new Http2Client(proxy.url, certificates.ca);
    const second = await client.request(upload);
    expect([second.status, JSON.parse(second.text).totalCount]).toEqual([200, 1000]);
    client.close();
  });

  test("live events arrive at once, over HTTP/1.1 and HTTP/2", async () => {
    const client = new Http2Client(proxy.url, certificates.ca);
    const overHttp2 = client.session.request({ ":path": "/api/live", apikey: node.key }).setEncoding("utf8");
    const received = ["", ""];
    overHttp2.on("data", (chunk: string) => (received[1] += chunk));
    const overHttp1 = request(
      new URL("/api/live", proxy.url),
      { headers: { apikey: node.key }, ca: certificates.ca, agent: false },
      (response) => response.setEncoding("utf8").on("data", (chunk: string) => (received[0] += chunk)),
    );
    overHttp1.on("error", () => {}).end();
    await eventually(
      () => received,
      (texts) => texts.every((text) => text.includes(": open")),
    );
    expect((await send()).status).toBe(200);
    await eventually(
      () => received,
      (texts) => texts.every((text) => text.includes("event: ")),
    );
    overHttp1.destroy();
    client.close();
  });

  test("a key's address list sees the real client, and no forged header changes that", async () => {
    const choices = { name: "office", scopes: ["sms"], allowedIps: ["127.0.0.7"] };
    const headers = { apikey: node.key, "content-type": "application/json" };
    const made = await requestOverHttp1(
      proxy.url,
      { method: "POST", path: "/api/keys", headers, body: JSON.stringify(choices) },
      certificates,
    );
    const { key } = JSON.parse(made.text) as { key: string };
    const sendFrom = async (localAddress: string, forged: Record<string, string>): Promise<number> => {
      const agent = new Agent({ localAddress });
      const { status } = await requestOverHttp1(
        proxy.url.replace("localhost", "127.0.0.1"),
        {
          method: "POST",
          path: "/v1/sms",
          headers: { ...json(key), ...forged, host: new URL(proxy.url).host },
          body: JSON.stringify(SMS),
        },
        { ca: certificates.ca, agent },
      );
      agent.destroy();
      return status;
    };
    expect(await sendFrom("127.0.0.7", {})).toBe(200);
    expect(await sendFrom("127.0.0.8", {})).toBe(403);
    expect(await sendFrom("127.0.0.8", { "x-forwarded-for": "127.0.0.7" })).toBe(403);
    expect(await sendFrom("127.0.0.7", { "x-forwarded-for": "127.0.0.8" })).toBe(200);
  });

  test.skipIf(kind.passesTls)("the plain port redirects browsers", async () => {
    const { status, headers } = await fetch(`http://localhost:${proxy.plainPort}/docs?x=1`, { redirect: "manual" });
    expect(status).toBe(308);
    expect(headers.get("location")).toMatch(/^https:\/\/(?:sms\.example|localhost(?::\d+)?)\/docs\?x=1$/);
  });

  test("no request fails while one node takes over and the other drains and stops", async () => {
    const statuses: number[] = [];
    const failures = new Set<string>();
    let isOver = false;
    // A reload of nginx closes idle connections of clients, also in the moment in which one of them sends.
    const agent = new Agent({ keepAlive: kind.programme !== "nginx" });
    const sendOn = async (): Promise<void> => {
      while (!isOver) {
        const answer = await requestOverHttp1(
          proxy.url,
          { method: "POST", path: "/v1/sms", headers: json(node.key), body: JSON.stringify(SMS) },
          { ca: certificates.ca, agent },
        ).catch((error: Error) => ({ status: 0, text: error.message }));
        statuses.push(answer.status);
        if (answer.status !== 200) failures.add(`${answer.status} ${answer.text}`);
      }
    };
    const sendFurther = (count: number): Promise<number> => {
      const target = statuses.length + count;
      return eventually(
        () => statuses.length,
        (length) => length >= target,
      );
    };
    const sending = Promise.all(Array.from({ length: IN_PARALLEL }, sendOn));
    await sendFurther(20);
    const second = await startNode(nodePorts[1]);
    await eventually(
      // Over a new connection: in TCP mode the others stay with their node.
      async () => {
        await send();
        return acceptedBy(second);
      },
      (count) => count > 0,
    );
    const skip = new AbortController();
    const drained = node.app.drain(skip.signal);
    await proxy.takeOut(nodePorts[0]);
    await eventually(
      async () => {
        const before = await acceptedBy(node);
        await sendFurther(20);
        return (await acceptedBy(node)) - before;
      },
      (accepted) => accepted === 0,
    );
    skip.abort();
    await drained;
    closeAll.delete(node);
    await Promise.all([node.close(), sendFurther(50)]);
    await sendFurther(50);
    isOver = true;
    await sending;
    agent.destroy();
    expect([...failures]).toEqual([]);
  });
});
