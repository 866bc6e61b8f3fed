import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { describe, expect, inject, test } from "vitest";
import { startApp, type App } from "../../src/app/start.ts";
import { readConfig } from "../../src/config.ts";
import { createLog } from "../../src/lib/log.ts";
import { newKeySecret } from "../../src/model/api-key.ts";
import { bind } from "../../src/smpp/client.ts";
import { submitSm } from "../../src/smpp/pdu.ts";
import { SERVER } from "../support/entries.ts";
import { migratedDatabase } from "../support/databases.ts";
import { ENGINES, type EngineName } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { logIn } from "../support/session-user.ts";

/** Values that only a customer or the operator may read. */
const CANARIES = {
  text: "canary-text-5d2f",
  sender: "CANARYSENDER",
  number: "15559876543",
  badNumber: "canary-number-9c1",
  campaign: "canary-campaign-77a",
  idempotencyKey: "canary-idempotency-3e",
  keyName: "canary-key-name-b0",
  badKey: "canary-bad-key-41",
  adminPassword: "canary-admin-password-6",
  databasePassword: "canary-database-password-8",
  adminEmail: "canary-owner@example.com",
  masterKey: "canary-master-key-0123456789",
  typedEmail: "canary-typed@example.com",
  typedPassword: "canary-typed-password",
  typedCode: "canary-typed-code",
  session: `canary-session-${"x".repeat(28)}`,
  csrf: "canary-csrf-token",
  bindPassword: "canary-b",
};

const SEND = {
  sender: CANARIES.sender,
  to: CANARIES.number,
  text: CANARIES.text,
  type: "TRANS",
  campaignName: CANARIES.campaign,
};

interface Behind {
  execute(sql: string): Promise<unknown>;
  close(): Promise<void>;
}

describe.each(ENGINES)("the log on %s", (engine) => {
  test("the log contains no text, number, name or secret at any level, whatever fails", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "heliograph-log-"));
    const database = engine === "postgres" ? await migratedDatabase(inject("postgresUrl")) : null;
    const secrets = { liveKey: newKeySecret("live"), testKey: newKeySecret("test") };
    const lines: string[] = [];
    const config = readConfig({
      HELIOGRAPH_PORT: "0",
      HELIOGRAPH_SMPP_PORT: "0",
      HELIOGRAPH_DATA_DIR: dataDir,
      HELIOGRAPH_LOG_LEVEL: "debug",
      HELIOGRAPH_BODY_MAX_MB: "1",
      HELIOGRAPH_API_KEY: secrets.liveKey,
      HELIOGRAPH_TEST_API_KEY: secrets.testKey,
      HELIOGRAPH_ADMIN_PASSWORD: CANARIES.adminPassword,
      HELIOGRAPH_ADMIN_EMAIL: CANARIES.adminEmail,
      HELIOGRAPH_MASTER_KEY: CANARIES.masterKey,
      ...(database ? { HELIOGRAPH_DATABASE_URL: withPassword(database.url) } : {}),
    });
    const app = await startApp(config, { log: createLog("debug", { write: (line) => void lines.push(line) }) });
    const behind = database ? await behindPostgres(database.url) : behindSqlite(join(dataDir, "heliograph.db"));
    const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<number> =>
      statusOf(app.url + path, method, body, { apikey: secrets.liveKey, ...headers });
    const logged = (text: string): boolean => lines.some((line) => line.includes(`"msg":"${text}"`));

    await ordinaryLife(ask, secrets);
    await refusals(ask);
    const session = await peopleComeAndGo(app.url);
    const systemPassword = await smppClientBinds(app, secrets.liveKey);
    expect(logged("smpp bind refused") && logged("smpp bound")).toBe(true);

    // The change stands, and the log has what the store could not take.
    await behind.execute("alter table audit rename to audit_away");
    expect(await ask("POST", "/api/optouts", { number: CANARIES.number, note: CANARIES.text })).toBe(200);
    expect(logged("audit entry not written")).toBe(true);
    await behind.execute("alter table audit_away rename to audit");

    await behind.execute("alter table sessions rename to sessions_away");
    expect(await statusOf(`${app.url}/api/session`, "GET", undefined, { cookie: session.cookie })).toBe(500);
    await behind.execute("alter table sessions_away rename to sessions");

    await behind.execute(refuseRows(engine));
    expect(await ask("POST", "/v1/sms", SEND)).toBe(500);
    expect(logged("request failed")).toBe(true);
    await behind.execute(acceptRows(engine));

    await behind.execute(refuseMoves(engine));
    expect(await ask("POST", "/v1/sms", SEND)).toBe(200);
    await eventually(() => logged("dispatch failed"), Boolean);
    await behind.execute(acceptMoves(engine));

    await behind.execute("alter table phones rename to phones_away");
    expect(await ask("GET", "/api/simulator/phones")).toBe(500);
    await behind.execute("alter table phones_away rename to phones");

    const away = database ? await statusesWhileAway(database.url, ask, () => logged("job failed")) : [503];
    expect(new Set(away)).toEqual(new Set([503]));

    await behind.close();
    await app.stop();
    const log = lines.join("");
    expect(lines.length).toBeGreaterThanOrEqual(3);
    const [, token = ""] = session.cookie.split("=");
    for (const canary of [
      ...Object.values(CANARIES),
      ...Object.values(secrets),
      token,
      session.csrfToken,
      systemPassword,
    ])
      expect(log).not.toContain(canary);
    expect(log.toLowerCase()).not.toContain("canary");
    expect(log).not.toMatch(/hg_(live|test)_/);
    expect(log).not.toContain("5559876543");
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty("msg");
    await database?.drop();
    await rm(dataDir, { recursive: true });
  });
});

