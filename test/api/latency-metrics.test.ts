import { expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const SMS = { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" };
const REQUESTS = "heliograph_http_request_duration_seconds";
const DATABASE = "heliograph_database_duration_seconds";

/** Lines of a metric with their values, by labels. */
async function valuesOf(server: TestServer, name: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const lines = [...text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, "gm"))];
  return Object.fromEntries(lines.map(([, labels = "", value]) => [labels, Number(value)]));
}

/** Requests by family and status, without those of the scrape itself. */
async function counts(server: TestServer): Promise<Record<string, number>> {
  const all = Object.entries(await valuesOf(server, `${REQUESTS}_count`));
  return Object.fromEntries(
    all
      .filter(([labels]) => !labels.includes('"health"'))
      .map(([labels, count]) => [labels.replaceAll(/\w+=|"/g, ""), count]),
  );
}

test.each(["on", "off"])("requests are measured by family and status, with the fast path %s", async (fastPath) => {
  const server = await startTestServer("sqlite", { env: { HELIOGRAPH_HTTP_FAST_PATH: fastPath } });
  const before = await counts(server);
  const headers = { apikey: server.key, "content-type": "application/json" };
  const ask = async (method: string, path: string, body?: object): Promise<string> =>
    (await fetch(server.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })).text();
  await ask("POST", "/v1/sms", SMS);
  await ask("POST", "/v1/sms", { ...SMS, to: 7 });
  await ask("POST", "/v1/verify", { configId: "default", to: "15550100100" });
  await ask("GET", "/v1/messages");
  await ask("GET", "/v1/messages/none");
  await fetch(`${server.url}/s/aB3defg`);
  await fetch(`${server.url}/hooks/none`, { method: "POST" });
  // Paths of clients are no labels, so clients cannot exhaust the memory with them.
  for (let place = 0; place < 5; place++) await fetch(`${server.url}/nowhere/${place}`);
  const after = await eventually(
    () => counts(server),
    (found) => found["page,4xx"] === (before["page,4xx"] ?? 0) + 5,
  );
  const added = Object.entries(after).map(([labels, count]) => [labels, count - (before[labels] ?? 0)] as const);
  expect(Object.fromEntries(added.filter(([, count]) => count > 0))).toEqual({
    "send,2xx": 1,
    "send,4xx": 1,
    "verify,2xx": 1,
    "api,2xx": 1,
    "api,4xx": 1,
    "link,4xx": 1,
    "carrier,4xx": 1,
    "page,4xx": 5,
  });
  await server.close();
});

test("an open stream of events is not measured as a slow request", async () => {
  const server = await startTestServer("sqlite");
  const before = await counts(server);
  const stop = new AbortController();
  const headers = { apikey: server.key };
  const stream = await fetch(`${server.url}/api/live`, { headers, signal: stop.signal });
  expect(stream.status).toBe(200);
  stop.abort();
  await server.request("GET", "/v1/messages");
  const after = await eventually(
    () => counts(server),
    (found) => (found["api,2xx"] ?? 0) > (before["api,2xx"] ?? 0),
  );
  expect(after["api,2xx"]).toBe((before["api,2xx"] ?? 0) + 1);
  await server.close();
});

test.each(ENGINES)("commits and queries of the store are measured on %s", async (engine) => {
  const server = await startTestServer(engine);
  const before = await valuesOf(server, `${DATABASE}_count`);
  await server.request("POST", "/v1/sms", SMS);
  await server.request("GET", "/v1/messages");
  const grew = (found: Record<string, number>): string[] =>
    Object.keys(found).filter((labels) => (found[labels] ?? 0) > (before[labels] ?? 0));
  const after = await eventually(
    () => valuesOf(server, `${DATABASE}_count`),
    (found) => grew(found).length === 4,
  );
  expect(grew(after).toSorted()).toEqual(
    ["accept", "read", "report", "transition"].map((operation) => `operation="${operation}"`),
  );
  await server.close();
});

test.each(ENGINES)("the metrics show how long the oldest message and callback wait, on %s", async (engine) => {
  const server = await startTestServer(engine, { env: { HELIOGRAPH_ROLES: "api" } });
  const ages = () => valuesOf(server, "heliograph_oldest_waiting_message_seconds");
  expect(await ages()).toEqual({ 'type="OTP"': 0, 'type="TRANS"': 0, 'type="PROMO"': 0 });
  expect(await valuesOf(server, "heliograph_oldest_waiting_callback_seconds")).toEqual({ "": 0 });
  await server.request("POST", "/v1/sms", SMS);
  // The heads of the queues are read at most once in five seconds.
  const found = await eventually(ages, (age) => (age['type="TRANS"'] ?? 0) > 0);
  expect(found).toMatchObject({ 'type="OTP"': 0, 'type="PROMO"': 0 });
  await server.close();
});
