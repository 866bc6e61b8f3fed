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
import { createAudit } from "../audit.ts";
import { createCallbacks, insertCallbacks } from "../callbacks.ts";
import { createCatalogQueries } from "../catalog.ts";
import { createCreditQueries } from "../credits.ts";
import { DEAD_NODE_KEPT_MS, FunctionDriver, HAS_WORK, PING, PLACE, type Engine } from "../engine.ts";
import { createInboundParts } from "../inbound-parts.ts";
import { createFigures } from "../figures.ts";
import { createInbound } from "../inbound.ts";
import { packCheck, unpackResult } from "./pack-checks.ts";
import { packMoves } from "./pack-moves.ts";
import { packSettlement } from "./settle-callbacks.ts";
import { createLinks } from "../links.ts";
import { createOptOutQueries } from "../optouts.ts";
import { createReading } from "../reading.ts";
import { createRecords } from "../records.ts";
import { createRetention } from "../retention.ts";
import { isAbout, nodeOf, parkedOf, submissionOf, type NodeRow, type ParkedRow, type RefRow } from "../rows.ts";
import type { Store } from "../store.ts";
import { createSubmissions } from "../submissions.ts";
import type { Tables } from "../tables.ts";
import { movedAsKnown, type AsKnown } from "../as-known.ts";
import { createUsers } from "../users.ts";
import { createVerifications } from "../verifications.ts";
import { createVerifyGuard } from "../verify-guard.ts";
import type { Commands } from "./commands.ts";
import type { Failed } from "./isolation.ts";
import { migrate } from "./migrate.ts";
import { FIND_LINKS, hitsOf, packClick, type FoundLink } from "./links.ts";
import { openDatabase } from "./open.ts";
import { pack } from "./packing.ts";
import { DatabaseThread } from "./thread.ts";

