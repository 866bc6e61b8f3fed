import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { UNOWNED, StorageUnavailable } from "../../src/store/store.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { migratedDatabase, prepareSchema, type FreshDatabase } from "../support/databases.ts";
import { eventually } from "../support/eventually.ts";
import { startMovedClockServer } from "../support/moved-clock-server.ts";
import { startCluster, type Cluster } from "../support/postgres-cluster.ts";
import { openStandby, type Standby } from "../support/standby.ts";

/** The pools of one node: ten connections, and three for urgent statements. */
const CONNECTIONS_MAX = 13;
const IS_WAITING = "state in ('accepted', 'scheduled', 'submitting')";
const MINUTE_MS = 60_000;

describe("PostgreSQL whose commits hang because its synchronous standby is away", () => {
  let cluster: Cluster;
  let standby: Standby;
  let database: FreshDatabase;
  beforeAll(async () => {
    cluster = await startCluster({ fleeting: true });
    await prepareSchema(cluster.url);
    standby = await openStandby(cluster.url);
  });
  beforeEach(async () => {
    database = await migratedDatabase(cluster.url);
  });
  afterEach(() => standby.comeBack());
  afterAll(async () => {
    await standby.close();
    await cluster.stop();
  });

  it("gives the rows of a claim that failed to the next claim", async () => {
    const store = await openPostgresStore(database.url, { statementTimeoutMs: 500 });
    const item = acceptance();
    await store.accept([{ ...item, owner: UNOWNED }]);
    const claim = () =>
      store.claim({ node: 7, from: UNOWNED, routeClass: item.message.routeClass, dueBy: NOON, limit: 10 });
    await standby.goAway();
    await expect(claim()).rejects.toThrow(StorageUnavailable);
    await expect(claim()).rejects.toThrow(StorageUnavailable);
    await standby.comeBack();
    expect(await claim()).toHaveLength(1);
    await store.close();
  });

  it("has no more connections than the pool, however many writes have failed", async () => {
    const store = await openPostgresStore(database.url, { statementTimeoutMs: 200, connections: 4 });
    await standby.goAway();
    let most = 0;
    for (let round = 0; round < 3; round += 1) {
      const writes = Array.from({ length: 4 }, () => store.accept([acceptance()]));
      await eventually(
        () => standby.connections(),
        ({ hanging }) => hanging === 4,
      );
      most = Math.max(most, (await standby.connections()).all);
      expect((await Promise.allSettled(writes)).map(({ status }) => status)).toEqual(Array(4).fill("rejected"));
    }
    expect(most).toBe(4);
    await standby.comeBack();
    await store.ping();
    await store.close();
  });

  it("answers 503 and is not ready, and sends every message that landed once the standby is back", async () => {
    const server = await startMovedClockServer("postgres", { env: { HELIOGRAPH_DATABASE_URL: database.url } });
    try {
      const before = await server.send({ to: "15550100001" });
      expect(before.status).toBe(200);
      // Stored for later, so that its claim hangs.
      const sendAt = new Date(server.clock.now() + MINUTE_MS).toISOString();
      const later = await server.send({ to: "15550100002", sendAt });
      expect(later.status).toBe(200);
      await server.settle();

      await standby.goAway();
      let areSent = false;
      const sends = Promise.all([
        ...Array.from({ length: 12 }, (_, index) => server.send({ to: `155501002${10 + index}` })),
        ...Array.from({ length: 3 }, (_, index) => server.send({ to: `155501003${10 + index}`, type: "PROMO" })),
        server.send({ to: ["15550100410", "15550100411"], type: "OTP" }),
      ]).finally(() => (areSent = true));
      await eventually(
        () => standby.connections(),
        ({ hanging }) => hanging > 0,
      );
      server.clock.advance(MINUTE_MS);
      const ready = await fetch(`${server.url}/readyz`);
      expect({ status: ready.status, body: await ready.json(), areSent }).toEqual({
        status: 503,
        body: { status: "store unavailable", reason: expect.any(String) },
        areSent: false,
      });
      expect((await sends).map(({ status }) => status)).toEqual(Array(16).fill(503));
      expect((await standby.connections()).all).toBeLessThanOrEqual(CONNECTIONS_MAX);

      await standby.comeBack();
      // Time goes on, in steps in which everything happens that is due, so that the recovery has its turns.
      for (let turn = 0; turn < 5; turn += 1) await server.travel(30_000);
      expect(await server.rows(`select state, owner, lane from messages where ${IS_WAITING}`)).toEqual([]);
      const [ends] = await server.rows<{ all: number; delivered: number; onPhones: number }>(
        `select (select count(*) from messages)::integer as all,
           (select count(*) from messages where state = 'delivered')::integer as delivered,
           (select count(*) from phone_messages)::integer as "onPhones"`,
      );
      expect(ends?.all, "some of the 503 had landed").toBeGreaterThan(2);
      expect(ends).toEqual({ all: ends?.all, delivered: ends?.all, onPhones: ends?.all });
      expect((await server.send({ to: "15550100001" })).status).toBe(200);
    } finally {
      await standby.comeBack();
      await server.close();
    }
  });
});
