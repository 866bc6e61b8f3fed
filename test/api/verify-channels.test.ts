import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { startApp } from "../../src/app/start.ts";
import { readConfig } from "../../src/config.ts";
import { createLog } from "../../src/lib/log.ts";
import { newKeySecret } from "../../src/model/api-key.ts";
import { migratedDatabase } from "../support/databases.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startMovedClockServer, type MovedClockServer } from "../support/moved-clock-server.ts";
import { transitionAll } from "../support/transitions.ts";

const BOT = { channel: "rcs", from: "heliograph", template: "otp-rcs", waitSeconds: 20 };
const CHAT = { channel: "chatapp", from: "+15550100199", template: "otp_chat", waitSeconds: 30 };
const SMS = { channel: "sms", from: "HELIOG" };

describe.each(ENGINES)("the channels of a verification on %s", (engine) => {
  let server: MovedClockServer;
  beforeAll(async () => {
    server = await startMovedClockServer(engine);
    const body = "Your code is {{1}}";
    await server.request("POST", "/api/templates", { channel: "rcs", name: "otp-rcs", kind: "text", text: body });
    await server.request("POST", "/api/templates", {
      channel: "chatapp",
      name: "otp_chat",
      category: "authentication",
      body,
    });
    await server.request("POST", "/api/verify-configs", { name: "three", channels: [BOT, CHAT, SMS] });
  });
  afterAll(() => server.close());

  /** In small steps, because a job has one turn in each. */
  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 2500) await server.travel(2500);
  }
  const send = async (to: string): Promise<string> =>
    (await server.request<{ data: string }>("POST", "/v1/verify", { configId: "three", to })).body.data;
  const onPhone = async (to: string): Promise<{ channel: string; text: string }[]> =>
    (await server.onPhone(to)).toReversed() as unknown as { channel: string; text: string }[];
  const codesIn = (messages: readonly { text: string }[]): (string | undefined)[] =>
    messages.map(({ text }) => /\d{6}/.exec(text)?.[0]);

  test("a code delivered by the first channel uses no other", async () => {
    const to = "15550700100";
    const id = await send(to);
    await pass(120_000);
    const seen = await onPhone(to);
    expect(seen.map(({ channel }) => channel)).toEqual(["rcs"]);
    expect((await server.message(`${id}:1`)).status).toBe("Delivered");
  });

  test("without a delivery the same code uses each channel in turn, and is valid from any of them", async () => {
    // Numbers that end so are never reported on.
    const to = "15550709004";
    const id = await send(to);
    await pass(10_000);
    const channels = async (): Promise<string[]> => (await onPhone(to)).map(({ channel }) => channel);
    expect(await channels()).toEqual(["rcs"]);
    await pass(15_000);
    expect(await channels()).toEqual(["rcs", "chatapp"]);
    await pass(35_000);
    expect(await channels()).toEqual(["rcs", "chatapp", "sms"]);
    await pass(100_000);
    const seen = await onPhone(to);
    expect(seen).toHaveLength(3);
    expect(new Set(codesIn(seen)).size).toBe(1);
    const latest = await server.request<{ otp: string; verifyId: string }>("GET", `/api/simulator/otp/latest?to=${to}`);
    expect(latest.body).toMatchObject({ verifyId: id, otp: codesIn(seen)[0] });
    const { status } = await server.request("POST", "/v1/verify/validate", { verifyId: id, otp: latest.body.otp });
    expect(status).toBe(200);
  });

  test("a number that is not on a channel gets the code by the next one", async () => {
    const to = "15550709009";
    const id = await send(to);
    await pass(60_000);
    const seen = await onPhone(to);
    expect(seen.map(({ channel }) => channel)).toEqual(["sms"]);
    const { status } = await server.request("POST", "/v1/verify/validate", { verifyId: id, otp: codesIn(seen)[0] });
    expect(status).toBe(200);
  });

  test("the next channel starts at once after a certain failure", async () => {
    const to = "15550719009";
    await send(to);
    // Each of the first two channels would be waited for far longer than that.
    await pass(10_000);
    expect((await onPhone(to)).map(({ channel }) => channel)).toEqual(["sms"]);
  });

  test("a late failure of a channel starts nothing once another had its turn", async () => {
    const to = "15550789004";
    const id = await send(to);
    await pass(25_000);
    const failure = { accountId: 1, requestId: id, n: 1, to: "undelivered", at: server.clock.now(), owner: 0 } as const;
    await transitionAll(server.app.store, [failure]);
    await server.app.store.startNextNow({ accountId: 1, requestId: id }, server.clock.now());
    await pass(10_000);
    expect((await onPhone(to)).map(({ channel }) => channel)).toEqual(["rcs", "chatapp"]);
  });

  test("a verified or superseded code uses no further channel", async () => {
    const to = "15550719004";
    const first = await send(to);
    const second = await send(to);
    await pass(5000);
    const codes = (await server.onPhone(to)).filter(({ messageId }) => messageId.startsWith(second));
    const { status } = await server.request("POST", "/v1/verify/validate", {
      verifyId: second,
      otp: codesIn(codes)[0],
    });
    expect([first === second, status]).toEqual([false, 200]);
    await pass(300_000);
    expect(await onPhone(to)).toHaveLength(2);
    expect(await server.rows("select id from verifications where plan is not null")).toEqual([]);
  });

  test("a code delivered late by an earlier channel uses no further one", async () => {
    const to = "15550729004";
    const id = await send(to);
    await pass(25_000);
    const delivery = { accountId: 1, requestId: id, n: 1, to: "delivered", at: server.clock.now(), owner: 0 } as const;
    await transitionAll(server.app.store, [delivery]);
    await pass(100_000);
    expect((await onPhone(to)).map(({ channel }) => channel)).toEqual(["rcs", "chatapp"]);
  });

  test("a code uses the channels it was created with, and shows its remaining validity", async () => {
    const to = "15550739004";
    const slow = { ...BOT, waitSeconds: 100 };
    const words = { text: "{code} for {minutes} min", lifeSeconds: 180 };
    const { body } = await server.request<{ id: string }>("POST", "/api/verify-configs", {
      name: "changed",
      channels: [slow, SMS],
      ...words,
    });
    await server.request("POST", "/v1/verify", { configId: "changed", to });
    await server.request("PATCH", `/api/verify-configs/${body.id}`, { channels: [CHAT] });
    await pass(110_000);
    const seen = await onPhone(to);
    expect(seen.map(({ channel }) => channel)).toEqual(["rcs", "sms"]);
    expect(seen[1]?.text).toMatch(/^\d{6} for 1 min$/);
  });

  test("a code that a real channel did not deliver does not use a simulated one", async () => {
    const smpp = { host: "127.0.0.1", port: 1, systemId: "x", password: "y" };
    const carrier = await server.request<{ id: string }>("POST", "/api/carriers", {
      name: "real",
      adapter: "smpp",
      smpp,
    });
    const route = { name: "real texts", channel: "sms", carrier: "real" };
    const made = await server.request<{ id: string }>("POST", "/api/routes", route);
    const channels = [{ ...SMS, waitSeconds: 20 }, BOT];
    const config = await server.request("POST", "/api/verify-configs", { name: "real-first", channels });
    expect([carrier.status, made.status, config.status]).toEqual([201, 201, 201]);
    const to = "15550799004";
    const sent = await server.request<{ data: string }>("POST", "/v1/verify", { configId: "real-first", to });
    expect(sent.status).toBe(200);
    await pass(60_000);
    expect(await onPhone(to)).toEqual([]);
    const plans = await server.rows(`select id from verifications where id = '${sent.body.data}' and plan is not null`);
    expect(plans).toEqual([]);
    for (const path of [`routes/${made.body.id}`, `carriers/${carrier.body.id}`])
      expect((await server.request("DELETE", `/api/${path}`)).status).toBe(200);
  });

  test("after a crash the next owner does not send the code again", async () => {
    const to = "15550749004";
    const id = await send(to);
    const [due] = await server.rows<{ plan: string; next_at: number }>(
      `select plan, next_at from verifications where id = '${id}'`,
    );
    await pass(25_000);
    await server.rows(
      `update verifications set plan = '${due?.plan}', next_at = ${due?.next_at} where id = '${id}' returning id`,
    );
    await pass(5000);
    expect((await onPhone(to)).map(({ channel }) => channel)).toEqual(["rcs", "chatapp"]);
  });

  test("every message of a verification counts for its prefix, and none is sent over the limit", async () => {
    const to = "15550759004";
    const { body: before } = await server.request<{ otpGuard: object }>("GET", "/api/account");
    const otpGuard = { ...before.otpGuard, prefixUnused: 2 };
    await server.request("PATCH", "/api/account", { limits: "everywhere", otpGuard });
    await send(to);
    await pass(100_000);
    await server.request("PATCH", "/api/account", { limits: "real carriers", otpGuard: before.otpGuard });
    expect((await onPhone(to)).map(({ channel }) => channel)).toEqual(["rcs", "chatapp"]);
    const rows = await server.rows("select owed from verify_prefixes where prefix = '1555075'");
    expect(rows).toEqual([{ owed: 2 }]);
  });
});

