import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { Keyring } from "../../src/accounts/keyring.ts";
import { systemClock, type Clock } from "../../src/lib/clock.ts";
import {
  isWellFormedKey,
  keyDigest,
  newKeySecret,
  SCOPES,
  type ApiKey,
  type KeyMode,
} from "../../src/model/api-key.ts";
import { DEFAULT_SETTINGS } from "../../src/model/account.ts";
import type { CredentialStore } from "../../src/store/credentials.ts";
import type { RecordStore } from "../../src/store/records.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { migratedDatabase } from "../support/databases.ts";
import { ENGINES } from "../support/engines.ts";
import { startTestServer, type Answer, type Envelope, type ErrorBody } from "../support/test-server.ts";

const HOUR_MS = 3_600_000;

/** Runs like the system's until it is stopped or moved. */
class ShiftedClock implements Clock {
  #shiftMs = 0;
  #stoppedAt: number | null = null;

  now(): number {
    return (this.#stoppedAt ?? Date.now()) + this.#shiftMs;
  }
  monotonic(): number {
    return systemClock.monotonic();
  }
  after(delayMs: number, run: () => void): () => void {
    return systemClock.after(delayMs, run);
  }
  move(ms: number): void {
    this.#shiftMs += ms;
  }
  stop(): void {
    this.#stoppedAt = Date.now();
  }
  go(): void {
    this.#stoppedAt = null;
  }
}

interface KeyBody {
  id: string;
  key: string;
  hint: string;
  mode: string;
  name: string;
  scopes: string[];
  allowedIps: string[];
  requestsPerSecond: number | null;
  expiresAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
}

interface Failure {
  error: ErrorBody;
}

describe("a new key", () => {
  const modes = fc.constantFrom<KeyMode>("live", "test");
  const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-";

  test("a new key is well formed, shows its mode and is never created twice", () => {
    const made = new Set<string>();
    fc.assert(
      fc.property(modes, (mode) => {
        const key = newKeySecret(mode);
        expect(key).toMatch(new RegExp(`^hg_${mode}_[0-9A-Za-z]{39}$`));
        expect(isWellFormedKey(key)).toBe(true);
        expect(made.has(key)).toBe(false);
        made.add(key);
      }),
      { numRuns: 500 },
    );
  });

  test("a key is malformed when any one character is changed, missing or doubled", () => {
    for (const mode of ["live", "test"] as const) {
      const key = newKeySecret(mode);
      for (let at = 0; at < key.length; at += 1) {
        const [before, after] = [key.slice(0, at), key.slice(at + 1)];
        const others = letters.split("").filter((letter) => letter !== key[at]);
        expect(others.filter((letter) => isWellFormedKey(before + letter + after))).toEqual([]);
        expect(isWellFormedKey(before + after)).toBe(false);
        expect(isWellFormedKey(before + key.charAt(at) + key.slice(at))).toBe(false);
      }
    }
  });

  test("a key has letters and digits in equal shares", () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 2000; i += 1)
      for (const letter of newKeySecret("live").slice(8, 41)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    const expected = (2000 * 33) / 62;
    expect(counts.size).toBe(62);
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(6 * Math.sqrt(expected));
  });
});

describe("the keyring", () => {
  test("the keyring does not restore a revoked key when an older, slower read ends last", async () => {
    const pepper = Buffer.from("pepper");
    const key: ApiKey = {
      accountId: 1,
      id: "1",
      name: "Key",
      mode: "live",
      digest: keyDigest(pepper, "secret-key"),
      hint: "-key",
      scopes: SCOPES,
      allowedIps: [],
      requestsPerSecond: null,
      createdAt: 0,
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      agent: null,
    };
    const slow = Promise.withResolvers<ApiKey[]>();
    const readings = [slow.promise, Promise.resolve([{ ...key, revokedAt: 1 }])];
    let revision = 0;
    const store = {
      revision: async () => (revision += 1),
      listAccounts: async () => [{ id: 1, name: "default", suspended: false, settings: DEFAULT_SETTINGS }],
      listKeys: () => readings.shift(),
      listCredentials: async () => [],
    } as unknown as RecordStore & CredentialStore;
    const keyring = new Keyring({ store, clock: systemClock }, pepper);

    const older = keyring.refresh();
    await keyring.refresh();
    slow.resolve([key]);
    await older;
    expect(keyring.find("secret-key")).toBeNull();
  });
});

