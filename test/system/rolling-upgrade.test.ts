import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { freshDatabase, type FreshDatabase } from "../support/databases.ts";
import { hasPostgres } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { bundleCommit, hasCommit } from "../support/older-release.ts";
import { canTestWith } from "../support/programmes.ts";
import { startServer, type ServerProcess } from "../support/server-process.ts";

/**
 * The release before this one. There is none yet, so its place has the last commit before migration 0042; after a release, its
 * tag.
 */
const OLDER = "1f06cda0269fc4c2a4ae1f3a823ca8615217c2bf";

const hasHistory = canTestWith(hasCommit(OLDER), "the history of the repository: check out with fetch-depth: 0");

const MASTER_KEY = "the master key of both releases";

/** The fields of any answer that this test reads. */
interface Body {
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

const messagesOf = ({ body }: Answer): Message[] => (Array.isArray(body.data) ? body.data : []);

describe.runIf(hasPostgres && hasHistory)("an upgrade node by node on PostgreSQL", () => {
  let older: ServerProcess;
  let newer: ServerProcess;
  let database: FreshDatabase;
  let olderSchema: string[];
  const sent: string[] = [];
  beforeAll(async () => {
    const entry = await bundleCommit(OLDER, await mkdtemp(join(inject("scratchFolder"), "older-")));
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

  async function request(node: ServerProcess, path: string, body?: object): Promise<Answer> {
    const response = await fetch(node.baseUrl + path, {
      method: body ? "POST" : "GET",
      headers: { apikey: older.apiKey, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Body };
  }

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
