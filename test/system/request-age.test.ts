import { request as httpRequest } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { testKeys } from "../../src/store/migrations/0023-test-keys.ts";
import { POSTGRES, SQLITE } from "../../src/store/migrations/migration.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { bind } from "../../src/smpp/client.ts";
import { submitSm, type Request } from "../../src/smpp/pdu.ts";
import { STATUS } from "../../src/smpp/status.ts";
import { RequestAge } from "../../src/pipeline/accept/request-age.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { migratedDatabase } from "../support/databases.ts";
import { ENGINES, openStore } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type Envelope, type TestServer } from "../support/test-server.ts";
import { freePort } from "../support/free-port.ts";
import { startServer, type ServerProcess } from "../support/server-process.ts";

describe("patience", () => {
  let monotonic = 0;
  let now = 0;
  let patience: RequestAge;
  beforeEach(() => {
    monotonic = 0;
    now = 0;
    patience = new RequestAge(10_000, { monotonic: () => monotonic, now: () => now });
  });
  afterEach(() => patience.stop());
  const pass = (ms: number): void => {
    monotonic += ms;
    now += ms;
  };

  test("of an ordinary request is not over before its time", () => {
    const arrivedAt = patience.arrival();
    for (let passed = 0; passed < 10_000; passed += 250) {
      expect(patience.isLate(arrivedAt)).toBe(false);
      pass(250);
    }
    pass(1);
    expect(patience.isLate(arrivedAt)).toBe(true);
  });

  test("a request read right after a stall has the age of the stall, later ones have none", () => {
    pass(10_001);
    expect(patience.isLate(patience.arrival())).toBe(true);
    pass(400);
    expect(patience.isLate(patience.arrival())).toBe(true);
    for (let passed = 0; passed < 2000; passed += 250) {
      pass(250);
      patience.arrival();
    }
    expect(patience.isLate(patience.arrival())).toBe(false);
  });

  test("is over for a request under way when the machine slept for longer", () => {
    const arrivedAt = patience.arrival();
    now += 10_001;
    expect(patience.isLate(arrivedAt)).toBe(true);
    expect(patience.isLate(patience.arrival())).toBe(true);
  });

  test("survives a clock that is set back", () => {
    const arrivedAt = patience.arrival();
    now -= 3_600_000;
    expect(patience.isLate(arrivedAt)).toBe(false);
    expect(patience.isLate(patience.arrival())).toBe(false);
  });
});

