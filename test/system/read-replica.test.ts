import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasPostgres } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { freshDatabase } from "../support/databases.ts";
import { startCluster, type Cluster } from "../support/postgres-cluster.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

interface Replica {
  status: string;
  lagMs: number;
}

describe.runIf(hasPostgres)("lists and statistics with a streaming replica", () => {
  let primary: Cluster;
  let standby: Cluster;
  let server: TestServer;
  beforeAll(async () => {
    primary = await startCluster({ fleeting: true });
    const database = await freshDatabase(primary.url);
    standby = await startCluster({ fleeting: true, standbyOf: primary });
    const readUrl = new URL(standby.url);
    readUrl.pathname = new URL(database.url).pathname;
    server = await startTestServer("postgres", {
      env: { HELIOGRAPH_DATABASE_URL: database.url, HELIOGRAPH_DATABASE_READ_URL: readUrl.href },
    });
  });
  afterAll(async () => {
    await server.close();
    await standby.stop();
    await primary.stop();
  });

  async function query(url: string, text: string): Promise<void> {
    const client = new Client(url);
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  }

  /** Reads that each server has answered. */
  async function reads(): Promise<{ replica: number; primary: number }> {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    const of = (name: string): number =>
      Number(new RegExp(`^heliograph_replica_reads_total\\{server="${name}"\\} (\\d+)$`, "m").exec(text)?.[1]);
    return { replica: of("replica"), primary: of("primary") };
  }

  const replica = async (): Promise<Replica> => {
    const { body } = await server.asOwner<{ replica: Replica }>("GET", "/api/system");
    return body.replica;
  };

  /** Sends a message and lists it at once. */
  async function sendAndList(): Promise<boolean> {
    const campaignName = randomUUID();
    await server.send({ campaignName });
    const { body } = await server.request<{ data: unknown[] }>("GET", `/v1/messages?campaignName=${campaignName}`);
    return body.data.length === 1;
  }

  test("come from the replica, and show what was written before the request", async () => {
    await eventually(replica, ({ status }) => status === "in use");
    const before = await reads();
    const seen: boolean[] = [];
    for (let turn = 0; turn < 20; turn += 1) seen.push(await sendAndList());
    expect(seen).toEqual(Array.from({ length: 20 }, () => true));
    expect((await reads()).replica).toBeGreaterThan(before.replica);
    expect(await replica()).toEqual({ status: "in use", lagMs: 0 });
  });

  test("come from the primary while the replica lags, which is shown", async () => {
    await query(standby.url, "select pg_wal_replay_pause()");
    const before = await reads();
    expect(await sendAndList()).toBe(true);
    expect((await reads()).primary).toBeGreaterThan(before.primary);
    await eventually(replica, ({ status, lagMs }) => status === "behind" && lagMs > 0);
    expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(
      /^heliograph_replica_up 0\n[\s\S]*heliograph_replica_lag_seconds [\d.]+$/m,
    );
    await query(standby.url, "select pg_wal_replay_resume()");
    await eventually(replica, ({ status }) => status === "in use");
    expect(await sendAndList()).toBe(true);
  });

  test("come from the primary while the replica is down, and from the replica when it is back", async () => {
    await standby.kill();
    expect(await sendAndList()).toBe(true);
    expect((await replica()).status).toBe("unavailable");
    expect((await server.request("GET", "/readyz")).status).toBe(200);
    await standby.restart();
    await eventually(replica, ({ status }) => status === "in use");
    expect(await sendAndList()).toBe(true);
  });

  test("never come from another database, whatever the URL says", async () => {
    const other = await freshDatabase(primary.url);
    const env = { ...server.env, HELIOGRAPH_DATABASE_READ_URL: other.url };
    const wrong = await startTestServer("postgres", { env });
    try {
      const { body } = await wrong.asOwner<{ replica: Replica }>("GET", "/api/system");
      expect(body.replica.status).toBe("unavailable");
      expect((await wrong.asOwner("GET", "/api/audit")).status).toBe(200);
    } finally {
      await wrong.close();
      await other.drop();
    }
  });
});
