import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  type CompiledQuery,
  type QueryResult,
} from "kysely";
import { systemClock, type Clock } from "../../lib/clock.ts";
import { insertCallbacks } from "../callbacks.ts";
import { FunctionDriver, PING, NO_WRITES, type Engine } from "../engine.ts";
import { separateReporting } from "../reads.ts";
import {
  ClientLeft,
  QueryTimedOut,
  ReportingQueue,
  REPORTING_LIMITS,
  type ReportingLimits,
} from "../reporting-queue.ts";
import { createSharedQueries } from "../shared-queries.ts";
import { StorageUnavailable, type Store } from "../store.ts";
import type { Tables } from "../tables.ts";
import { accept } from "./accept.ts";
import { countingRows, foldCampaignCounts } from "./campaign-counts.ts";
import { createClaimCallbacks } from "./claim-callbacks.ts";
import { createClaim, release } from "./claim.ts";
import { runInBackground } from "./background.ts";
import { isCancelled } from "./faults.ts";
import { findLinks, insertClicks } from "./links.ts";
import { migrate, type MigrateOptions } from "./migrate.ts";
import { createNodes } from "./nodes.ts";
import { findSubmissions, listMatchable, storeUnmatched } from "./unmatched.ts";
import { markReported, receiveOnPhones } from "./phones.ts";
import { ConnectionPool, type PoolOptions, type Query, type Rows, type Statement } from "./pool.ts";
import { ReadReplica } from "./replica.ts";
import { DatabaseServers } from "./servers.ts";
import { settleCallbacks } from "./settle-callbacks.ts";
import { transition } from "./transition.ts";
import { checkCodes } from "./check-codes.ts";

const CONNECTIONS = 10;
/** For urgent statements while all connections of the main pool are busy. */
const SPARE_CONNECTIONS = 3;

/** Connections that one node opens at most. */
export const connectionsPerNode = (reportingConcurrency: number): number =>
  CONNECTIONS + SPARE_CONNECTIONS + reportingConcurrency;

interface PostgresOptions
  extends Partial<Omit<PoolOptions, "keepsIdle" | "onlyReads">>, Pick<MigrateOptions, "nodeSilentMs"> {
  reporting?: ReportingLimits;
  clock?: Clock;
  /** URL of a streaming replica that answers reporting reads. */
  readUrl?: string | null;
}

/** The store that any number of nodes share. Resolves once the schema is up to date. */
export async function openPostgresStore(
  url: string,
  {
    connections = CONNECTIONS,
    reporting: limits = REPORTING_LIMITS,
    clock = systemClock,
    readUrl = null,
    ...options
  }: PostgresOptions = {},
): Promise<Store> {
  const servers = new DatabaseServers(url);
  await migrate(servers, options);
  const pool = new ConnectionPool(servers, { ...options, connections });
  const spare = new ConnectionPool(servers, { ...options, connections: SPARE_CONNECTIONS, keepsIdle: true });
  // The main pool is preferred, because its connections have already planned the statements.
  const poolFor = (urgent = false): ConnectionPool => (urgent && pool.isFull ? spare : pool);
  const { query } = pool;

  const reportingPool = new ConnectionPool(servers, {
    ...options,
    connections: limits.concurrency,
    statementTimeoutMs: limits.timeoutMs,
  });
  const replica = readUrl === null ? null : openReplica(reportingPool.query, readUrl, { ...options, limits });
  const readOn = <R>(statement: Statement, signal: AbortSignal | null): Promise<Rows<R>> => {
    const onPrimary = (): Promise<Rows<R>> => reportingPool.queryUntil<R>(statement, signal);
    if (!replica) return onPrimary();
    const isFinal = (error: unknown): boolean =>
      !(error instanceof StorageUnavailable) || isCancelled(error) || signal?.aborted === true;
    return replica.read((onReplica) => onReplica.queryUntil<R>(statement, signal), onPrimary, isFinal);
  };
  const reporting = new ReportingQueue(limits);
  const report: Query = <R>(statement: Statement) =>
    reporting.run((signal) => {
      const result = readOn<R>(statement, signal).catch((error: unknown) => {
        throw reportingFault(error, signal, limits);
      });
      return { result, ended: result };
    });

  const engine = createEngine(query, {
    atomically: (queries) =>
      pool.transaction(async (runOne) => {
        for (const compiled of queries) await runOne(statementOf(compiled));
      }),
    inBackground: (queries) => runInBackground(pool, queries.map(statementOf)),
  });
  const reportingEngine = createEngine(report, NO_WRITES);

  const store: Store = {
    engine: "postgres",
    reporting,
    replica,
    ...createSharedQueries(engine),
    ...createNodes(pool),

    accept: (batch, urgent) => accept(poolFor(urgent), batch),
    checkCodes: (batch) => checkCodes(poolFor(true), batch),
    transition: (batch, urgent) => transition(poolFor(urgent), batch),
    claim: createClaim(pool),
    claimCallbacks: createClaimCallbacks(query),
    settleCallbacks: (batch) => settleCallbacks(pool, batch),
    release: (node, requests) => release(query, node, requests),
    findLinks: (codes) => findLinks(query, codes),
    async recordClicks(batch, callbacks = [], dueAt = 0) {
      const clicks = insertClicks(batch);
      if (callbacks.length === 0) await query(clicks);
      else
        await pool.transaction(async (runOne) => {
          await runOne(clicks);
          await runOne(statementOf(insertCallbacks(engine, callbacks, dueAt)));
        });
    },
    findSubmissions: (batch) => findSubmissions(query, batch),
    storeUnmatched: (batch, at) => storeUnmatched(query, batch, at),
    listMatchable: (limit, after) => listMatchable(query, limit, after),
    foldCampaignCounts: () => foldCampaignCounts(query),
    receiveOnPhones: (batch) => receiveOnPhones(query, batch),
    markReported: (batch) => markReported(query, batch),

    // The server's autovacuum frees the space of deleted rows for new ones.
    freePages: () => Promise.resolve({ next: null, rows: 0, ms: 0 }),
    databaseBytes: () => databaseBytes(query),
    async ping() {
      await query({ text: PING });
    },
    async close() {
      await Promise.all([pool.end(), spare.end(), reportingPool.end(), replica?.end()]);
    },
  };
  return separateReporting(store, {
    ...createSharedQueries(reportingEngine, { timeoutMs: limits.timeoutMs, clock }),
    databaseBytes: () => databaseBytes(report),
  });
}