/** The store of one process on one machine: a file, one writing thread, one reading thread. */
export function openSqliteStore(path: string, clock: Clock, onBroken: (error: Error) => void = () => {}): Store {
  mkdirSync(dirname(path), { recursive: true });
  const setup = openDatabase(path);
  try {
    migrate(setup);
  } catch (error) {
    setup.close();
    throw error;
  }
  // The connection stays open so that the log of the last writer is never removed under the threads at a restart.
  const writer = new DatabaseThread(new URL("writer.ts", import.meta.url), path, onBroken);
  const reader = new DatabaseThread(new URL("reader.ts", import.meta.url), path, onBroken);

  const write = <K extends keyof Commands>(
    command: K,
    ...args: Parameters<Commands[K]>
  ): Promise<ReturnType<Commands[K]>> => writer.call(command, args);
  const read = <R>(text: string, ...values: unknown[]): Promise<R[]> => reader.call("read", [text, values]);

  async function run<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (SelectQueryNode.is(query.query)) return { rows: await read<R>(query.sql, ...query.parameters) };
    const { rows, changes } = await write("query", query.sql, query.parameters as never);
    return { rows: rows as R[], numAffectedRows: BigInt(changes) };
  }

  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new FunctionDriver(run),
      createIntrospector: (kysely) => new SqliteIntrospector(kysely),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  const engine: Engine = {
    db,
    // Not `json_patch`, to which a null means that the field is removed.
    holds: (column, text) => sql`instr(${sql.ref(column)}, ${text}) > 0`,
    mergeJson: (column, change) => {
      const fields = Object.entries(JSON.parse(change) as Record<string, unknown>);
      const pairs = fields.map(([name, value]) => sql`, ${`$."${name}"`}, json(${JSON.stringify(value)})`);
      return sql`json_set(${sql.ref(column)}${sql.join(pairs, sql``)})`;
    },
    isAmong: (column, values) => sql`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`,
    rowsOf: (types, batch) => {
      const names = Object.keys(types) as (keyof typeof types & string)[];
      const columns = names.map((name, index) => sql`value ->> ${sql.lit(index)} as ${sql.ref(name)}`);
      const values = JSON.stringify(batch.map((row) => names.map((name) => row[name])));
      return sql`(select ${sql.join(columns)} from json_each(${values}))`;
    },
    atomically: (queries) => write("atomically", queries.map(plain)),
  };

  return {
    engine: "sqlite",
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

    async accept(batch, urgent) {
      const rows = batch.reduce((sum, { recipients }) => sum + recipients.length, 0);
      type Results = ReturnType<Commands["accept"]>;
      const results = await writer.call<Results>("accept", [batch.map(pack)], { urgent, rows });
      return results.map(errorOrResult);
    },
    async move(batch, urgent) {
      type Results = ReturnType<Commands["move"]>;
      const results = await writer.call<Results>("move", [packMoves(batch)], { urgent, rows: batch.length });
      return results.map((result, index) =>
        result === null ? movedAsKnown(batch[index] as AsKnown) : errorOrResult(result),
      );
    },
    async checkCodes(batch) {
      type Results = ReturnType<Commands["checkCodes"]>;
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
    park: (batch, at) => write("park", batch, at),
    forget: (before) => write("forget", before),
    async findLinks(codes) {
      const found = await reader.call<FoundLink[]>("readJson", [FIND_LINKS, [JSON.stringify(codes)]]);
      return hitsOf(codes, found);
    },
    async recordClicks(batch, callbacks = [], dueAt = 0) {
      const told = callbacks.length === 0 ? [] : [plain(insertCallbacks(engine, callbacks, dueAt))];
      const rows = batch.length + callbacks.length;
      await writer.call("recordClicks", [batch.map(packClick), told], { rows });
    },
    receiveOnPhones: (batch) => writer.call("receiveOnPhones", [batch], { rows: batch.length }),
    markReported: (batch) => writer.call("markReported", [batch], { rows: batch.length }),

    async findSubmissions(batch) {
      const rows = await read<RefRow & { place: number; parts: number }>(
        `select wanted.key as place, account_id, request_id, n, parts from json_each(?) as wanted
         join submissions on carrier = wanted.value ->> 0 and carrier_message_id = wanted.value ->> 1
         where ${isAbout("(wanted.value ->> 2)", "submissions")}`,
        JSON.stringify(batch.map(({ carrier, carrierMessageId, recipient }) => [carrier, carrierMessageId, recipient])),
      );
      const found = new Map(rows.map((row) => [row.place, submissionOf(row)]));
      return batch.map((_, place) => found.get(place) ?? null);
    },

    async parkedWithMessage(limit) {
      const rows = await read<ParkedRow & RefRow & { parts: number }>(
        `select parked_receipts.*, submissions.account_id, request_id, n, parts
         from parked_receipts join submissions using (carrier, carrier_message_id)
         where ${isAbout("parked_receipts.recipient", "submissions")} order by id limit ?`,
        limit,
      );
      return rows.map((row) => ({ ...parkedOf(row), ref: submissionOf(row) }));
    },

    async join({ alone, sends = true, roles = [] }) {
      if (alone) await write("query", "update nodes set dead = 1", []);
      const insert = "insert into nodes (beat_at, started_at, sends, roles) values (?, ?, ?, ?) returning id";
      const values = [clock.now(), clock.now(), sends ? 1 : 0, roles.join(" ")];
      const { rows } = await write("query", insert, values);
      return (rows[0] as { id: number }).id;
    },
    async beat(node) {
      const { changes } = await write("query", "update nodes set beat_at = ? where id = ? and dead = 0", [
        clock.now(),
        node,
      ]);
      return changes === 1;
    },
    async bury(silentMs) {
      await write("query", "update nodes set dead = 1 where dead = 0 and beat_at < ?", [clock.now() - silentMs]);
      await write(
        "query",
        `delete from nodes where dead = 1 and beat_at < ?
           and not ${HAS_WORK}`,
        [clock.now() - DEAD_NODE_KEPT_MS],
      );
      const rows = await read<{ id: number }>(`select id from nodes where dead = 1
           and ${HAS_WORK} order by id`);
      return rows.map((row) => row.id);
    },
    leave: (node) => write("leave", node),
    async countNodes() {
      const rows = await read<{ alive: number }>("select count(*) as alive from nodes where dead = 0");
      return rows[0]?.alive ?? 0;
    },
    async placeOf(node) {
      const rows = await read<{ count: number; rank: number }>(PLACE, node);
      return rows[0] ?? { count: 0, rank: 0 };
    },

    async listNodes() {
      const rows = await read<NodeRow>(
        "select id, roles, started_at, max(0, ? - beat_at) as silent_ms from nodes where dead = 0 order by id",
        clock.now(),
      );
      return rows.map(nodeOf);
    },
    async databaseBytes() {
      const rows = await read<{ bytes: number }>(
        "select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()",
      );
      return rows[0]?.bytes ?? 0;
    },

    async ping() {
      await write("query", PING, []);
    },
    async close() {
      await Promise.all([writer.close(), reader.close()]);
      closeQuietly(setup);
    },
  };
}

const plain = ({ sql: text, parameters }: CompiledQuery) => ({ sql: text, values: parameters as never });

/** Errors do not cross as text, so the writer gives their words. */
const errorOrResult = <T extends object>(result: T | Failed): T | Error =>
  "failed" in result ? new Error(result.failed.message) : result;

/** The last connection to close folds the write-ahead log into the database file. */
function closeQuietly(db: DatabaseSync): void {
  if (db.isOpen) db.close();
}
