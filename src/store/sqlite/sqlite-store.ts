import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import {
  Kysely,
  SelectQueryNode,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type QueryResult,
} from "kysely";
import type { Clock } from "../../lib/clock.ts";
import { insertCallbacks } from "../callbacks.ts";
import { FunctionDriver, PING, NO_WRITES, type BackgroundResult, type Engine } from "../engine.ts";
import { START } from "../key-range.ts";
import { separateReporting } from "../reads.ts";
import { ReportingQueue, REPORTING_LIMITS, type ReportingLimits } from "../reporting-queue.ts";
import { createSharedQueries } from "../shared-queries.ts";
import { packCheck, unpackResult } from "./pack-checks.ts";
import { packTransitions } from "./fast.ts";
import { packSettlement } from "./settle-callbacks.ts";
import type { Store } from "../store.ts";
import type { Tables } from "../tables.ts";
import { predictedResult, type Expecting } from "../transition.ts";
import type { WriterCommands, Write } from "./commands.ts";
import type { Failed } from "./isolation.ts";
import { migrate } from "./migrate.ts";
import { FIND_LINKS, hitsOf, packClick, type FoundLink } from "./links.ts";
import { createNodes } from "./nodes.ts";
import { openDatabase } from "./open.ts";
import { pack } from "./packing.ts";
import { ReportingThreads } from "./reporting-threads.ts";
import { DatabaseThread, type Read } from "./thread.ts";
import { findSubmissions, listMatchable } from "./unmatched.ts";

interface SqliteOptions {
  /** Called when a thread that the pipeline needs has ended. */
  onBroken?: ((error: Error) => void) | undefined;
  reporting?: ReportingLimits;
  /** Replaces the reader thread of reporting queries, in tests. */
  reportingThread?: URL | undefined;
}

const READER = new URL("reader.ts", import.meta.url);

/**
 * The store of one process on one machine: one file, one writer thread, one reader thread for the pipeline, and some for
 * reporting queries.
 */
export function openSqliteStore(
  path: string,
  clock: Clock,
  { onBroken = () => {}, reporting: limits = REPORTING_LIMITS, reportingThread = READER }: SqliteOptions = {},
): Store {
  mkdirSync(dirname(path), { recursive: true });
  const setup = openDatabase(path);
  try {
    migrate(setup);
  } catch (error) {
    setup.close();
    throw error;
  }
  // An open connection keeps the write-ahead log of the previous process from being removed while the threads start.
  const writer = new DatabaseThread(new URL("writer.ts", import.meta.url), path, { onBroken });
  const reader = new DatabaseThread(READER, path, { onBroken });
  const reportingThreads = new ReportingThreads(
    () => new DatabaseThread(reportingThread, path, { isBackground: true }),
    limits,
  );
  const reporting = new ReportingQueue(limits);

  const write: Write = (command, ...args) => writer.call(command, args);
  const read: Read = (text, ...values) => reader.call("read", [text, values]);
  const report: Read = (text, ...values) => reporting.run((signal) => reportingThreads.query(text, values, signal));

  async function run<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (SelectQueryNode.is(query.query)) return { rows: await read<R>(query.sql, ...query.parameters) };
    const { rows, changes } = await write("query", query.sql, query.parameters as never);
    return { rows: rows as R[], numAffectedRows: BigInt(changes) };
  }

  const engine = createEngine(run, {
    atomically: (queries) => write("atomically", queries.map(plain)),
    inBackground: (queries) => writer.call("background", [queries.map(plain)], { background: true }),
  });
  const reportingEngine = createEngine(
    async ({ sql: text, parameters }) => ({ rows: await report(text, ...parameters) }),
    NO_WRITES,
  );

  const store: Store = {
    engine: "sqlite",
    reporting,
    replica: null,
    ...createSharedQueries(engine),
    ...createNodes(read, write, clock),

    async accept(batch, urgent) {
      const rows = batch.reduce((sum, { recipients }) => sum + recipients.length, 0);
      type Results = ReturnType<WriterCommands["accept"]>;
      const results = await writer.call<Results>("accept", [batch.map(pack)], { urgent, rows });
      return results.map(errorOrResult);
    },
    async transition(batch, urgent) {
      type Results = ReturnType<WriterCommands["transition"]>;
      const packed = packTransitions(batch);
      const results = await writer.call<Results>("transition", [packed], { urgent, rows: batch.length });
      return results.map((result, index) =>
        result === null ? predictedResult(batch[index] as Expecting) : errorOrResult(result),
      );
    },
    async checkCodes(batch) {
      type Results = ReturnType<WriterCommands["checkCodes"]>;
      const results = await writer.call<Results>("checkCodes", [batch.map(packCheck)], {
        urgent: true,
        rows: batch.length,
      });
      return results.map((result) => errorOrResult(unpackResult(result)));
    },
    claim: (claim) => write("claim", claim),
    claimCallbacks: (claim) => write("claimCallbacks", claim),
    settleCallbacks: (batch) => writer.call("settleCallbacks", [batch.map(packSettlement)], { rows: batch.length }),
    release: (node, requests) => write("release", node, requests),
    storeUnmatched: (batch, at) => write("storeUnmatched", batch, at),
    // The writer adds changes up before each commit.
    foldCampaignCounts: () => Promise.resolve(),
    async findLinks(codes) {
      const found = await reader.call<FoundLink[]>("readJson", [FIND_LINKS, [JSON.stringify(codes)]]);
      return hitsOf(codes, found);
    },
    async recordClicks(batch, callbacks = [], dueAt = 0) {
      const inserts = callbacks.length === 0 ? [] : [plain(insertCallbacks(engine, callbacks, dueAt))];
      const rows = batch.length + callbacks.length;
      await writer.call("recordClicks", [batch.map(packClick), inserts], { rows });
    },
    receiveOnPhones: (batch) => writer.call("receiveOnPhones", [batch], { rows: batch.length }),
    markReported: (batch) => writer.call("markReported", [batch], { rows: batch.length }),

    findSubmissions: (batch) => findSubmissions(read, batch),
    listMatchable: (limit, after) => listMatchable(read, limit, after),

    async freePages(limit) {
      const { changes, ms } = await writer.call<BackgroundResult>("freePages", [limit], { background: true });
      const rows = changes[0] ?? 0;
      return { next: rows < limit ? null : START, rows, ms };
    },
    databaseBytes: () => databaseBytes(read),

    async ping() {
      await write("query", PING, []);
    },
    async close() {
      await Promise.all([writer.close(), reader.close(), reportingThreads.close()]);
      closeQuietly(setup);
    },
  };
  return separateReporting(store, {
    ...createSharedQueries(reportingEngine, { timeoutMs: limits.timeoutMs, clock }),
    databaseBytes: () => databaseBytes(report),
  });
}