function openReplica(
  primary: Query,
  url: string,
  { limits, ...options }: Omit<PoolOptions, "connections"> & { limits: ReportingLimits },
): ReadReplica {
  const { concurrency: connections, timeoutMs: statementTimeoutMs } = limits;
  const pool = new ConnectionPool(url, { ...options, connections, statementTimeoutMs, onlyReads: true });
  return new ReadReplica(primary, pool);
}

async function databaseBytes(query: Query): Promise<number> {
  const { rows } = await query<{ bytes: number }>({ text: "select pg_database_size(current_database()) as bytes" });
  return rows[0]?.bytes ?? 0;
}

/** The dialect of PostgreSQL, on a function that runs one statement. */
function createEngine(query: Query, writes: Pick<Engine, "atomically" | "inBackground">): Engine {
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () =>
        new FunctionDriver(async <R>(compiled: CompiledQuery): Promise<QueryResult<R>> => {
          const { rows, count } = await query<R>(statementOf(compiled));
          return { rows, numAffectedRows: BigInt(count) };
        }),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return {
    db,
    holds: (column, text) => sql`strpos(${sql.ref(column)}, ${text}) > 0`,
    holdsInAnyCase: (value, text) => sql`strpos(lower(${value} collate "C"), lower(${text}::text collate "C")) > 0`,
    mergeJson: (column, change) => sql`(${sql.ref(column)}::jsonb || ${change}::jsonb)::text`,
    // Most rows lack the field: the search for its name is cheaper than parsing.
    jsonText: (column, field) =>
      sql`case when strpos(${sql.ref(column)}, ${sql.lit(`"${field}":`)}) > 0 then ${sql.ref(column)}::json ->> ${sql.lit(field)} end`,
    isAmong: (column, values) => sql`${sql.ref(column)} = any (${values}::text[])`,
    rowsOf: (types, batch) => {
      const names = Object.keys(types) as (keyof typeof types & string)[];
      const arrays = names.map((name) => sql`${batch.map((row) => row[name])}::${sql.raw(types[name])}[]`);
      const columns = names.map((name) => sql.ref(name));
      return sql`(select * from unnest(${sql.join(arrays)}) as batch (${sql.join(columns)}))`;
    },
    deletingMessages: (condition) => [
      sql`with gone as (delete from messages where ${condition} returning account_id, campaign_name, state),
        ${sql.raw(countingRows("gone", -1))} select 1 from gone`.compile(db),
    ],
    ...writes,
  };
}

/** The server cancels a statement after the time limit, or when the pool asks for it because the client has left. */
function reportingFault(error: unknown, signal: AbortSignal | null, { timeoutMs }: ReportingLimits): unknown {
  if (signal?.aborted) return new ClientLeft("the client has left");
  return isCancelled(error) ? new QueryTimedOut(timeoutMs, error) : error;
}

const statementOf = (query: CompiledQuery): Statement => ({ text: query.sql, values: query.parameters });