/** Every row of every table, but for what lies on the simulated phones: that is where a code is to be read. */
const TABLES = [
  "messages", "verifications", "verify_sources", "verify_requests", "verify_numbers", "verify_tallies", "verify_prefixes", "verify_strays",
  "idempotency", "callbacks", "inbound", "catalog",
  "ledger", "submissions", "accounts", "api_keys",
]; // prettier-ignore

describe.each(ENGINES)("a code on %s", (engine) => {
  test("a code is only on the phone: not in the log, the store or any other response", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "heliograph-otp-"));
    const database = engine === "postgres" ? await migratedDatabase(inject("postgresUrl")) : null;
    const key = newKeySecret("live");
    const lines: string[] = [];
    const app = await startApp(
      readConfig({
        HELIOGRAPH_PORT: "0",
        HELIOGRAPH_DATA_DIR: dataDir,
        HELIOGRAPH_LOG_LEVEL: "debug",
        HELIOGRAPH_API_KEY: key,
        ...(database ? { HELIOGRAPH_DATABASE_URL: database.url } : {}),
      }),
      { log: createLog("debug", { write: (line) => void lines.push(line) }) },
    );
    const answers: string[] = [];
    const ask = async (method: string, path: string, body?: object): Promise<string> => {
      const response = await fetch(app.url + path, {
        method,
        headers: { apikey: key, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!path.startsWith("/api/simulator")) answers.push(text);
      return text;
    };
    const rows = await openRows(database?.url ?? null, dataDir);
    const stored = async (): Promise<string> => {
      const all: unknown[] = [];
      for (const table of TABLES) all.push(await rows.of(table));
      return JSON.stringify(all);
    };

    await ask("POST", "/api/verify-configs", {
      name: "canary",
      length: 10,
      alphabet: "letters and digits",
      channels: [{ ...SMS, waitSeconds: 200 }, SMS],
    });
    // While the carrier is down the message waits, with its text sealed.
    await ask("PUT", "/api/simulator/chaos", { down: true });
    const to = "15559876543";
    const { data: id } = JSON.parse(await ask("POST", "/v1/verify", { configId: "canary", to })) as { data: string };
    const waiting = await stored();
    expect(waiting).toContain("sealed");
    // The way to the next channel lies there too.
    expect(await rows.of("verifications")).toMatchObject([{ plan: expect.any(String) as string }]);
    await ask("PUT", "/api/simulator/chaos", { down: false });
    const otp = await eventually(
      async () => (JSON.parse(await ask("GET", `/api/simulator/otp/latest?to=${to}`)) as { otp?: string }).otp ?? "",
      (code) => code !== "",
    );
    expect(otp).toMatch(/^[2-9A-Z]{10}$/);
    expect(waiting).not.toContain(otp);
    await eventually(
      () => rows.of("messages"),
      (messages) => JSON.stringify(messages).includes("delivered"),
    );
    await ask("POST", "/v1/verify/validate", { verifyId: id, otp: "ZZZZZZZZZZ" });
    for (const path of [`/v1/messages/${id}:1`, `/api/messages/${id}:1`, "/v1/messages", "/api/messages"])
      await ask("GET", path);
    for (const path of [`/v1/verify/${id}`, "/api/verifications", "/api/config", "/metrics"]) await ask("GET", path);
    const sent = await stored();
    expect(sent).not.toContain("sealed");
    await ask("POST", "/v1/verify/validate", { verifyId: id, otp });
    for (const text of [sent, await stored(), lines.join(""), ...answers]) expect(text).not.toContain(otp);
    await rows.close();
    await app.stop();
    await rm(dataDir, { recursive: true });
    await database?.drop();
  });
});

