import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { freshDatabase, type FreshDatabase } from "../support/databases.ts";
import { ENGINES, hasPostgres } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { bundleCommit, hasCommit, OLDER } from "../support/older-release.ts";
import { canTestWith } from "../support/programmes.ts";
import { copyPostgresRows, copySqliteRows, type RowCopy } from "../support/row-copy.ts";
import { startServer, type ServerProcess } from "../support/server-process.ts";
import { openSink, type Sink } from "../support/sink.ts";

const hasHistory = canTestWith(hasCommit(OLDER), "the history of the repository: check out with fetch-depth: 0");

const CALLBACKS = 10;
const MASTER_KEY = "the master key of both releases";

/** The fields of any answer that this test reads. */
interface Body {
  id: string;
  data: string | Message[];
  otp?: string;
}

interface Answer {
  status: number;
  body: Body;
}

interface Message {
  messageId: string;
  state: string;
}

async function request(node: ServerProcess, path: string, body?: object, method?: string): Promise<Answer> {
  const response = await fetch(node.baseUrl + path, {
    method: method ?? (body ? "POST" : "GET"),
    headers: { apikey: node.apiKey, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

const messagesOf = ({ body }: Answer): Message[] => (Array.isArray(body.data) ? body.data : []);

let bundling: Promise<string> | null = null;
/** The older server, bundled once for this file. */
const olderEntry = (): Promise<string> =>
  (bundling ??= mkdtemp(join(inject("scratchFolder"), "older-")).then((folder) => bundleCommit(OLDER, folder)));

describe.runIf(hasPostgres && hasHistory)("an upgrade node by node on PostgreSQL", () => {
  let older: ServerProcess;
  let newer: ServerProcess;
  let database: FreshDatabase;
  let olderSchema: string[];
  const sent: string[] = [];
  beforeAll(async () => {
    const entry = await olderEntry();
    database = await freshDatabase(inject("postgresUrl"));
    const env = { HELIOGRAPH_DATABASE_URL: database.url, HELIOGRAPH_MASTER_KEY: MASTER_KEY };
    older = await startServer({ env, entry });
    olderSchema = await migrations();
    await send(older);
    // The newer node migrates the schema while the older one serves.
    newer = await startServer({ env: { ...env, HELIOGRAPH_API_KEY: older.apiKey } });
  });
  afterAll(async () => {
    await newer.cleanup();
    await older.cleanup();
    await database.drop();
  });

  async function send(node: ServerProcess): Promise<void> {
    const body = { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS", campaignName: "rolling" };
    const answer = await request(node, "/v1/sms", body);
    expect(answer.status).toBe(200);
    sent.push(messagesOf(answer)[0]?.messageId ?? "");
  }

  const allDelivered = (node: ServerProcess): Promise<Message[]> =>
    eventually(
      async () => messagesOf(await request(node, "/v1/messages?limit=100")),
      (messages) =>
        sent.every((id) => messages.some(({ messageId, state }) => messageId === id && state === "delivered")),
    );

  async function query(text: string, ...values: unknown[]): Promise<string[]> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      return (await client.query<{ name: string }>(text, values)).rows.map(({ name }) => name);
    } finally {
      await client.end();
    }
  }

  const migrations = (): Promise<string[]> => query("select name from migrations order by name");

  const addedMigrations = async (): Promise<string[]> =>
    (await migrations()).filter((name) => !olderSchema.includes(name));

  const commitOf = async (node: ServerProcess): Promise<unknown> =>
    ((await (await fetch(`${node.baseUrl}/healthz`)).json()) as { commit: unknown }).commit;

  test("has nodes of two commits on a schema that the newer one has migrated", async () => {
    expect(await commitOf(older)).toBe(OLDER);
    expect(await commitOf(newer)).not.toBe(OLDER);
    expect((await addedMigrations()).length).toBeGreaterThan(0);
  });

  test("loses nothing while both releases serve, and codes of one are good on the other", async () => {
    for (let turn = 0; turn < 10; turn += 1) await send(turn % 2 === 0 ? older : newer);
    for (const [from, to, number] of [
      [older, newer, "15550100201"],
      [newer, older, "15550100202"],
    ] as const) {
      const generated = await request(from, "/v1/verify", { configId: "default", to: number });
      expect(generated.status).toBe(200);
      const latest = `/api/simulator/otp/latest?to=${number}`;
      const { body } = await eventually(
        () => request(to, latest),
        ({ status }) => status === 200,
      );
      const check = await request(to, "/v1/verify/validate", { verifyId: generated.body.data, otp: body.otp });
      expect([number, check.status]).toEqual([number, 200]);
    }
    await allDelivered(older);
    const messages = await allDelivered(newer);
    expect(new Set(messages.map(({ messageId }) => messageId)).size).toBe(messages.length);
  });

  test("goes on when the older node stops, and with a second newer one", async () => {
    expect((await older.kill("SIGTERM")).code).toBe(0);
    await send(newer);
    await newer.kill("SIGTERM");
    newer = await newer.restart();
    await send(newer);
    await allDelivered(newer);
  });

  test("goes back to the older release if all migrations that it does not know work with it, and only then", async () => {
    await newer.kill("SIGTERM");
    const added = await addedMigrations();
    const mark = (release: string | null): Promise<unknown> =>
      query("update migrations set works_with = $1 where name = any($2)", release, added);
    await mark(null);
    await expect(older.restart()).rejects.toThrow(`migrated by a newer release (${added.join(", ")})`);
    // Stands for migrations that a release marks. If one of them takes something away, the pinned commit moves past it.
    await mark("0.1.0");
    older = await older.restart();
    await send(older);
    await allDelivered(older);
    newer = await newer.restart();
    await send(newer);
    await allDelivered(older);
    await allDelivered(newer);
  });
});

describe.runIf(hasHistory).each(ENGINES)("an upgrade on %s", (engine) => {
  let older: ServerProcess;
  let newer: ServerProcess | undefined;
  let database: FreshDatabase | null;
  let sink: Sink;
  let dataDir: string;
  let copy: RowCopy | undefined;
  beforeAll(async () => {
    database = engine === "postgres" ? await freshDatabase(inject("postgresUrl")) : null;
    dataDir = await mkdtemp(join(inject("scratchFolder"), "upgrade-"));
    sink = await openSink();
    older = await startServer({ dataDir, env: env(), entry: await olderEntry() });
  });
  afterAll(async () => {
    await newer?.cleanup();
    await older.cleanup();
    await sink.close();
    await copy?.close();
    await database?.drop();
  });

  const env = (): Record<string, string> => ({
    HELIOGRAPH_MASTER_KEY: MASTER_KEY,
    ...(database && { HELIOGRAPH_DATABASE_URL: database.url }),
  });

  const numbers = (from: number, count: number): string[] =>
    Array.from({ length: count }, (_, index) => String(from + index));

  const send = async (to: string | string[], more: object = {}): Promise<void> => {
    const body = { sender: "HELIOG", to, text: "Hello", type: "TRANS", campaignName: "upgrade", ...more };
    expect((await request(older, "/v1/sms", body)).status).toBe(200);
  };

  const allSent = (): Promise<Answer> =>
    eventually(
      () => request(older, "/v1/messages?status=Pending&limit=100"),
      (answer) => messagesOf(answer).every(({ state }) => state === "scheduled"),
    );

  const eventsOfSink = (): Set<unknown> => new Set(sink.received.map(({ headers }) => headers["webhook-id"]));

  test("keeps every row, and delivers the callbacks that the older release could not", async () => {
    const since = Date.now();
    const inAnHour = new Date(since + 3_600_000).toISOString();
    await request(older, "/api/optouts", { numbers: ["15550100999"] });
    await send(numbers(15_556_000_000, 1000));
    await send(numbers(15_556_100_000, 1000), {
      text: "Track your parcel: {SORT}",
      shortenUrlData: { shortenUrl: true, targetUrl: ["https://shop.example/track/4711"] },
    });
    await send(numbers(15_556_200_000, 20), { sendAt: inAnHour });
    expect((await request(older, "/v1/verify", { configId: "default", to: "15550100301" })).status).toBe(200);
    await allSent();
    sink.respondWith((_request, response) => response.writeHead(500).end());
    const { body } = await request(older, "/api/dlr-configs", { name: "reports", url: sink.url });
    await send(numbers(15_556_300_000, CALLBACKS));
    const waiting = await eventually(eventsOfSink, ({ size }) => size === CALLBACKS);
    await allSent();
    // A disabled endpoint keeps its callbacks.
    await request(older, `/api/dlr-configs/${body.id}`, { enabled: false }, "PATCH");
    if (engine === "sqlite") await older.kill("SIGTERM");
    copy = await (database ? copyPostgresRows(database.url) : copySqliteRows(join(dataDir, "heliograph.db")));

    newer = await startServer({ dataDir, env: { ...env(), HELIOGRAPH_API_KEY: older.apiKey } });
    if (engine === "postgres") await older.kill("SIGTERM");
    const tables = await copy.compare();
    expect(tables.filter(({ missing, changed }) => missing + changed > 0)).toEqual([]);
    const rowsOf = (name: string): number => tables.find(({ table }) => table === name)?.rows ?? 0;
    expect(rowsOf("messages")).toBeGreaterThan(2000);
    for (const name of ["submissions", "links", "callbacks", "optouts", "verifications", "migrations"])
      expect([name, rowsOf(name) > 0]).toEqual([name, true]);

    sink.received.length = 0;
    sink.respondWith((_request, response) => response.writeHead(200).end("{}"));
    await request(newer, `/api/dlr-configs/${body.id}`, { enabled: true }, "PATCH");
    // On a busy machine some have failed twice before the endpoint was disabled, and would wait for minutes.
    await request(newer, `/api/dlr-configs/${body.id}/recover`, { since });
    expect(await eventually(eventsOfSink, ({ size }) => size >= CALLBACKS)).toEqual(waiting);
  });
});
