import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  type CompiledQuery,
  type QueryResult,
} from "kysely";
import { createAudit } from "../audit.ts";
import { createCallbacks, insertCallbacks } from "../callbacks.ts";
import { createCatalogQueries } from "../catalog.ts";
import { createCreditQueries } from "../credits.ts";
import { FunctionDriver, PING, type Engine } from "../engine.ts";
import { createInboundParts } from "../inbound-parts.ts";
import { createFigures } from "../figures.ts";
import { createInbound } from "../inbound.ts";
import { createLinks } from "../links.ts";
import { createOptOutQueries } from "../optouts.ts";
import { createReading } from "../reading.ts";
import { createRecords } from "../records.ts";
import { createRetention } from "../retention.ts";
import type { Store } from "../store.ts";
import { createSubmissions } from "../submissions.ts";
import type { Tables } from "../tables.ts";
import { createUsers } from "../users.ts";
import { createVerifications } from "../verifications.ts";
import { createVerifyGuard } from "../verify-guard.ts";
import { accept } from "./accept.ts";
import { createClaimCallbacks } from "./claim-callbacks.ts";
import { createClaim, release } from "./claim.ts";
import { forget } from "./forget.ts";
import { findLinks, insertClicks } from "./links.ts";
import { migrate } from "./migrate.ts";
import { move } from "./move.ts";
import { createNodes } from "./nodes.ts";
import { findSubmissions, park, parkedWithMessage } from "./park.ts";
import { markReported, receiveOnPhones } from "./phones.ts";
import { ConnectionPool, type Statement } from "./pool.ts";
import { settleCallbacks } from "./settle-callbacks.ts";
import { checkCodes } from "./check-codes.ts";

/** For what is urgent while the statements of a flood have all others. */
const SPARE_CONNECTIONS = 3;

/** The store that any number of nodes share. Resolves once the schema is up to date. */
export async function openPostgresStore(url: string, options: { connections?: number } = {}): Promise<Store> {
  await migrate(url);
  const pool = new ConnectionPool(url, options.connections ?? 10);
  const spare = new ConnectionPool(url, SPARE_CONNECTIONS, { keepsIdle: true });
  // Those in use have planned the statements before, so they are the better ones.
  const poolFor = (urgent = false): ConnectionPool => (urgent && pool.isFull ? spare : pool);
  const { query } = pool;

  async function run<R>(compiled: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, count } = await query<R>(statementOf(compiled));
    return { rows, numAffectedRows: BigInt(count) };
  }

  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new FunctionDriver(run),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  const engine: Engine = {
    db,
    holds: (column, text) => sql`strpos(${sql.ref(column)}, ${text}) > 0`,
    mergeJson: (column, change) => sql`(${sql.ref(column)}::jsonb || ${change}::jsonb)::text`,
    isAmong: (column, values) => sql`${sql.ref(column)} = any (${values}::text[])`,
    rowsOf: (types, batch) => {
      const names = Object.keys(types) as (keyof typeof types & string)[];
      const arrays = names.map((name) => sql`${batch.map((row) => row[name])}::${sql.raw(types[name])}[]`);
      const columns = names.map((name) => sql.ref(name));
      return sql`(select * from unnest(${sql.join(arrays)}) as batch (${sql.join(columns)}))`;
    },
    atomically: (queries) =>
      pool.transaction(async (runOne) => {
        for (const compiled of queries) await runOne(statementOf(compiled));
      }),
  };

  return {
    engine: "postgres",
    ...createRecords(engine),
    ...createCatalogQueries(engine),
    ...createOptOutQueries(engine),
    ...createCreditQueries(engine),
    ...createRetention(engine),
    ...createReading(engine),
    ...createSubmissions(engine),
    ...createLinks(engine),
    ...createInbound(engine),
    ...createInboundParts(engine),
    ...createCallbacks(engine),
    ...createVerifications(engine),
    ...createVerifyGuard(engine),
    ...createUsers(engine),
    ...createAudit(engine),
    ...createFigures(engine),
    ...createNodes(pool),

    accept: (batch, urgent) => accept(poolFor(urgent), batch),
    checkCodes: (batch) => checkCodes(poolFor(true), batch),
    move: (batch, urgent) => move(poolFor(urgent), batch),
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
    park: (batch, at) => park(query, batch, at),
    parkedWithMessage: (limit) => parkedWithMessage(query, limit),
    forget: (before) => forget(query, before),
    receiveOnPhones: (batch) => receiveOnPhones(query, batch),
    markReported: (batch) => markReported(query, batch),

    async databaseBytes() {
      const { rows } = await query<{ bytes: number }>({ text: "select pg_database_size(current_database()) as bytes" });
      return rows[0]?.bytes ?? 0;
    },
    async ping() {
      await query({ text: PING });
    },
    async close() {
      await Promise.all([pool.end(), spare.end()]);
    },
  };
}

const statementOf = (query: CompiledQuery): Statement => ({ text: query.sql, values: query.parameters });
