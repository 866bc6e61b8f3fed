import { randomUUID } from "node:crypto";
import { sql, type CompiledQuery } from "kysely";
import { idFloor, timeOf } from "../../lib/ids.ts";
import type { Engine } from "../engine.ts";
import type { Position } from "../store.ts";
import type { SearchBlockRow, Tables } from "../tables.ts";
import {
  BEGINNING,
  blockAt,
  blockRangeOf,
  isAfter,
  isInBlock,
  lastBlockOf,
  newestBlock,
  SEGMENT_BLOCKS,
  segmentOf,
  type BlockRange,
} from "./blocks.ts";
import { createNumbers, FORGET_AT_ONCE } from "./numbers.ts";
import { ZONE_COLUMNS, ZONE_TYPES, zonesOf, type Combination, type Zone } from "./zones.ts";

/**
 * Maintains the side tables of the message search, behind the accept. Each call does a bounded amount of work. Several nodes
 * may run it at once: of two summaries of a block, one is written.
 */
export interface SearchIndexStore {
  /** Notes that messages accepted within these ranges of time appeared late, or changed late. A search then reads them. */
  noteSearchChanges(ranges: readonly SearchChange[], at: number): Promise<void>;
  /** Noted ranges, those first that have waited longest. */
  listSearchChanges(limit: number): Promise<readonly NotedChange[]>;
  /**
   * Summarizes the blocks of a noted range again, without those that `done` lists, and adds them to it. A block that late
   * messages have made too large is removed with all newer ones, so that they are cut again.
   */
  indexChange(change: NotedChange, now: number, done: Set<string>, blockSize?: number): Promise<void>;
  /** Indexes the account's next whole block of messages; null if there is none. Returns the time of its newest message. */
  indexNextBlock(accountId: number, now: number, blockSize?: number): Promise<number | null>;
  /** Blocks whose messages have had time to end. */
  listDueBlocks(now: number, limit: number): Promise<readonly SearchBlockRow[]>;
  /** Summarizes such a block for good, unless messages change later. */
  indexDueBlock(block: SearchBlockRow): Promise<void>;
  /** Drops the template names of blocks whose texts were erased; returns how many blocks. */
  indexErasedTexts(accountId: number, limit: number): Promise<number>;
  /** Removes the oldest block, or a part of its numbers, once all its messages are gone. Returns false if there is none. */
  forgetSearchBlock(accountId: number): Promise<boolean>;
  /**
   * Removes numbers of messages that are gone, in blocks that begin before a time: one message that stays keeps its block and
   * all newer ones. Works on one segment, the given one or a newer one, and returns the next; null at the end.
   */
  forgetSearchNumbers(accountId: number, before: number, segment: number): Promise<number | null>;
}

/** A noted range of ids. It is removed once its blocks are summarized, unless it is noted again meanwhile. */
export type NotedChange = Tables["search_changes"];

/** Messages of an account accepted at `from` or later and before `to`, in epoch milliseconds. */
interface SearchChange {
  accountId: number;
  from: number;
  to: number;
}

/** Messages per block: a search reads at least one block for each match of a rare filter, in about a millisecond. */
export const BLOCK = 1024;
/**
 * A block with this many times as many messages is cut again. After a step of the clock into the future, blocks end there, and
 * all new messages lie within the last of them.
 */
const BLOCK_GROWTH_MAX = 4;
/**
 * Messages younger than this are not indexed yet. Ids are ordered by time, but commits are not: a message must be committed
 * before the index passes its id. A later commit is noted as a change.
 */
export const INDEX_LAG_MS = 30_000;

/**
 * Age of the newest message of a block at its firm summary. Until then, messages that may still change count as any status.
 * A transition of an older message than `CHANGES_NOTED_AFTER_MS` is noted first. The difference of both therefore bounds the
 * clock skew of nodes and the duration of a transition together.
 */
const FIRM_AFTER_MS = 900_000;
export const CHANGES_NOTED_AFTER_MS = 600_000;
const COMMIT_WITHIN_MS = FIRM_AFTER_MS - CHANGES_NOTED_AFTER_MS;