async function databaseBytes(read: Read): Promise<number> {
  const rows = await read<{ bytes: number }>(
    "select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()",
  );
  return rows[0]?.bytes ?? 0;
}

/** Kysely would run one query after the other, because a SQLite connection is not concurrent. Our threads have queues. */
class ConcurrentAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/** The dialect of SQLite, on a function that runs one query. */
function createEngine(
  run: <R>(query: CompiledQuery) => Promise<QueryResult<R>>,
  writes: Pick<Engine, "atomically" | "inBackground">,
): Engine {
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new ConcurrentAdapter(),
      createDriver: () => new FunctionDriver(run),
      createIntrospector: (kysely) => new SqliteIntrospector(kysely),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  return {
    db,
    // Not `json_patch`, which removes a field whose new value is null.
    holds: (column, text) => sql`instr(${sql.ref(column)}, ${text}) > 0`,
    holdsInAnyCase: (value, text) => sql`instr(lower(${value}), lower(${text})) > 0`,
    mergeJson: (column, change) => {
      const fields = Object.entries(JSON.parse(change) as Record<string, unknown>);
      const pairs = fields.map(([name, value]) => sql`, ${`$."${name}"`}, json(${JSON.stringify(value)})`);
      return sql`json_set(${sql.ref(column)}${sql.join(pairs, sql``)})`;
    },
    // Most rows lack the field: the search for its name is cheaper than parsing.
    jsonText: (column, field) =>
      sql`case when instr(${sql.ref(column)}, ${sql.lit(`"${field}":`)}) > 0 then ${sql.ref(column)} ->> ${sql.lit(field)} end`,
    isAmong: (column, values) => sql`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`,
    rowsOf: (types, batch) => {
      const names = Object.keys(types) as (keyof typeof types & string)[];
      const columns = names.map((name, index) => sql`value ->> ${sql.lit(index)} as ${sql.ref(name)}`);
      const values = JSON.stringify(batch.map((row) => names.map((name) => row[name])));
      return sql`(select ${sql.join(columns)} from json_each(${values}))`;
    },
    deletingMessages: (condition) =>
      [
        sql`insert into campaign_counts (account_id, campaign_name, state, count)
          select account_id, campaign_name, state, -count(*) from messages where ${condition} and campaign_name is not null
          group by account_id, campaign_name, state
          on conflict (account_id, campaign_name, state) do update set count = count + excluded.count`,
        sql`delete from messages where ${condition}`,
      ].map((query) => query.compile(db)),
    ...writes,
  };
}

const plain = ({ sql: text, parameters }: CompiledQuery) => ({ sql: text, values: parameters as never });

/** Errors do not survive JSON, so the writer sends their message. */
const errorOrResult = <T extends object>(result: T | Failed): T | Error =>
  "failed" in result ? new Error(result.failed.message) : result;

/** The last connection to close folds the write-ahead log into the database file. */
function closeQuietly(db: DatabaseSync): void {
  if (db.isOpen) db.close();
}
