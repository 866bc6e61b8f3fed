import type { AppliedMigration } from "../migrations/all.ts";
import { Client, type QueryConfig } from "pg";
import { PING } from "../engine.ts";
import { checkPooler } from "./detect-pooler.ts";
import { readConnectFault } from "./faults.ts";
import type { Pooler } from "./session.ts";

const ANSWER_WITHIN_MS = 5000;
const ROUNDS = 5;

/** Reads the column by its name: an older release has not added it. */
const APPLIED = `select name, to_jsonb(migrations) ->> 'works_with' as "worksWith" from migrations`;

export interface PostgresFacts {
  release: string;
  versionNumber: number;
  isReadOnly: boolean;
  /** False if a crash of the machine may lose commits. */
  syncs: boolean;
  /** The applied migrations; null in a database without a schema. */
  migrations: readonly AppliedMigration[] | null;
  /** Duration of a small commit in milliseconds; null if it could not be tried. */
  commitMs: number | null;
  /** Why a commit failed; null if none did. */
  commitFault: string | null;
  /** By how much the database's clock is ahead of this machine's. */
  clockAheadMs: number;
  /** Connections that all clients together may have. */
  connectionsMax: number;
  connectionsUsed: number;
  /** Living nodes; 0 in a database without a schema. */
  nodes: number;
  /** Why the pooler setting is wrong; null if it is right. */
  poolerFault: string | null;
}

/** Reads the state of a database over one connection. Changes nothing but the counter that `/readyz` writes as well. */
export async function examinePostgres(url: string, pooler: Pooler): Promise<PostgresFacts> {
  const client = new Client({
    connectionString: url,
    application_name: "heliograph doctor",
    connectionTimeoutMillis: ANSWER_WITHIN_MS,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    return await readFacts(client, url, pooler);
  } catch (error) {
    throw readConnectFault(error);
  } finally {
    await client.end();
  }
}

const SERVER = `select current_setting('server_version') as release, current_setting('server_version_num')::int as version,
  current_setting('fsync') = 'on' as syncs, pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as reads,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as max,
  (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
  to_regclass('migrations') is not null as has_schema`;

interface ServerRow {
  release: string;
  version: number;
  syncs: boolean;
  reads: boolean;
  max: number;
  used: number;
  has_schema: boolean;
}

async function readFacts(client: Client, url: string, pooler: Pooler): Promise<PostgresFacts> {
  const poolerFault = await faultOf(checkPooler(client, url, pooler));
  const [server] = await rowsOf<ServerRow>(client, SERVER);
  if (!server) throw new Error("the server gave no answer");
  const migrations = server.has_schema ? await rowsOf<AppliedMigration>(client, APPLIED) : null;
  const isCreated = migrations !== null && migrations.length > 0;
  const [nodes] = isCreated ? await rowsOf<{ count: number }>(client, NODES) : [];
  const isWritable = isCreated && !server.reads;
  const commit = isWritable ? await timeCommit(client) : { ms: null, fault: null };
  return {
    release: server.release,
    versionNumber: server.version,
    isReadOnly: server.reads,
    syncs: server.syncs,
    migrations,
    commitMs: commit.ms,
    commitFault: commit.fault,
    clockAheadMs: await compareClocks(client),
    connectionsMax: server.max,
    connectionsUsed: server.used,
    nodes: nodes?.count ?? 0,
    poolerFault,
  };
}

const NODES = "select count(*)::int as count from nodes where dead = 0";

async function rowsOf<R extends object>(client: Client, text: string): Promise<R[]> {
  const { rows } = await client.query<R>({ text, query_timeout: ANSWER_WITHIN_MS } as QueryConfig);
  return rows;
}

const faultOf = (attempt: Promise<unknown>): Promise<string | null> =>
  attempt.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

/** The median of a few commits. */
async function timeCommit(client: Client): Promise<{ ms: number | null; fault: string | null }> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = performance.now();
    const fault = await faultOf(rowsOf(client, PING));
    if (fault !== null) return { ms: null, fault };
    times.push(performance.now() - from);
  }
  return { ms: times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? null, fault: null };
}

/** The round with the shortest answer is the most exact: the true difference lies within half of its duration. */
async function compareClocks(client: Client): Promise<number> {
  let best = { tookMs: Number.POSITIVE_INFINITY, aheadMs: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = Date.now();
    const [row] = await rowsOf<{ now: string }>(client, "select extract(epoch from clock_timestamp()) * 1000 as now");
    const tookMs = Date.now() - from;
    if (row && tookMs < best.tookMs) best = { tookMs, aheadMs: Number(row.now) - (from + tookMs / 2) };
  }
  return best.aheadMs;
}