export function createSearchIndex(engine: Engine): SearchIndexStore {
  const { db, rowsOf, jsonText, inBackground } = engine;
  const numbers = createNumbers(engine);
  const summarize = (accountId: number, range: Omit<BlockRange, "block">): Promise<Combination[]> => {
    const read = db
      .selectFrom("messages")
      .select([
        "state",
        "channel",
        "lane",
        "test",
        "campaign_name",
        jsonText("content", "templateName").as("template_name"),
        // PostgreSQL before 18 has no minimum of UUIDs.
        sql<string>`cast(request_id as text)`.as("id"),
      ])
      .where(isInBlock(accountId, range));
    const fields = ["state", "channel", "lane", "test", "campaign_name", "template_name"] as const;
    return db
      .selectFrom(read.as("read"))
      .select([
        ...fields,
        sql<number>`count(*)`.as("messages"),
        sql<string>`min(id)`.as("first_id"),
        sql<string>`max(id)`.as("last_id"),
      ])
      .groupBy([...fields])
      .execute();
  };

  /** Statements that run only if this summary was written, and not that of another node. */
  const insertZones = (accountId: number, block: number, version: string, zones: readonly Zone[]): CompiledQuery[] => {
    const isOurs = sql<boolean>`exists (select 1 from search_blocks where account_id = cast(${accountId} as integer)
      and block = cast(${block} as integer) and version = ${version})`;
    return [
      db
        .deleteFrom("search_zones")
        .where("account_id", "=", accountId)
        .where("block", "=", block)
        .where(isOurs)
        .compile(),
      db
        .insertInto("search_zones")
        .columns(["account_id", "block", ...ZONE_COLUMNS])
        .expression(
          db
            .selectFrom(rowsOf<Zone>(ZONE_TYPES, zones).as("batch"))
            .select([
              sql<number>`cast(${accountId} as integer)`.as("account_id"),
              sql<number>`cast(${block} as integer)`.as("block"),
              ...ZONE_COLUMNS,
            ])
            .where(isOurs),
        )
        .compile(),
    ];
  };

  const beginOfSegment = async (accountId: number, { block, after }: BlockRange): Promise<Position> => {
    const first = await db
      .selectFrom("search_blocks")
      .selectAll()
      .where("account_id", "=", accountId)
      .where("block", ">=", segmentOf(block) * SEGMENT_BLOCKS)
      .orderBy("block")
      .limit(1)
      .executeTakeFirst();
    return first ? blockRangeOf(first).after : after;
  };

  const erasedTo = async (accountId: number): Promise<Position> => {
    const mark = await db.selectFrom("retention").selectAll().where("account_id", "=", accountId).executeTakeFirst();
    return mark ? { requestId: mark.erased_to, n: mark.erased_to_n } : BEGINNING;
  };

  /** Returns the number of messages; null if another node has written a summary meanwhile. */
  const summarizeAgain = async (row: SearchBlockRow, firmAfter: number | null): Promise<number | null> => {
    const range = blockRangeOf(row);
    const hasTexts = isAfter(range.last, await erasedTo(row.account_id));
    const combinations = await summarize(row.account_id, range);
    const zones = zonesOf(combinations, firmAfter === null);
    const messages = countOf(combinations);
    const version = randomUUID();
    const inserts = messages === row.messages ? [] : [numbers.insertOf(row.account_id, range)];
    const { changes } = await inBackground([
      ...inserts,
      db
        .updateTable("search_blocks")
        .set({ firm_after: firmAfter, messages, has_texts: hasTexts ? 1 : 0, version })
        .where("account_id", "=", row.account_id)
        .where("block", "=", row.block)
        .where("version", "=", row.version)
        .compile(),
      ...insertZones(row.account_id, row.block, version, zones),
    ]);
    return changes[inserts.length] === 1 ? messages : null;
  };

  /** Removes the newest blocks down to one, a segment at a time. */
  const removeBlocksFrom = async (accountId: number, block: number): Promise<void> => {
    for (;;) {
      const newest = await newestBlock(db, accountId);
      if (!newest || newest.block < block) return;
      const segment = segmentOf(newest.block);
      const from = Math.max(block, segment * SEGMENT_BLOCKS);
      const removal = (table: "search_zones" | "search_blocks"): CompiledQuery =>
        db.deleteFrom(table).where("account_id", "=", accountId).where("block", ">=", from).compile();
      await inBackground([
        db.deleteFrom("search_numbers").where("account_id", "=", accountId).where("segment", "=", segment).compile(),
        removal("search_zones"),
        removal("search_blocks"),
      ]);
    }
  };

  /** The two oldest blocks of an account. */
  const oldestBlocks = (accountId: number): Promise<SearchBlockRow[]> =>
    db.selectFrom("search_blocks").selectAll().where("account_id", "=", accountId).orderBy("block").limit(2).execute();

  return {
    async noteSearchChanges(ranges, at) {
      if (ranges.length === 0) return;
      const rows = ranges.map(({ accountId, from, to }) => ({
        account_id: accountId,
        from_id: idFloor(from),
        to_id: idFloor(to),
        noted_at: at,
      }));
      const types = { account_id: "integer", from_id: "uuid", to_id: "uuid", noted_at: "bigint" } as const;
      await db
        .insertInto("search_changes")
        .columns(["account_id", "from_id", "to_id", "noted_at"])
        .expression(
          db
            .selectFrom(rowsOf<Tables["search_changes"]>(types, rows).as("batch"))
            .select(["account_id", "from_id", "to_id", "noted_at"])
            // SQLite parses "on conflict" after a select as part of a join, unless a where clause stands between them.
            .where(sql<boolean>`true`)
            // Nodes that note the same ranges lock them in the same order, which avoids deadlocks.
            .orderBy("account_id")
            .orderBy("from_id"),
        )
        .onConflict((conflict) =>
          conflict.columns(["account_id", "from_id"]).doUpdateSet((row) => ({
            to_id: row.ref("excluded.to_id"),
            noted_at: sql<number>`case when excluded.noted_at > search_changes.noted_at then excluded.noted_at
              else search_changes.noted_at + 1 end`,
          })),
        )
        .execute();
    },

    listSearchChanges: (limit) =>
      db
        .selectFrom("search_changes")
        .selectAll()
        // Oldest first, so that an account with many changes does not keep the others waiting.
        .orderBy("noted_at")
        .limit(limit)
        .execute(),

    async indexChange(change, now, done, blockSize = BLOCK) {
      const accountId = change.account_id;
      const blocks = await db
        .selectFrom("search_blocks")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("last_request_id", ">=", change.from_id)
        .where("after_request_id", "<", change.to_id)
        .orderBy("last_request_id")
        .orderBy("last_n")
        .execute();
      for (const row of blocks) {
        const key = `${accountId} ${row.block}`;
        if (done.has(key)) continue;
        const messages = await summarizeAgain(row, Math.max(row.firm_after ?? 0, now + COMMIT_WITHIN_MS));
        // Another node's summary may be older than the change: the next run looks again.
        if (messages === null) return;
        done.add(key);
        if (messages <= BLOCK_GROWTH_MAX * blockSize) continue;
        await removeBlocksFrom(accountId, row.block);
        break;
      }
      await db
        .deleteFrom("search_changes")
        .where("account_id", "=", accountId)
        .where("from_id", "=", change.from_id)
        // One that was noted again meanwhile stays.
        .where("noted_at", "=", change.noted_at)
        .execute();
    },

    async indexNextBlock(accountId, now, blockSize = BLOCK) {
      const newest = await newestBlock(db, accountId);
      const after = newest ? blockRangeOf(newest).last : BEGINNING;
      const edge = await db
        .selectFrom("messages")
        .select(["request_id", "n"])
        .where("account_id", "=", accountId)
        .where("request_id", ">=", after.requestId)
        .where("request_id", "<", idFloor(now - INDEX_LAG_MS))
        .where(sql<boolean>`(request_id, n) > (${after.requestId}, cast(${after.n} as integer))`)
        .orderBy("request_id")
        .orderBy("n")
        .limit(1)
        .offset(blockSize - 1)
        .executeTakeFirst();
      if (!edge) return null;
      const range = { block: (newest?.block ?? -1) + 1, after, last: { requestId: edge.request_id, n: edge.n } };
      const hasTexts = isAfter(range.last, await erasedTo(accountId));
      const combinations = await summarize(accountId, range);
      const version = randomUUID();
      const row: SearchBlockRow = {
        account_id: accountId,
        block: range.block,
        after_request_id: after.requestId,
        after_n: after.n,
        last_request_id: edge.request_id,
        last_n: edge.n,
        firm_after: Math.max(timeOf(edge.request_id) + FIRM_AFTER_MS, now + COMMIT_WITHIN_MS),
        messages: countOf(combinations),
        has_texts: hasTexts ? 1 : 0,
        version,
      };
      const isLastOfSegment = range.block === lastBlockOf(segmentOf(range.block));
      await inBackground([
        db
          .insertInto("search_blocks")
          .values(row)
          .onConflict((conflict) => conflict.columns(["account_id", "block"]).doNothing())
          .compile(),
        ...insertZones(accountId, range.block, version, zonesOf(combinations, false)),
        ...(isLastOfSegment
          ? [numbers.insertOf(accountId, { ...range, after: await beginOfSegment(accountId, range) }, version)]
          : []),
      ]);
      return timeOf(edge.request_id);
    },

    listDueBlocks: (now, limit) =>
      db
        .selectFrom("search_blocks")
        .selectAll()
        .where("firm_after", "is not", null)
        .where("firm_after", "<=", now)
        .orderBy("firm_after")
        .limit(limit)
        .execute(),

    async indexDueBlock(row) {
      await summarizeAgain(row, null);
    },

    async indexErasedTexts(accountId, limit) {
      const erased = await erasedTo(accountId);
      const rows = await db
        .selectFrom("search_blocks")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("last_request_id", "<=", erased.requestId)
        .where("has_texts", "=", 1)
        .orderBy("last_request_id")
        .orderBy("last_n")
        .limit(limit)
        .execute();
      const whole = rows.filter((row) => !isAfter(blockRangeOf(row).last, erased));
      for (const row of whole) await summarizeAgain(row, row.firm_after);
      return whole.length;
    },

    async forgetSearchBlock(accountId) {
      const [oldest, next] = await oldestBlocks(accountId);
      // The newest block stays, because the next one begins after it.
      if (!oldest || !next) return false;
      const range = blockRangeOf(oldest);
      const kept = await db
        .selectFrom("messages")
        .select("n")
        .where(isInBlock(accountId, { after: BEGINNING, last: range.last }))
        .limit(1)
        .executeTakeFirst();
      if (kept) return false;
      if ((await numbers.forget(accountId, { ...range, segment: segmentOf(range.block) })) > 0) return true;
      await inBackground([
        db.deleteFrom("search_zones").where("account_id", "=", accountId).where("block", "=", oldest.block).compile(),
        db.deleteFrom("search_blocks").where("account_id", "=", accountId).where("block", "=", oldest.block).compile(),
        db
          .updateTable("search_blocks")
          .set({ after_request_id: BEGINNING.requestId, after_n: BEGINNING.n })
          .where("account_id", "=", accountId)
          .where("block", "=", next.block)
          .compile(),
      ]);
      return true;
    },

    async forgetSearchNumbers(accountId, before, segment) {
      const [oldest] = await oldestBlocks(accountId);
      const newest =
        (await blockAt(db, accountId, { requestId: idFloor(before), n: 0 })) ?? (await newestBlock(db, accountId));
      if (!oldest || !newest) return null;
      const current = Math.max(segment, segmentOf(oldest.block));
      if (current > segmentOf(newest.block)) return null;
      const removed = await numbers.forget(accountId, { ...blockRangeOf(newest), segment: current });
      return removed < FORGET_AT_ONCE ? current + 1 : current;
    },
  };
}

const countOf = (combinations: readonly Combination[]): number =>
  combinations.reduce((sum, { messages }) => sum + messages, 0);