describe.each(ENGINES)("keys on %s", (engine) => {
  const clock = new ShiftedClock();
  let tenants: Tenants;
  let address = 0;

  beforeAll(async () => {
    tenants = await openTenants(engine, clock);
  });
  afterAll(() => tenants.close());

  const make = async (choices: object = {}, headers: Record<string, string> = {}): Promise<Answer<KeyBody>> =>
    tenants.server.request<KeyBody>(
      "POST",
      "/api/keys",
      { name: "Shop", scopes: ["sms", "read"], ...choices },
      headers,
    );

  /** Status of a request with the key, or its error. Each comes from a new address, as bad keys are counted by address. */
  async function look(
    key: string,
    from = `10.2.${Math.floor(address / 250)}.${(address++ % 250) + 1}`,
  ): Promise<number | string> {
    const { status, body } = await tenants.server.request<Partial<Failure>>("GET", "/v1/messages?limit=1", undefined, {
      apikey: key,
      "x-forwarded-for": from,
    });
    return body.error?.code ?? status;
  }

  test("a key is shown once, and only a digest of it is stored", async () => {
    const { status, body } = await make();
    expect(status).toBe(201);
    expect(isWellFormedKey(body.key)).toBe(true);
    expect(await look(body.key)).toBe(200);
    expect(body.hint).toBe(body.key.slice(-4));

    const listed = await tenants.server.request("GET", "/api/keys");
    const read = await tenants.server.request("GET", `/api/keys/${body.id}`);
    expect(JSON.stringify([listed.body, read.body])).not.toContain(body.key.slice(8, 41));

    const stored = await everythingStored(tenants);
    expect(stored).toContain(body.id);
    for (const secret of [body.key, tenants.server.key, tenants.server.testKey])
      expect(stored).not.toContain(secret.slice(8, 41));
  });

  test("a key may do what its scopes allow and nothing else", async () => {
    const reader = (await make({ scopes: ["read"] })).body.key;
    const sender = (await make({ scopes: ["sms"] })).body.key;
    expect(await look(reader)).toBe(200);
    expect(await look(sender)).toBe("INSUFFICIENT_SCOPE");
    expect((await tenants.server.send({}, { apikey: sender })).status).toBe(200);
    const refused = await tenants.server.send({}, { apikey: reader });
    expect(refused).toMatchObject({
      status: 403,
      body: { id: null, data: [], totalCount: 0, error: { code: "INSUFFICIENT_SCOPE" } },
    });
    expect((await tenants.server.request("GET", "/api/keys", undefined, { apikey: sender })).status).toBe(403);
  });

  test("a key cannot grant scopes that it lacks: not in a new key, by a change or by rotation", async () => {
    const manager = (await make({ scopes: ["manage", "read"] })).body.key;
    const rich = (await make({ scopes: ["sms", "read"] })).body;
    const poor = (await make({ scopes: ["read"] })).body;
    const as = { apikey: manager };
    const refusals = [
      await tenants.server.request<Failure>("POST", "/api/keys", { name: "More", scopes: ["read", "sms"] }, as),
      await tenants.server.request<Failure>("PATCH", `/api/keys/${poor.id}`, { scopes: ["sms"] }, as),
      await tenants.server.request<Failure>("POST", `/api/keys/${rich.id}/rotate`, {}, as),
    ];
    for (const { status, body } of refusals) expect([status, body.error.code]).toEqual([403, "INSUFFICIENT_SCOPE"]);
    expect(await look(rich.key)).toBe(200);
    expect((await tenants.server.request("POST", "/api/keys", { name: "Less", scopes: ["read"] }, as)).status).toBe(
      201,
    );
    expect((await tenants.server.request("POST", `/api/keys/${poor.id}/rotate`, {}, as)).status).toBe(201);
  });

  test("a key cannot lift expiry or address lists of itself or others, and creates nothing that outlives it", async () => {
    const { server } = tenants;
    const ends = clock.now() + HOUR_MS;
    const bound = (await make({ scopes: ["read", "manage"], expiresAt: ends, allowedIps: ["10.7.0.0/16"] })).body;
    const walled = (await make({ scopes: ["read"], expiresAt: ends, allowedIps: ["10.7.1.0/24"] })).body;
    const free = (await make({ scopes: ["read"] })).body;
    const as = { apikey: bound.key, "x-forwarded-for": "10.7.0.1" };
    const limits = { expiresAt: ends, allowedIps: ["10.7.2.0/24"] };
    const asked = (method: string, path: string, body: object, headers: Record<string, string> = as) =>
      server.request<Failure>(method, path, body, headers);
    const refused = [
      await asked("PATCH", `/api/keys/${bound.id}`, { expiresAt: null }),
      await asked("PATCH", `/api/keys/${bound.id}`, { expiresAt: ends + 1 }),
      await asked("PATCH", `/api/keys/${bound.id}`, { allowedIps: [] }),
      await asked("PATCH", `/api/keys/${walled.id}`, { allowedIps: ["10.7.0.0/16"] }),
      await asked("POST", "/api/keys", { name: "More", scopes: ["read"] }),
      await asked("POST", "/api/keys", { name: "More", scopes: ["read"], ...limits, expiresAt: null }),
      await asked("POST", "/api/keys", { name: "More", scopes: ["read"], ...limits, allowedIps: ["10.0.0.0/8"] }),
      await asked("POST", "/api/keys", { name: "More", scopes: ["read"], ...limits, allowedIps: ["::/0"] }),
      await asked("POST", `/api/keys/${free.id}/rotate`, {}),
      // Without limits of its own, a key still leaves those of others as they are.
      await asked("PATCH", `/api/keys/${walled.id}`, { allowedIps: [] }, {}),
      await asked("PATCH", `/api/keys/${walled.id}`, { expiresAt: null }, {}),
    ];
    for (const { status, body } of refused) expect([status, body.error.code]).toEqual([403, "INSUFFICIENT_SCOPE"]);
    expect((await asked("POST", "/api/keys", { name: "Less", scopes: ["read"], ...limits })).status).toBe(201);
    const narrower = { expiresAt: ends - 1, allowedIps: ["10.7.1.7"] };
    expect((await asked("PATCH", `/api/keys/${walled.id}`, narrower)).status).toBe(200);
    const wider = await server.asOwner("PATCH", `/api/keys/${walled.id}`, { allowedIps: [], expiresAt: null });
    expect(wider.status).toBe(200);
  });

  test("a key stops working at the moment it expires", async () => {
    const { key } = (await make({ expiresAt: clock.now() + HOUR_MS })).body;
    clock.stop();
    clock.move(HOUR_MS - 60_000);
    expect(await look(key)).toBe(200);
    clock.move(60_000);
    expect(await look(key)).toBe("UNAUTHORIZED");
    clock.go();
  });

  test.each([
    ["in the past", { expiresAt: 1 }, "expiresAt"],
    ["at the beginning of time", { expiresAt: 0 }, "expiresAt"],
    ["beyond what a date can hold", { expiresAt: 1e300 }, "expiresAt"],
    ["with a name that has a NUL", { name: "a\u0000b" }, "name"],
    ["with a name that is too long", { name: "a".repeat(101) }, "name"],
    ["without scopes", { scopes: [] }, "scopes"],
    ["with a scope nobody knows", { scopes: ["everything"] }, "scopes[0]"],
    ["with a network that is none", { allowedIps: ["10.0.0.0/8", "10.0.0.0/33"] }, "allowedIps[1]"],
    ["with no requests at all", { requestsPerSecond: 0 }, "requestsPerSecond"],
  ])("a key %s is not created, and the response names the field", async (_, choices, parameter) => {
    const { status, body } = (await make(choices)) as unknown as Answer<Failure>;
    expect([status, body.error.code, body.error.parameter]).toEqual([400, "INVALID_REQUEST", parameter]);
  });

  test("an empty change changes nothing", async () => {
    const { key: _, ...made } = (await make({ requestsPerSecond: 50 })).body;
    const changed = await tenants.server.request("PATCH", `/api/keys/${made.id}`, { unknown: 1 });
    expect(changed).toMatchObject({ status: 200, body: made });
  });

  test.each([
    [["127.0.0.1"], "127.0.0.1", true],
    [["127.0.0.1"], "::ffff:127.0.0.1", true],
    [["::ffff:127.0.0.1"], "127.0.0.1", true],
    [["127.0.0.1"], "127.0.0.2", false],
    [["10.0.0.0/8"], "10.255.0.1", true],
    [["10.1.2.3/8"], "10.255.0.1", true],
    [["10.0.0.0/8"], "11.0.0.1", false],
    [["10.0.0.0/8"], "::ffff:10.1.1.1", true],
    [["192.0.2.128/25"], "192.0.2.127", false],
    [["0.0.0.0/0"], "203.0.113.7", true],
    [["0.0.0.0/0"], "2001:db8::1", false],
    [["2001:db8::/32"], "2001:db8:ffff::1", true],
    [["2001:db8::/32"], "2001:db9::1", false],
    [["2001:db8::1"], "2001:0db8:0:0:0:0:0:1", true],
    [["::/0"], "2001:db8::1", true],
    [["203.0.113.7", "2001:db8::/32"], "2001:db8::9", true],
    [["127.0.0.1"], "not an address", false],
    [["::1"], "fe80::1%eth0", false],
  ])("a key for %j called from %s is accepted: %s", async (allowedIps, from, opens) => {
    const { key } = (await make({ allowedIps })).body;
    expect(await look(key, from)).toBe(opens ? 200 : "IP_NOT_ALLOWED");
  });

  test("a key over its rate gets 429 with the time to wait, and other keys are unaffected", async () => {
    const { key } = (await make({ requestsPerSecond: 3 })).body;
    clock.stop();
    const answers: Answer<Partial<Failure>>[] = [];
    for (let i = 0; i < 5; i += 1)
      answers.push(await tenants.server.request("GET", "/v1/messages?limit=1", undefined, { apikey: key }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
    expect(answers.map(({ headers }) => headers.get("ratelimit"))).toEqual(
      [2, 1, 0, 0, 0].map((left) => `"key";r=${left};t=1`),
    );
    expect(answers[0]?.headers.get("ratelimit-policy")).toBe('"key";q=3;w=1');
    expect(answers[4]?.headers.get("retry-after")).toBe("1");
    expect(answers[4]?.body.error?.code).toBe("RATE_LIMITED");
    expect((await tenants.server.request("GET", "/v1/messages?limit=1")).status).toBe(200);
    clock.move(1000);
    expect(await look(key)).toBe(200);
    clock.go();
  });

  test("a change of a key keeps its used-up rate", async () => {
    const { key, id } = (await make({ requestsPerSecond: 2 })).body;
    clock.stop();
    expect([await look(key), await look(key), await look(key)]).toEqual([200, 200, "RATE_LIMITED"]);
    await tenants.server.request("PATCH", `/api/keys/${id}`, { name: "Renamed" });
    expect(await look(key)).toBe("RATE_LIMITED");
    clock.go();
  });

  test("a revoked key stops working at once and stays listed as revoked", async () => {
    const { key, id } = (await make()).body;
    expect(await look(key)).toBe(200);
    const revoked = await tenants.server.request<KeyBody>("DELETE", `/api/keys/${id}`);
    expect(revoked.body.revokedAt).toBeGreaterThan(0);
    expect(await look(key)).toBe("UNAUTHORIZED");
    const again = await tenants.server.request<KeyBody>("DELETE", `/api/keys/${id}`);
    expect(again.body.revokedAt).toBe(revoked.body.revokedAt);
    expect((await tenants.server.request("POST", `/api/keys/${id}/rotate`, {})).status).toBe(404);
  });

  test("a rotated key and its successor both work until the overlap ends", async () => {
    const old = (await make({ allowedIps: ["10.0.0.0/8"], requestsPerSecond: 900 })).body;
    const rotated = await tenants.server.request<KeyBody>("POST", `/api/keys/${old.id}/rotate`, {
      overlapHours: 1.23456789,
    });
    expect(rotated.status).toBe(201);
    const { name, mode, scopes, allowedIps, requestsPerSecond } = old;
    expect(rotated.body).toMatchObject({ name, mode, scopes, allowedIps, requestsPerSecond, expiresAt: null });
    expect([await look(old.key), await look(rotated.body.key)]).toEqual([200, 200]);
    clock.move(1.3 * HOUR_MS);
    expect([await look(old.key), await look(rotated.body.key)]).toEqual(["UNAUTHORIZED", 200]);
  });

  test("an overlap of zero ends the old key at once, and an overlap never extends a key's life", async () => {
    const first = (await make()).body;
    const second = await tenants.server.request<KeyBody>("POST", `/api/keys/${first.id}/rotate`, { overlapHours: 0 });
    expect([await look(first.key), await look(second.body.key)]).toEqual(["UNAUTHORIZED", 200]);

    const expiresAt = clock.now() + HOUR_MS;
    const short = (await make({ expiresAt })).body;
    await tenants.server.request("POST", `/api/keys/${short.id}/rotate`, { overlapHours: 24 });
    expect((await tenants.server.request<KeyBody>("GET", `/api/keys/${short.id}`)).body.expiresAt).toBe(expiresAt);
  });

  test("a rotation without a body has an overlap of a day", async () => {
    const old = (await make()).body;
    expect((await tenants.server.request("POST", `/api/keys/${old.id}/rotate`)).status).toBe(201);
    const { body } = await tenants.server.request<KeyBody>("GET", `/api/keys/${old.id}`);
    expect(Math.abs((body.expiresAt ?? 0) - clock.now() - 24 * HOUR_MS)).toBeLessThan(60_000);
  });

  test("the key header is read in any case, and twice if both are equal", async () => {
    const { key, url } = tenants.server;
    const headers: [string[], number][] = [
      [["apikey", key], 200],
      [["apiKey", key], 200],
      [["APIKEY", key], 200],
      [["ApiKey", key], 200],
      [["apikey", key, "apikey", key], 200],
      [["apikey", key, "apiKey", key, "APIKEY", key], 200],
      [["apikey", key, "apikey", `${key}x`], 401],
      [["apikey", `${key}x`, "apikey", key], 401],
      [["apikey", key, "apikey", ""], 401],
      [["api-key", key], 401],
      [["authorization", `Bearer ${key}`], 401],
      [["apikey", key.toLowerCase()], 401],
    ];
    for (const [pairs, expected] of headers) expect([pairs, await statusOf(url, pairs)]).toEqual([pairs, expected]);
  });

  test("the 21st bad key of a minute is 429 for its address, while good keys and other addresses work", async () => {
    clock.stop();
    const from = "198.51.100.7";
    const seen: (number | string)[] = [];
    for (let i = 0; i < 22; i += 1) seen.push(await look(`wrong-${i}`, from));
    expect(seen).toEqual([...Array.from({ length: 20 }, () => "UNAUTHORIZED"), "RATE_LIMITED", "RATE_LIMITED"]);
    expect(await look(tenants.server.key, from)).toBe(200);
    expect(await look("wrong", "198.51.100.8")).toBe("UNAUTHORIZED");
    const limited = await tenants.server.request<Failure>("GET", "/v1/messages", undefined, {
      apikey: "",
      "x-forwarded-for": from,
    });
    expect(limited.status).toBe(429);
    const waitSeconds = Number(limited.headers.get("retry-after"));
    expect(waitSeconds).toBeGreaterThan(0);
    clock.move(waitSeconds * 1000);
    expect(await look("wrong", from)).toBe("UNAUTHORIZED");
    clock.go();
  });

  test("a test key never gets the scope manage, neither when created nor later", async () => {
    const made = await make({ mode: "test", scopes: ["sms", "manage"] });
    expect(made.status).toBe(400);
    const { body } = await make({ mode: "test", scopes: ["sms"] });
    const changed = await tenants.server.request<{ error: ErrorBody }>("PATCH", `/api/keys/${body.id}`, {
      scopes: ["manage"],
    });
    expect([changed.status, changed.body.error.parameter]).toEqual([400, "scopes"]);
  });

  test("messages of a test key are marked as test and reach the simulator", async () => {
    const { key } = (await make({ mode: "test" })).body;
    expect(key).toMatch(/^hg_test_/);
    for (const apikey of [key, tenants.server.testKey]) {
      const sent = await tenants.server.send({ to: "15550100444", text: "From a test key" }, { apikey });
      const messageId = sent.body.data[0]?.messageId ?? "";
      expect(await tenants.server.settled(messageId)).toMatchObject({ test: true, status: "Delivered" });
      const phone = await tenants.server.onPhone("15550100444");
      expect(phone.map((message) => message.messageId)).toContain(messageId);
    }
    const live = await tenants.server.request<Envelope>("POST", "/v1/sms", {
      sender: "HELIOG",
      to: "15550100100",
      text: "Live",
      type: "TRANS",
    });
    expect((await tenants.server.message(live.body.data[0]?.messageId ?? "")).test).toBe(false);
  });

  test("the last use of a key is shown at once and survives a restart", async () => {
    const unused = (await make()).body;
    const before = await tenants.server.request<KeyBody>("GET", `/api/keys/${unused.id}`);
    expect(before.body.lastUsedAt).toBeNull();
    await look(unused.key);
    const after = await tenants.server.request<KeyBody>("GET", `/api/keys/${unused.id}`);
    expect(after.body.lastUsedAt).toBeGreaterThan(0);

    const dataDir = await mkdtemp(join(tmpdir(), "heliograph-keys-"));
    const database = engine === "postgres" ? await migratedDatabase(inject("postgresUrl")) : null;
    const env = { HELIOGRAPH_DATA_DIR: dataDir, ...(database ? { HELIOGRAPH_DATABASE_URL: database.url } : {}) };
    const first = await startTestServer(engine, { env });
    const usedAt = (await first.request<{ data: KeyBody[] }>("GET", "/api/keys")).body.data.map(
      (key) => key.lastUsedAt,
    );
    await first.close();
    expect(usedAt.filter((at) => at !== null)).toHaveLength(1);
    const query = "select last_used_at from api_keys order by id";
    expect(await rowsOf(database?.url ?? join(dataDir, "heliograph.db"), query)).toEqual(
      usedAt.map((at) => ({ last_used_at: at })),
    );
    await database?.drop();
    await rm(dataDir, { recursive: true });
  });
});

/** All that lies on disk: the files of SQLite as they are, or every row of every table of PostgreSQL. */
async function everythingStored({ dataDir, databaseUrl, execute }: Tenants): Promise<string> {
  if (databaseUrl === null)
    return readdirSync(dataDir)
      .map((name) => readFileSync(join(dataDir, name), "latin1"))
      .join("\n");
  const tables = (await execute("select table_name from information_schema.tables where table_schema = 'public'")) as {
    table_name: string;
  }[];
  const dumps: string[] = [];
  for (const { table_name } of tables) dumps.push(JSON.stringify(await execute(`select * from ${table_name}`)));
  return dumps.join("\n");
}

async function rowsOf(place: string, query: string): Promise<unknown[]> {
  if (!place.startsWith("postgres")) {
    const db = new DatabaseSync(place);
    const rows = db
      .prepare(query)
      .all()
      .map((row) => ({ ...row }));
    db.close();
    return rows;
  }
  const client = new Client({ connectionString: place });
  await client.connect();
  const { rows } = await client.query<Record<string, string | null>>(query);
  await client.end();
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : Number(value)])),
  );
}

/** The status of a request whose headers go out exactly as they are written. */
function statusOf(url: string, headers: readonly string[]): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const request = httpRequest(`${url}/v1/messages?limit=1`, {
    agent: false,
    headers: ["host", "localhost", ...headers, "connection", "close"],
  });
  request.on("response", (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  request.on("error", reject);
  request.end();
  return promise;
}