test("the file of an unsent code contains nothing of its text", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "heliograph-otp-"));
  const key = newKeySecret("live");
  const app = await startApp(
    readConfig({
      HELIOGRAPH_PORT: "0",
      HELIOGRAPH_DATA_DIR: dataDir,
      HELIOGRAPH_LOG_LEVEL: "silent",
      HELIOGRAPH_API_KEY: key,
      HELIOGRAPH_ROLES: "api",
    }),
  );
  const ask = (path: string, body: object): Promise<Response> =>
    fetch(app.url + path, {
      method: "POST",
      headers: { apikey: key, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  await ask("/api/verify-configs", { name: "canary", text: "{code} {code}" });
  for (let sent = 0; sent < 50; sent += 1) await ask("/v1/verify", { configId: "canary", to: "15550100100" });
  const files = await readdir(dataDir);
  for (const file of files) expect(await readFile(join(dataDir, file), "latin1")).not.toMatch(/\b(\d{6}) \1\b/);
  expect(files).toContain("heliograph.db-wal");
  await app.stop();
  await rm(dataDir, { recursive: true });
});

async function openRows(
  url: string | null,
  dataDir: string,
): Promise<{ of(table: string): Promise<unknown[]>; close(): Promise<void> }> {
  if (url === null) {
    const file = new DatabaseSync(join(dataDir, "heliograph.db"), { timeout: 10_000 });
    return { of: async (table) => file.prepare(`select * from ${table}`).all(), close: async () => file.close() };
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  return { of: async (table) => (await client.query(`select * from ${table}`)).rows, close: () => client.end() };
}
