import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { issueCertificates } from "../support/certificates.ts";
import { createLogin, queryText, type Login } from "../support/credential.ts";
import { eventually } from "../support/eventually.ts";
import { requestOverHttp1 } from "../support/secure-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const WRONG_LOGINS_MAX = 20;

describe("facades that are switched off or have a port of their own", () => {
  let server: TestServer;
  let login: Login;
  let moved: string;
  beforeAll(async () => {
    server = await startTestServer("sqlite", { env: { HELIOGRAPH_FACADES: "twilio,kannel:0" } });
    login = await createLogin(server, "kannel");
    moved = `http://127.0.0.1:${server.app.facadePorts.kannel}`;
  });
  afterAll(() => server.close());

  const statusOf = async (url: string, method = "GET"): Promise<number> => (await fetch(url, { method })).status;
  const query = (to: string): string =>
    queryText({ username: login.username, password: login.password, from: "ACME", to, text: "Hello" });

  test("a facade that is switched off has no routes on any port", async () => {
    for (const url of [server.url, moved]) expect(await statusOf(`${url}/send`)).toBe(404);
  });

  test("a facade without a port of its own stays on that of the server", async () => {
    const path = "/2010-04-01/Accounts/AC00000000000000000000000000000000/Messages.json";
    expect(await statusOf(server.url + path)).toBe(401);
    expect(await statusOf(moved + path)).toBe(404);
  });

  test("a facade with a port of its own sends there, by GET and POST, and is gone from that of the server", async () => {
    const form = { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" } };
    const replies = [
      await fetch(`${moved}/cgi-bin/sendsms?${query("15550181001")}`),
      await fetch(`${moved}/cgi-bin/sendsms`, { ...form, body: query("15550181002") }),
    ];
    for (const reply of replies) {
      expect(reply.status).toBe(202);
      expect(await reply.text()).toBe("0: Accepted for delivery");
    }
    for (const to of ["15550181001", "15550181002"])
      expect(
        await eventually(
          () => server.onPhone(to),
          ({ length }) => length > 0,
        ),
      ).toMatchObject([{ text: "Hello" }]);
    expect(await statusOf(`${server.url}/cgi-bin/sendsms?${query("15550181003")}`)).toBe(404);
  });

  test("the port of a facade has its health, and no metrics, dashboard, sends or other operations", async () => {
    expect(await statusOf(`${moved}/healthz`)).toBe(200);
    expect(await statusOf(`${moved}/readyz`)).toBe(200);
    for (const path of ["/", "/metrics", "/openapi.json", "/api/account", "/mcp", "/verify", "/hooks/1"])
      expect([path, await statusOf(moved + path)]).toEqual([path, 404]);
    for (const path of ["/v1/sms", "/api/session", "/mcp"])
      expect([path, await statusOf(moved + path, "POST")]).toEqual([path, 404]);
  });

  test("wrong logins on the port of a facade count for the address on every port", async () => {
    const wrong = `${moved}/cgi-bin/sendsms?${queryText({ username: login.username, password: "wrong", to: "1", text: "x" })}`;
    const isLocked = async (): Promise<boolean> => (await statusOf(wrong)) === 503;
    // Twice the limit: a new minute may begin meanwhile.
    for (let tries = 0; !(await isLocked()); tries += 1) expect(tries).toBeLessThan(2 * WRONG_LOGINS_MAX);
    const response = await fetch(`${server.url}/v1/messages`, { headers: { apikey: "wrong" } });
    expect(response.status).toBe(429);
  });
});

test("the port of a facade speaks TLS with the certificate of the server", async () => {
  const { cert, key, ca } = issueCertificates();
  const folder = await mkdtemp(join(inject("scratchFolder"), "facade-tls-"));
  await writeFile(join(folder, "cert.pem"), cert);
  await writeFile(join(folder, "key.pem"), key);
  const server = await startTestServer("sqlite", {
    env: {
      HELIOGRAPH_FACADES: "kannel:0",
      HELIOGRAPH_TLS_CERT_FILE: join(folder, "cert.pem"),
      HELIOGRAPH_TLS_KEY_FILE: join(folder, "key.pem"),
    },
  });
  try {
    const url = `https://127.0.0.1:${server.app.facadePorts.kannel}`;
    expect(await requestOverHttp1(url, { path: "/cgi-bin/sendsms" }, { ca })).toMatchObject({
      status: 403,
      text: "Authorization failed for sendsms",
    });
  } finally {
    await server.close();
  }
});
