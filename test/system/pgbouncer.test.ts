import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { callbackStoreSuite } from "../store/callback-store.suite.ts";
import { storeSuite } from "../store/store.suite.ts";
import { migratedDatabase, type FreshDatabase } from "../support/databases.ts";
import { openPostgresThrough } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type Envelope, type TestServer } from "../support/test-server.ts";
import { keepsNamedStatements, startPgBouncer, type PgBouncer } from "../support/pgbouncer.ts";
import { verifyStoreSuite } from "../store/verify-store.suite.ts";

/** Fewer servers than a node has connections, so that each statement may run on another one. */
const SERVERS = 4;
const KEEPS = keepsNamedStatements();
const MODES = KEEPS ? (["transaction", "transaction-prepared"] as const) : (["transaction"] as const);

describe("a start behind PgBouncer", () => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await migratedDatabase(inject("postgresUrl"));
  });
  afterAll(() => database.drop());

  it.each([
    ["one server", 1, 0],
    ["servers of which the last used is taken first", SERVERS, 0],
    ["servers that are taken in turn", SERVERS, 1],
  ])("in transaction mode is refused with a line that says what to set, with %s", async (_, poolSize, roundRobin) => {
    const settings = { server_round_robin: roundRobin, min_pool_size: poolSize };
    const pooler = await startPgBouncer({ clusterUrl: database.url, poolMode: "transaction", poolSize, settings });
    try {
      await expect(openPostgresStore(pooler.through(database.url))).rejects.toThrow(
        /transaction pooler.*set HELIOGRAPH_DATABASE_POOLER=transaction/u,
      );
    } finally {
      await pooler.stop();
    }
  });

  it.each([
    ["one server", 1, 0],
    ["servers of which the last used is taken first", SERVERS, 0],
    ["servers that are taken in turn", SERVERS, 1],
  ])(
    "that keeps no named statements is refused where the settings promise them, with %s",
    async (_, poolSize, turn) => {
      const settings = {
        server_round_robin: turn,
        min_pool_size: poolSize,
        ...(KEEPS ? { max_prepared_statements: 0 } : {}),
      };
      const pooler = await startPgBouncer({ clusterUrl: database.url, poolMode: "transaction", poolSize, settings });
      try {
        await expect(migrate(pooler.through(database.url), { pooler: "transaction-prepared" })).rejects.toThrow(
          /does not keep named statements.*max_prepared_statements.*HELIOGRAPH_DATABASE_POOLER=transaction/u,
        );
      } finally {
        await pooler.stop();
      }
    },
  );

  it("in session mode needs no setting", async () => {
    const pooler = await startPgBouncer({ clusterUrl: database.url, poolMode: "session" });
    const store = await openPostgresStore(pooler.through(database.url));
    expect(await store.countNodes()).toBe(0);
    await store.close();
    await pooler.stop();
  });
});

describe.each(MODES)("PgBouncer as HELIOGRAPH_DATABASE_POOLER=%s", (mode) => {
  let pooler: PgBouncer;
  beforeAll(async () => {
    pooler = await startPgBouncer({
      clusterUrl: inject("postgresUrl"),
      poolMode: "transaction",
      poolSize: SERVERS,
      settings: { server_round_robin: 1 },
    });
  });
  afterAll(() => pooler.stop());

  describe("before a store", () => {
    let goStraight: () => Promise<void>;
    beforeAll(() => {
      goStraight = openPostgresThrough({ through: (url) => pooler.through(url), options: { pooler: mode } });
    });
    afterAll(() => goStraight());

    // The cases of one statement differ in their rows, of which the pooler knows nothing.
    storeSuite("postgres", { allCases: false });
    callbackStoreSuite("postgres", { allCases: false });
    verifyStoreSuite("postgres");
  });

  describe("before two nodes", () => {
    let database: FreshDatabase;
    let nodes: TestServer[];
    beforeAll(async () => {
      database = await migratedDatabase(inject("postgresUrl"));
      const env = {
        HELIOGRAPH_DATABASE_URL: pooler.through(database.url),
        HELIOGRAPH_DATABASE_POOLER: mode,
        // A busy machine is no reason to refuse a request here.
        HELIOGRAPH_ACCEPT_WAIT_MS: "60000",
        HELIOGRAPH_DATABASE_CONNECT_TIMEOUT_MS: "60000",
        HELIOGRAPH_DATABASE_STATEMENT_TIMEOUT_MS: "60000",
        HELIOGRAPH_REQUEST_PATIENCE_SECONDS: "120",
        HELIOGRAPH_MASTER_KEY: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
      };
      const first = await startTestServer("postgres", { env });
      nodes = [first, await startTestServer("postgres", { env })];
    });
    afterAll(async () => {
      for (const node of nodes) await node.close();
      await database.drop();
    });

    it("answers every request and sends every message", async () => {
      const [first, second] = nodes as [TestServer, TestServer];
      const ask = (node: TestServer, body: object): Promise<{ status: number; body: Envelope }> =>
        node.request<Envelope>(
          "POST",
          "/v1/sms",
          { sender: "HELIOG", type: "TRANS", text: "Hello", ...body },
          { apikey: first.key },
        );
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) => {
          const node = index % 2 === 0 ? first : second;
          const number = 15_550_100_000 + index * 10;
          if (index % 10 === 3) return ask(node, { to: [number, number + 1, number + 2].map(String), type: "PROMO" });
          if (index % 10 === 7)
            return ask(node, { to: String(number), text: "See {SORT}", targetUrl: ["https://example.com/a"] });
          return ask(node, { to: String(number), type: index % 3 === 0 ? "OTP" : "TRANS" });
        }),
      );
      expect(answers.map(({ status, body }) => (status === 200 ? 200 : body))).toEqual(Array(200).fill(200));
      const ids = answers.flatMap(({ body }) => body.data.map(({ messageId }) => messageId));
      const ends = await eventually(
        () => Promise.all(ids.map((id) => first.message(id))),
        (messages) => messages.every(({ status }) => status !== "Pending"),
      );
      expect(ends.length).toBe(240);
      expect(ends.filter(({ status }) => status !== "Delivered")).toEqual([]);
    });
  });
});