const BODY = { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" };

async function post(
  server: ServerProcess,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Envelope }> {
  const response = await fetch(server.baseUrl + path, {
    method: "POST",
    headers: { "content-type": "application/json", apikey: server.apiKey, ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Envelope };
}

/** Sends a request, and tells when all of it has left this process. */
function begin(
  server: ServerProcess,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): { written: Promise<void>; answer: Promise<{ status: number; body: Envelope }> } {
  const written = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<{ status: number; body: Envelope }>();
  const sent = httpRequest(
    server.baseUrl + path,
    {
      method: "POST",
      agent: false,
      headers: { "content-type": "application/json", apikey: server.apiKey, ...headers },
    },
    (response) =>
      void json(response).then(
        (read) => answer.resolve({ status: response.statusCode ?? 0, body: read as Envelope }),
        answer.reject,
      ),
  );
  sent.on("error", answer.reject).on("finish", written.resolve);
  sent.end(JSON.stringify(body));
  return { written: written.promise, answer: answer.promise };
}

describe("a server that was stopped", () => {
  let servers: ServerProcess[] = [];
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.cleanup()));
    servers = [];
  });
  async function start(
    patienceSeconds: number,
    env: Record<string, string> = {},
    databaseUrl?: string,
  ): Promise<ServerProcess> {
    const server = await startServer({
      ...(databaseUrl === undefined ? {} : { databaseUrl }),
      env: {
        HELIOGRAPH_MASTER_KEY: "the master key of every node",
        HELIOGRAPH_REQUEST_PATIENCE_SECONDS: String(patienceSeconds),
        ...env,
      },
    });
    servers.push(server);
    return server;
  }

  test("executes no request of callers who have given up, on either HTTP path", async () => {
    const server = await start(1);
    process.kill(server.pid, "SIGSTOP");
    // The fast path takes no query.
    const waiting = ["/v1/sms", "/v1/sms?path=general"].map((path) => begin(server, path, BODY));
    for (const { written } of waiting) await written;
    await sleep(1500);
    process.kill(server.pid, "SIGCONT");
    for (const { status, body } of await Promise.all(waiting.map(({ answer }) => answer))) {
      expect([status, body.error?.code]).toEqual([503, "OVERLOADED"]);
      expect(body.error?.message).toContain("waited too long and was not executed");
    }
    const listed = await fetch(`${server.baseUrl}/v1/messages`, { headers: { apikey: server.apiKey } });
    expect(await listed.json()).toMatchObject({ data: [] });
  });

  test("executes no submit of SMPP clients that have given up, and asks them to try again", async () => {
    const port = await freePort();
    const server = await start(1, { HELIOGRAPH_SMPP_PORT: String(port) });
    const created = await fetch(`${server.baseUrl}/api/credentials`, {
      method: "POST",
      headers: { "content-type": "application/json", apikey: server.apiKey },
      body: JSON.stringify({ kind: "smpp", name: "Reseller", features: ["multi"] }),
    });
    expect(created.status).toBe(201);
    const { username, password } = (await created.json()) as { username: string; password: string };
    const bound = await bind({ host: "127.0.0.1", port, systemId: username, password, onRequest: () => null });
    if (bound.kind !== "bound") throw new Error(`not bound: ${JSON.stringify(bound)}`);
    const { session } = bound;
    const destination = { ton: 1, npi: 1, address: "15550100100" };
    const fields = { source: { ton: 5, npi: 0, address: "SHOP" }, destination, shortMessage: Buffer.from("Hello") };
    const whole = submitSm(fields);
    const part = submitSm({ ...fields, esmClass: 0x40, shortMessage: Buffer.from([5, 0, 3, 9, 2, 1, 0x48]) });
    const { command: _, destination: __, ...common } = whole;
    const several: Request = {
      command: "submit_multi",
      ...common,
      destinations: [{ kind: "address", address: destination }],
    };
    const answerTo = async (pdu: Request): Promise<number> => {
      const outcome = await session.request(pdu);
      if (outcome.kind !== "answer") throw new Error(`no answer: ${outcome.kind}`);
      return outcome.pdu.status;
    };
    process.kill(server.pid, "SIGSTOP");
    const waiting = [whole, part, several].map(answerTo);
    await sleep(1500);
    process.kill(server.pid, "SIGCONT");
    expect(await Promise.all(waiting)).toEqual(Array(3).fill(STATUS.ESME_RMSGQFUL));
    const listed = await fetch(`${server.baseUrl}/v1/messages`, { headers: { apikey: server.apiKey } });
    expect(await listed.json()).toMatchObject({ data: [] });
    // The other part alone completes nothing: the late one was not kept.
    await eventually(
      () => answerTo(submitSm({ ...part, shortMessage: Buffer.from([5, 0, 3, 9, 2, 2, 0x49]) })),
      (status) => status === STATUS.ESME_ROK,
    );
    await eventually(
      () => answerTo(whole),
      (status) => status === STATUS.ESME_ROK,
    );
    const after = await fetch(`${server.baseUrl}/v1/messages`, { headers: { apikey: server.apiKey } });
    expect(((await after.json()) as { data: unknown[] }).data).toHaveLength(1);
    session.destroy();
  });

  test("a request that another node refused with 402 under its key is not executed", async () => {
    const { url } = await migratedDatabase(inject("postgresUrl"));
    const one = await start(60, {}, url);
    const two = await start(60, { HELIOGRAPH_API_KEY: one.apiKey }, url);
    const ask = async (method: string, path: string, body: unknown): Promise<unknown> => {
      const headers = { "content-type": "application/json", apikey: one.apiKey };
      const response = await fetch(two.baseUrl + path, { method, headers, body: JSON.stringify(body) });
      expect(response.status).toBeLessThan(300);
      return response.json();
    };
    await ask("PATCH", "/api/account", { credits: "metered" });
    // The first node goes by its memory: it has heard of it once it refuses.
    await eventually(
      () => post(one, "/v1/sms", BODY),
      ({ status }) => status === 402,
    );
    const countSent = async (): Promise<number> => {
      const listed = await fetch(`${two.baseUrl}/v1/messages?limit=200`, { headers: { apikey: one.apiKey } });
      return ((await listed.json()) as { data: unknown[] }).data.length;
    };
    const sent = await countSent();
    const key = { "idempotency-key": "order 1" };
    process.kill(one.pid, "SIGSTOP");
    const waiting = begin(one, "/v1/sms", BODY, key);
    await waiting.written;
    await sleep(1000);
    const refused = await post(two, "/v1/sms", BODY, { ...key, apikey: one.apiKey });
    expect([refused.status, refused.body.error?.code]).toEqual([402, "INSUFFICIENT_CREDITS"]);
    const store = await openPostgresStore(url);
    await store.addCredits(1, { id: newId(NOON), amount: 5, note: "too late", at: NOON });
    await store.close();
    process.kill(one.pid, "SIGCONT");
    expect((await waiting.answer).status).toBe(402);
    expect(await countSent()).toBe(sent);
    // A repeat after the refusal is a new request.
    const again = await eventually(
      () => post(two, "/v1/sms", BODY, { ...key, apikey: one.apiKey }),
      ({ status }) => status === 200,
    );
    const replayed = await post(one, "/v1/sms", BODY, key);
    expect([replayed.status, replayed.body.id]).toEqual([200, again.body.id]);
  });
});

