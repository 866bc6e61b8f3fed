import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { bind } from "../../src/smpp/client.ts";
import { migratedDatabase } from "../support/databases.ts";
import { ENGINES, hasPostgres } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { startTestServer, type Answer, type TestServer } from "../support/test-server.ts";

const SMS = { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" };
const JSON_BODY = { "content-type": "application/json" };

describe.runIf(hasPostgres)("a second node", () => {
  let one: TestServer;
  /** Its jobs never run, so it learns nothing by time. */
  let two: TestServer;
  beforeAll(async () => {
    const { url } = await migratedDatabase(inject("postgresUrl"));
    one = await startTestServer("postgres", { env: { HELIOGRAPH_DATABASE_URL: url } });
    const env = { ...one.env, HELIOGRAPH_PORT: "0", HELIOGRAPH_SMPP_PORT: "0" };
    two = await startTestServer("postgres", { env, clock: new MovedClock(Date.now()) });
  });
  afterAll(async () => {
    await Promise.all([one, two].map((server) => server.close()));
  });

  const create = async <T>(path: string, body: object): Promise<T> => {
    const made = await one.request<T>("POST", path, body);
    expect(made.status).toBe(201);
    return made.body;
  };
  const createKey = (name: string): Promise<{ id: string; key: string }> =>
    create("/api/keys", { name, scopes: ["sms", "read"] });
  const askTwo = <T>(method: string, path: string, body?: object, apikey = one.key): Promise<Answer<T>> =>
    two.request<T>(method, path, body, { apikey });

  test("a key works there as soon as it is created, for sends and for reads", async () => {
    const sends = await createKey("sends");
    expect((await two.send({}, { apikey: sends.key })).status).toBe(200);
    const reads = await createKey("reads");
    expect((await askTwo("GET", "/v1/messages", undefined, reads.key)).status).toBe(200);
  });

  test("many requests with a new key at once are all answered", async () => {
    const { key } = await createKey("at once");
    const answers = await Promise.all(Array.from({ length: 40 }, () => two.send({}, { apikey: key })));
    expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(200));
  });

  test("an unknown key stays refused", async () => {
    expect((await two.send({}, { apikey: `${one.key.slice(0, -1)}!` })).status).toBe(401);
  });

  test("a credential works there as soon as it is created", async () => {
    const { username, password } = await create<Record<string, string>>("/api/credentials", {
      kind: "kannel",
      name: "Shop",
    });
    const query = new URLSearchParams({ username: username ?? "", password: password ?? "", to: SMS.to, text: "Hi" });
    expect((await fetch(`${two.url}/cgi-bin/sendsms?from=HELIOG&${query.toString()}`)).status).toBe(202);
  });

  test("a system id binds there as soon as it is created", async () => {
    const made = await create<{ username: string; password: string }>("/api/credentials", { kind: "smpp", name: "R" });
    const port = two.app.smppPorts.plain ?? 0;
    const { username: systemId, password } = made;
    const result = await bind({ host: "127.0.0.1", port, systemId, password, onRequest: () => null });
    expect(result.kind).toBe("bound");
    if (result.kind === "bound") result.session.destroy();
  });

  test("keys and credentials are listed, read and changed there as soon as they are created", async () => {
    const { id } = await createKey("seen");
    expect((await askTwo<{ data: { id: string }[] }>("GET", "/api/keys")).body.data.map((key) => key.id)).toContain(id);
    const other = await createKey("changed");
    const path = `/api/keys/${other.id}`;
    expect((await askTwo("PATCH", path, { name: "renamed" })).body).toMatchObject({ name: "renamed" });
    const { id: credential } = await create<{ id: string }>("/api/credentials", { kind: "jasmin", name: "seen" });
    expect((await askTwo("GET", `/api/credentials/${credential}`)).body).toMatchObject({ name: "seen" });
  });

  test("settings of the account are shown there as soon as they are changed", async () => {
    expect((await one.request("PATCH", "/api/account", { records: "strict" })).status).toBe(200);
    expect((await askTwo("GET", "/api/account")).body).toMatchObject({ records: "strict" });
  });

  test("a sender and a template are used there as soon as they are created", async () => {
    await create("/api/senders", { name: "FRESH1" });
    expect((await two.send({ sender: "FRESH1" }, { apikey: one.key })).status).toBe(200);
    await create("/api/templates", { name: "fresh", text: "Your code arrives at {{1}}." });
    const { text: _, ...send } = { ...SMS, sender: "FRESH1", templateId: "fresh", custom: ["noon"] };
    expect((await askTwo("POST", "/v1/sms", send)).status).toBe(200);
    expect((await two.send({ sender: "NEVER" }, { apikey: one.key })).status).toBe(403);
  });

  // Last, because the other tests need an address that has not guessed.
  test("an address that guesses keys causes no reads of the store, on the lists of keys and credentials too", async () => {
    const revision = vi.spyOn(two.app.store, "revision");
    const guess = (path: string) => askTwo("GET", path, undefined, `hg_live_${"g".repeat(40)}`);
    for (let guesses = 0; guesses < 20; guesses += 1) expect((await guess("/v1/messages")).status).not.toBe(200);
    expect(revision).toHaveBeenCalled();
    revision.mockClear();
    for (const path of ["/v1/messages", "/api/keys", "/api/credentials", "/api/account"])
      expect((await guess(path)).status).toBe(429);
    expect(revision).not.toHaveBeenCalled();
    revision.mockRestore();
  });
});

describe.each(ENGINES)("the first start on %s", (engine) => {
  test("a request of the first key that comes before the account exists waits for it, and its send is accepted", async () => {
    const apikey = `hg_live_${"k".repeat(40)}`;
    const port = await freePort();
    const send = async (): Promise<number | null> => {
      const request = { method: "POST", headers: { apikey, ...JSON_BODY }, body: JSON.stringify(SMS) };
      const answer = await fetch(`http://127.0.0.1:${port}/v1/sms`, request).catch(() => null);
      return answer && answer.status;
    };
    const first = eventually(send, (status) => status !== null);
    const env = { HELIOGRAPH_PORT: String(port), HELIOGRAPH_API_KEY: apikey };
    const server = await startTestServer(engine, { env, connectionThread: true });
    expect(await first).toBe(200);
    await server.close();
  });
});