test("a secret in the text of an error, its cause or a field does not reach the log", () => {
  const lines: string[] = [];
  const log = createLog("debug", { write: (line) => void lines.push(line) });
  const key = newKeySecret("live");
  const cause = new Error(`number +${CANARIES.number} with ${key}`);
  log.error({ err: new Error(`key ${key}`, { cause }) }, "request failed");
  log.warn({ err: `${key} ${CANARIES.number}` }, "job failed");
  log.info(
    { apikey: key, message: { text: CANARIES.text, to: CANARIES.number }, request: { headers: { apikey: key } } },
    "message taken",
  );
  expect(lines).toHaveLength(3);
  for (const secret of [key, CANARIES.number, CANARIES.text]) expect(lines.join("")).not.toContain(secret);
});

test("a failed start logs the reason without the password", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "heliograph-log-"));
  const child = spawn(process.execPath, [SERVER], {
    cwd: join(import.meta.dirname, "../.."),
    env: {
      PATH: process.env["PATH"],
      HELIOGRAPH_PORT: "0",
      HELIOGRAPH_DATA_DIR: dataDir,
      HELIOGRAPH_LOG_LEVEL: "debug",
      HELIOGRAPH_MASTER_KEY: CANARIES.masterKey,
      HELIOGRAPH_START_WAIT_SECONDS: "0",
      HELIOGRAPH_DATABASE_URL: `postgres://someone:${CANARIES.databasePassword}@127.0.0.1:1/none`,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
  const [code] = (await once(child, "close")) as [number];
  expect(code).toBe(1);
  expect(printed).toMatch(/^heliograph: .+\n$/);
  expect(printed).not.toContain("canary");
  await rm(dataDir, { recursive: true });
});

type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<number>;

async function ordinaryLife(ask: Ask, { testKey }: { testKey: string }): Promise<void> {
  expect(await ask("POST", "/v1/sms", SEND, { "idempotency-key": CANARIES.idempotencyKey })).toBe(200);
  expect(await ask("POST", "/v1/sms", SEND, { "idempotency-key": CANARIES.idempotencyKey })).toBe(200);
  expect(
    await ask("POST", "/v1/sms", { ...SEND, to: [CANARIES.number, CANARIES.badNumber] }, { apikey: testKey }),
  ).toBe(200);
  for (const ending of ["9001", "9003", "9006", "9008"])
    expect(await ask("POST", "/v1/sms", { ...SEND, to: `1555987${ending}` })).toBe(200);
  expect(await ask("GET", `/api/simulator/messages/wait?to=${CANARIES.number}`)).toBe(200);
  expect(await ask("GET", `/v1/messages?recipient=${CANARIES.number}&campaignName=${CANARIES.campaign}`)).toBe(200);
  expect(await ask("POST", "/api/keys", { name: CANARIES.keyName, scopes: ["read"] })).toBe(201);
}

/** Logs in, fails to log in in every way, and leaves one session open. */
async function peopleComeAndGo(url: string): Promise<{ cookie: string; csrfToken: string }> {
  const { adminEmail: email, adminPassword: password, typedEmail, typedPassword, typedCode } = CANARIES;
  const enter = (body: object): Promise<number> => statusOf(`${url}/api/session`, "POST", body, {});
  expect(await enter({ email: typedEmail, password: typedPassword, totp: typedCode })).toBe(401);
  expect(await enter({ email, password: typedPassword })).toBe(401);
  expect(await enter({ email: typedPassword, password: [typedPassword] })).toBe(400);
  const person = await logIn(url, { email, password });
  const asPerson = (method: string, path: string, headers: Record<string, string> = {}): Promise<number> =>
    statusOf(url + path, method, undefined, { cookie: person.cookie, ...headers });
  expect(await asPerson("DELETE", "/api/session", { "x-csrf-token": CANARIES.csrf })).toBe(403);
  const forged = { cookie: `heliograph_session=${CANARIES.session}` };
  expect(await statusOf(`${url}/api/session`, "GET", undefined, forged)).toBe(401);
  expect((await person.request("POST", "/api/session/totp", { password })).status).toBe(200);
  expect((await person.request("PUT", "/api/session/totp", { code: typedCode })).status).toBe(400);
  return { cookie: person.cookie, csrfToken: person.session.csrfToken };
}

/** Binds with a wrong password and with the right one, which it returns, and submits a text. */
async function smppClientBinds({ url, smppPorts }: App, apikey: string): Promise<string> {
  const answer = await fetch(`${url}/api/credentials`, {
    method: "POST",
    headers: { apikey, "content-type": "application/json" },
    body: JSON.stringify({ kind: "smpp", name: CANARIES.keyName }),
  });
  const { username: systemId, password } = (await answer.json()) as { username: string; password: string };
  const login = { host: "127.0.0.1", port: smppPorts.plain ?? 0, systemId, onRequest: () => null };
  expect((await bind({ ...login, password: CANARIES.bindPassword })).kind).toBe("refused");
  const result = await bind({ ...login, password });
  if (result.kind !== "bound") throw new Error(`not bound: ${JSON.stringify(result)}`);
  const source = { ton: 5, npi: 0, address: CANARIES.sender.slice(0, 11) };
  const destination = { ton: 1, npi: 1, address: CANARIES.number };
  const submit = submitSm({ source, destination, shortMessage: Buffer.from(CANARIES.text) });
  expect(await result.session.request(submit)).toMatchObject({ kind: "answer", pdu: { status: 0 } });
  await result.session.unbind();
  return password;
}

async function refusals(ask: Ask): Promise<void> {
  expect(await ask("POST", "/v1/sms", `{"text":"${CANARIES.text}","to":${CANARIES.number},`)).toBe(400);
  expect(await ask("POST", "/v1/sms", { ...SEND, type: CANARIES.text })).toBe(400);
  expect(await ask("POST", "/v1/sms", { ...SEND, to: CANARIES.badNumber })).toBe(400);
  expect(await ask("POST", "/v1/sms", { ...SEND, text: CANARIES.text.repeat(200) })).toBe(400);
  expect(await ask("POST", "/v1/sms", { ...SEND, text: CANARIES.text.repeat(80_000) })).toBe(413);
  expect(await ask("POST", "/v1/sms", SEND, { "content-type": `text/${CANARIES.text}` })).toBe(415);
  expect(await ask("POST", "/v1/sms", { ...SEND, text: "other" }, { "idempotency-key": CANARIES.idempotencyKey })).toBe(
    422,
  );
  expect(await ask("POST", "/v1/sms", SEND, { apikey: CANARIES.badKey })).toBe(401);
  expect(await ask("GET", `/${CANARIES.text}/${CANARIES.number}?text=${CANARIES.text}`)).toBe(404);
  expect(await ask("GET", `/v1/messages/${CANARIES.number}%zz`)).toBe(404);
  expect(await ask("DELETE", `/v1/sms?to=${CANARIES.number}`)).toBe(405);
}

/** PostgreSQL shows the whole row in the detail of such an error. */
const refuseRows = (engine: EngineName): string =>
  engine === "postgres"
    ? `alter table messages add constraint no_rows check (recipient <> '${CANARIES.number}') not valid`
    : `create trigger no_rows before insert on messages when new.recipient = '${CANARIES.number}' begin select raise(abort, 'refused'); end`;
const acceptRows = (engine: EngineName): string =>
  engine === "postgres" ? "alter table messages drop constraint no_rows" : "drop trigger no_rows";

const refuseMoves = (engine: EngineName): string =>
  engine === "postgres"
    ? "alter table messages add constraint no_moves check (state <> 'submitting') not valid"
    : "create trigger no_moves before update on messages begin select raise(abort, 'refused'); end";
const acceptMoves = (engine: EngineName): string =>
  engine === "postgres" ? "alter table messages drop constraint no_moves" : "drop trigger no_moves";

function behindSqlite(path: string): Behind {
  const db = new DatabaseSync(path, { timeout: 10_000 });
  return { execute: async (sql) => db.exec(sql), close: async () => db.close() };
}

async function behindPostgres(url: string): Promise<Behind> {
  const client = new Client({ connectionString: url });
  // It goes away with all the others when the database does.
  client.on("error", () => undefined);
  await client.connect();
  return { execute: (sql) => client.query(sql), close: () => client.end().catch(() => undefined) };
}

function withPassword(url: string): string {
  const changed = new URL(url);
  changed.password = CANARIES.databasePassword;
  return changed.href;
}

/** Statuses of sends while the database refuses connections, once the jobs have noticed too. */
async function statusesWhileAway(url: string, ask: Ask, noticed: () => boolean): Promise<number[]> {
  const name = new URL(url).pathname.slice(1);
  const admin = new URL(url);
  admin.pathname = "/postgres";
  const client = new Client({ connectionString: admin.href });
  await client.connect();
  await client.query(`alter database ${name} with allow_connections false`);
  await client.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
  const statuses: number[] = [];
  while (statuses.length < 3 || !noticed()) statuses.push(await ask("POST", "/v1/sms", SEND));
  await client.query(`alter database ${name} with allow_connections true`);
  await client.end();
  return statuses;
}

async function statusOf(url: string, method: string, body: unknown, headers: Record<string, string>): Promise<number> {
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  await response.body?.cancel();
  return response.status;
}
