import { Client } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { StorageUnavailable, type Store } from "../../src/store/store.ts";
import { acceptance } from "../support/acceptances.ts";
import { migratedDatabase, prepareSchema, type FreshDatabase } from "../support/databases.ts";
import { eventually } from "../support/eventually.ts";
import { startCluster, type Cluster } from "../support/postgres-cluster.ts";
import { testSeed } from "../support/repetitions.ts";
import { openReportSink } from "../torture/report-sink.ts";
import { openTrial } from "../torture/trial.ts";

/** The machine may be busy. */
const PATIENT = { connectTimeoutMs: 60_000 };

/** The short form of `npm run drill`: two servers, and the test promotes the standby itself. */
describe("two PostgreSQL servers, a primary and its synchronous standby", { timeout: 600_000 }, () => {
  let primary: Cluster;
  let standby: Cluster;
  let database: FreshDatabase;
  let store: Store | null = null;

  beforeAll(async () => {
    primary = await startCluster({ fleeting: true });
    await prepareSchema(primary.url);
    database = await migratedDatabase(primary.url);
    standby = await startCluster({ fleeting: true, standbyOf: primary });
    await execute(primary.url, "alter system set synchronous_standby_names = '*'", "select pg_reload_conf()");
    await eventually(
      () => execute(primary.url, "select sync_state from pg_stat_replication"),
      (rows) => rows.some(({ sync_state: state }) => state === "sync"),
    );
  });
  afterEach(async () => {
    await store?.close();
    store = null;
  });
  afterAll(async () => {
    await standby.stop();
    await primary.stop();
  });

  /** Process ids of the store's connections on the primary. */
  const sessions = async (): Promise<unknown[]> => {
    const rows = await execute(primary.url, "select pid from pg_stat_activity where application_name = 'heliograph'");
    return rows.map(({ pid }) => pid);
  };

  it("are written to by the one that is primary, wherever the URL names it", async () => {
    store = await openPostgresStore(listOf(database.url, [standby, primary]), PATIENT);
    await store.accept([acceptance()]);
    expect(await execute(database.url, "select count(*)::integer as messages from messages")).toEqual([
      { messages: 1 },
    ]);
    await execute(database.url, "delete from messages");
  });

  it("are not available while none of them accepts writes, and the error says why", async () => {
    const opening = openPostgresStore(listOf(database.url, [standby, standby]), PATIENT);
    await expect(opening).rejects.toThrow(StorageUnavailable);
    await expect(opening).rejects.toThrow(/no database server accepts writes \(.*read-only.*; .*read-only.*\)/);
  });

  it("lose connections to a server that has become read-only, and every statement goes on when it accepts writes", async () => {
    const opened = await openPostgresStore(listOf(database.url, [primary, standby]), { ...PATIENT, connections: 3 });
    store = opened;
    const write = () => Promise.all([1, 2, 3].map(() => opened.accept([acceptance()])));
    await write();
    const before = await sessions();
    expect(before.length).toBeGreaterThan(1);
    // Takes effect on open sessions too, as the demotion of a primary does.
    await execute(primary.url, "alter system set default_transaction_read_only = on", "select pg_reload_conf()");
    await eventually(
      () => opened.accept([acceptance()]).then(String, (error: Error) => error.message),
      (outcome) => outcome.includes("no database server accepts writes"),
    );
    const writable = "set default_transaction_read_only = off";
    await execute(primary.url, writable, "alter system reset default_transaction_read_only", "select pg_reload_conf()");
    await eventually(
      () => write().then(() => "written", String),
      (outcome) => outcome === "written",
    );
    await eventually(sessions, (pids) => !pids.some((pid) => before.includes(pid)));
    await execute(database.url, "delete from messages");
  });

  it("lose nothing, and repeat no more than the window, when the primary is killed under load and the standby is promoted", async () => {
    const seed = testSeed(process.env["TORTURE_SEED"]);
    process.stdout.write(`failover, TORTURE_SEED=${seed}\n`);
    const databaseUrl = listOf(database.url, [primary, standby]);
    const trial = await openTrial({ postgresUrl: null, databaseUrl, seed });
    const sink = await openReportSink();
    try {
      const servers = [await trial.start(), await trial.start()] as const;
      await sink.register(...servers);
      const client = trial.send(servers, 100);
      await eventually(trial.countAccepted, (count) => count > 100);
      const killedAt = Date.now();
      await primary.kill();
      await execute(standby.url, "alter system set synchronous_standby_names = ''", "select pg_reload_conf()");
      expect(await execute(standby.url, "select pg_promote() as promoted")).toEqual([{ promoted: true }]);
      const before = await trial.countAccepted();
      await eventually(trial.countAccepted, (count) => count > before + 100);
      await client.stop();
      const { violations, ...findings } = await trial.verify([killedAt], new Map(), sink.reported);
      process.stdout.write(`${JSON.stringify(findings)}\n`);
      expect(violations).toEqual([]);
    } finally {
      await trial.close();
      await sink.close();
    }
  });
});

/** The database's URL with the hosts of these servers. */
function listOf(databaseUrl: string, servers: readonly Cluster[]): string {
  const hosts = servers.map(({ url }) => new URL(url).host).join(",");
  return databaseUrl.replace(new URL(databaseUrl).host, hosts);
}

/** Runs the statements in one session, and returns the rows of the last one. */
async function execute(url: string, ...statements: readonly string[]): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query<Record<string, unknown>>(statement));
    return rows;
  } finally {
    await client.end();
  }
}