describe.each(ENGINES)("idempotency keys on %s", (engine) => {
  let testServer: TestServer;
  beforeAll(async () => {
    testServer = await startTestServer(engine);
  });
  afterAll(() => testServer.close());

  test("are separate for test and live keys", async () => {
    const key = { "idempotency-key": "both" };
    const simulated = await testServer.send({}, { ...key, apikey: testServer.testKey });
    const live = await testServer.send({}, key);
    expect([simulated.status, live.status]).toEqual([200, 200]);
    expect(live.headers.get("idempotent-replayed")).toBeNull();
    expect(live.body.id).not.toBe(simulated.body.id);
    const [liveAgain, testAgain] = [
      await testServer.send({}, key),
      await testServer.send({}, { ...key, apikey: testServer.testKey }),
    ];
    expect([liveAgain.body.id, testAgain.body.id]).toEqual([live.body.id, simulated.body.id]);
  });

  test("keys that an earlier release stored for test sends are recognised by their messages", async () => {
    const { store, execute, discard } = await openStore(engine);
    const sent = [acceptance({ test: true }), acceptance({})].map((request, index) => ({
      ...request,
      idempotency: {
        path: "/v1/sms",
        key: `key ${index}`,
        bodyHash: "",
        response: JSON.stringify({ id: request.message.requestId, data: [] }),
      },
    }));
    expect(await store.accept(sent)).toEqual([{ kind: "stored" }, { kind: "stored" }]);
    const dialect = engine === "sqlite" ? SQLITE : POSTGRES;
    for (const statement of testKeys.statements(dialect)) await execute(statement);
    expect(await execute("select key, path from idempotency order by key")).toEqual([
      { key: "key 0", path: "/v1/sms test" },
      { key: "key 1", path: "/v1/sms" },
    ]);
    await discard();
  });

  test("a key can be used again after a 402, which names the price and the balance", async () => {
    const key = { "idempotency-key": "unpaid" };
    expect((await testServer.request("PATCH", "/api/account", { credits: "metered" })).status).toBe(200);
    await testServer.app.store.addCredits(1, { id: newId(NOON), amount: 1, note: "one", at: NOON });
    for (let tries = 0; tries < 2; tries += 1) {
      const refused = await testServer.send({ to: ["15550100101", "15550100102"] }, key);
      expect(refused.status).toBe(402);
      expect(refused.body.error?.message).toBe("The request needs 2 credits; the account has 1 credit.");
    }
    // Another body is no mistake either: nothing was accepted under the key.
    // On a machine that has just stalled, a new try may count as one from before the refusal.
    await eventually(
      () => testServer.send({ to: "15550100101" }, key),
      ({ status }) => status === 200,
    );
    expect((await testServer.send({ to: ["15550100101", "15550100102"] }, key)).status).toBe(422);
  });
});
