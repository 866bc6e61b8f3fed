import { sql, type RawBuilder } from "kysely";
import { idFloor } from "../../lib/ids.ts";
import type { Engine } from "../engine.ts";
import { storedMessageOf } from "../rows.ts";
import type { MessageStore, Position } from "../store.ts";
import {
  BEGINNING,
  blockAt,
  blockRangeOf,
  earlierOf,
  isAfter,
  isOfOneRequest,
  keysWithin,
  laterOf,
  lookAt,
  newestBlock,
  newestBlocks,
  newestSegmentEnd,
  partOf,
  positionOf,
  runsOf,
  SEGMENT_BLOCKS,
  segmentOf,
  segmentsIn,
  segmentsOf,
  spanOf,
  UNKNOWN,
  type BlockSpan,
  type CandidateBlock,
} from "./blocks.ts";
import { collectPage, type ReportingBudget } from "../collect-page.ts";
import { createNumbers, FREQUENT } from "./numbers.ts";
import { after, readOldestFirst } from "./oldest-first.ts";
import { createMessageReader, type Bounds, type Source } from "./read-messages.ts";
import { ZONE_KIND, zoneConditions } from "./zones.ts";

/** Blocks that the first look at the zone map covers. */
const BLOCKS_AT_FIRST = 64;
/** The same for the segments of a rare number, or of one without other fields, which a look counts by their keys. */
const NUMBER_BLOCKS_AT_FIRST = 128 * SEGMENT_BLOCKS;
const KEYS_AT_ONCE = 1000;
const NUMBER_FIELDS = ["recipient", "recipientEnding"] as const;
/** Fields of which the zone map knows where they occur. */
const ZONE_FIELDS = ["status", "channel", "routeClass", "campaignName", "templateName", "test"] as const;

/** A position after every message. */
const END: Position = { requestId: "ffffffff-ffff-ffff-ffff-ffffffffffff", n: 0 };

/** The message search of both engines. It reads few rows for any combination of filters, and a page is full until the end, or until its time is over. */
export function createSearch(engine: Engine, budget: ReportingBudget | null): Pick<MessageStore, "listMessages"> {
  const { db } = engine;
  const { scan, readRange, rowsOfKeys, rowsOfParts, fewKeys } = createMessageReader(engine);
  const numbers = createNumbers(engine);

  /** Blocks of changed messages that are not summarized again yet. They are read for any filter. */
  const changedBlocks = async ({ accountId }: Bounds, span: BlockSpan): Promise<CandidateBlock[]> => {
    // All ranges have the same length, so the last that begins within or before a block is the last to end.
    const rows = await blocksWithin(accountId, span)
      // Usually nothing is noted. Both engines check this once, which saves two pages per block.
      .where(sql<boolean>`exists (select 1 from search_changes where account_id = ${accountId})`)
      .where(
        sql<boolean>`(select to_id from search_changes where search_changes.account_id = search_blocks.account_id
          and from_id <= last_request_id order by from_id desc limit 1) > after_request_id`,
      )
      .execute();
    return rows.map((row) => ({ ...blockRangeOf(row), matches: UNKNOWN }));
  };

  const blocksWithin = (accountId: number, { oldest, newest }: BlockSpan) =>
    db
      .selectFrom("search_blocks")
      .selectAll()
      .where("account_id", "=", accountId)
      .where("block", ">=", oldest)
      .where("block", "<=", newest);

  /** Blocks that contain a matching zone, with the part of each in which the matches lie. */
  const zonedBlocks = async (
    { accountId, filter }: Bounds,
    { oldest, newest }: BlockSpan,
  ): Promise<CandidateBlock[]> => {
    const { isMatch, kinds } = zoneConditions(filter);
    const ofKind = (kind: number, column: string): RawBuilder<unknown> =>
      sql`case when named = ${sql.lit(kind)} then ${sql.ref(column)} end`;
    const fields = [ZONE_KIND.whole, ...kinds].map(
      (
        kind,
      ) => sql<string>`coalesce(sum(${ofKind(kind, "messages")}), 0) || ' ' || coalesce(min(${ofKind(kind, "first_id")}), '')
        || ' ' || coalesce(max(${ofKind(kind, "last_id")}), '')`,
    );
    const zones = db
      .selectFrom("search_zones")
      .select(["block", sql<string>`${sql.join(fields, sql` || ',' || `)}`.as("found")])
      .where("account_id", "=", accountId)
      .where("block", "<=", newest)
      .where("block", ">=", oldest)
      .where(isMatch)
      .groupBy("block")
      .having(
        sql<boolean>`max(case when named = ${sql.lit(ZONE_KIND.whole)} then 1 else 0 end) = 1 or count(distinct named) = ${kinds.length}`,
      );
    const rows = await db
      .selectFrom(zones.as("zones"))
      .innerJoin("search_blocks", (join) =>
        join.on("search_blocks.account_id", "=", accountId).onRef("search_blocks.block", "=", "zones.block"),
      )
      .selectAll("search_blocks")
      .select("zones.found")
      .execute();
    return rows.flatMap((row) => {
      const part = partOf(blockRangeOf(row), row.found);
      return part ? [part] : [];
    });
  };

  /** The blocks in which the filter may match, newest first. */
  const candidatesIn = async (bounds: Bounds, span: BlockSpan): Promise<CandidateBlock[]> => {
    // Changes first: one that is no longer noted when they are read is in the zones.
    const changed = await changedBlocks(bounds, span);
    return newestBlocks([...(await zonedBlocks(bounds, span)), ...changed]);
  };

  async function* readBlocks(bounds: Bounds, blocks: BlockSpan, limit: number): Source {
    for (const span of lookAt(blocks, BLOCKS_AT_FIRST))
      yield* readCandidates(bounds, await candidatesIn(bounds, span), limit);
  }

  /** Several blocks per statement until they can fill a page. */
  async function* readCandidates(bounds: Bounds, candidates: readonly CandidateBlock[], limit: number): Source {
    yield [];
    let parts: CandidateBlock[] = [];
    for (const run of runsOf(candidates, limit)) {
      const isOneRequest = isOfOneRequest(run);
      if (isOneRequest) parts.push(run);
      if (parts.length >= limit || (!isOneRequest && parts.length > 0)) {
        yield await rowsOfParts(bounds, parts);
        parts = [];
      }
      if (isOneRequest) continue;
      const range = { above: laterOf(bounds.above, run.after), below: earlierOf(bounds.below, after(run.last)) };
      if (isAfter(range.below, range.above)) yield* readRange({ ...bounds, ...range }, limit);
    }
    if (parts.length > 0) yield await rowsOfParts(bounds, parts);
  }

  /**
   * Reads the messages of a number by segments, newest first. Other fields are compared in the rows of a rare number; for a
   * frequent one, the zone map leaves few segments.
   */
  async function* readNumber(bounds: Bounds, blocks: BlockSpan, limit: number): Source {
    const hasOthers = hasZoneFields(bounds);
    for (const span of lookAt(blocks, NUMBER_BLOCKS_AT_FIRST)) {
      yield [];
      const changed = segmentsOf(await changedBlocks(bounds, span));
      const counted = await numbers.count(bounds, segmentsIn(span));
      if (hasOthers && sumOf(counted) > KEYS_AT_ONCE) {
        // A number that is frequent here may be so in all older messages.
        yield* readZonedNumber(bounds, { oldest: blocks.oldest, newest: span.newest }, limit);
        return;
      }
      yield* readSegments(bounds, { span, candidates: null, changed, counted }, limit);
    }
  }

  async function* readZonedNumber(bounds: Bounds, blocks: BlockSpan, limit: number): Source {
    for (const span of lookAt(blocks, BLOCKS_AT_FIRST)) {
      yield [];
      const changed = await changedBlocks(bounds, span);
      const candidates = newestBlocks([...(await zonedBlocks(bounds, span)), ...changed]);
      const counted = await numbers.count(bounds, [...segmentsOf(candidates)]);
      yield* readSegments(bounds, { span, candidates, changed: segmentsOf(changed), counted }, limit);
    }
  }

  async function* readSegments(
    bounds: Bounds,
    { span, candidates, changed, counted }: NumberSpan,
    limit: number,
  ): Source {
    const listed = candidates ? [...segmentsOf(candidates)] : segmentsIn(span);
    let gathered: number[] = [];
    let keys = 0;
    // Other fields leave few of a number's messages.
    const enough = hasZoneFields(bounds) ? KEYS_AT_ONCE : Math.min(limit, KEYS_AT_ONCE);
    for (const segment of listed) {
      const count = counted.get(segment) ?? 0;
      const isChanged = changed.has(segment);
      if (count === 0 && !isChanged) continue;
      if (keys + count > KEYS_AT_ONCE || isChanged || count >= FREQUENT) {
        yield* keysThenRows(bounds, gathered, candidates, limit);
        [gathered, keys] = [[], 0];
      }
      if (isChanged) {
        // A late message has no number in the index.
        const ofSegment = candidates?.filter(({ block }) => segmentOf(block) === segment);
        yield* readCandidates(bounds, ofSegment ?? (await allBlocks(bounds, spanOf(segment, span))), limit);
        continue;
      }
      gathered.push(segment);
      keys += count;
      if (keys < enough && count < FREQUENT) continue;
      yield* keysThenRows(bounds, gathered, candidates, limit);
      [gathered, keys] = [[], 0];
    }
    yield* keysThenRows(bounds, gathered, candidates, limit);
  }

  const allBlocks = async ({ accountId }: Bounds, span: BlockSpan): Promise<CandidateBlock[]> => {
    const rows = await blocksWithin(accountId, span).execute();
    return newestBlocks(rows.map((row) => ({ ...blockRangeOf(row), matches: UNKNOWN })));
  };

  async function* keysThenRows(
    bounds: Bounds,
    segments: readonly number[],
    candidates: readonly CandidateBlock[] | null,
    limit: number,
  ): Source {
    if (segments.length === 0) return;
    let { below } = bounds;
    for (;;) {
      const keys = await numbers.keysOf(bounds, segments, below, Math.max(limit, KEYS_AT_ONCE));
      yield await rowsOfKeys(bounds, candidates ? keysWithin(keys, candidates) : keys);
      const last = keys.at(-1);
      if (!last || keys.length < Math.max(limit, KEYS_AT_ONCE)) return;
      below = positionOf(last);
      if (!isAfter(below, bounds.above)) return;
    }
  }

  /** Everything that matches: the newest messages, which are not in blocks yet, and the blocks. */
  async function* search(bounds: Bounds, limit: number): Source {
    const { accountId, filter, above, below } = bounds;
    const isReversed = filter.order === "oldest";
    const few = await fewKeys(bounds);
    if (few) {
      const rows = await rowsOfKeys(bounds, few);
      yield isReversed ? rows.toReversed() : rows;
      return;
    }
    if (![...NUMBER_FIELDS, ...ZONE_FIELDS].some((field) => filter[field] !== undefined)) {
      yield* scan(bounds, limit);
      return;
    }
    const newest = await (hasNumber(bounds) ? newestSegmentEnd : newestBlock)(db, accountId);
    const indexedTo = newest ? blockRangeOf(newest).last : BEGINNING;
    const indexed = { ...bounds, below: earlierOf(below, after(indexedTo)) };
    if (isReversed && newest && isAfter(indexedTo, above))
      yield* readOldestFirst(db, (slice, most) => readIndexed(slice, newest.block, most), indexed, limit);
    if (isAfter(below, indexedTo)) yield* scan({ ...bounds, above: laterOf(above, indexedTo) }, limit);
    if (!isReversed && newest && isAfter(indexedTo, above)) yield* readIndexed(indexed, newest.block, limit);
  }

  /** Matches within blocks, newest first. */
  async function* readIndexed(bounds: Bounds, newest: number, limit: number): Source {
    const [oldest, top] = await Promise.all(
      [bounds.above, bounds.below].map((at) => blockAt(db, bounds.accountId, at)),
    );
    if (!oldest) return;
    const blocks = { oldest: oldest.block, newest: Math.min(top?.block ?? newest, newest) };
    yield* (hasNumber(bounds) ? readNumber : readBlocks)(bounds, blocks, limit);
  }

  return {
    async listMessages(accountId, filter, position, limit, withinMs = Infinity) {
      const from = filter.from === undefined ? BEGINNING : { requestId: idFloor(filter.from), n: 0 };
      const to = filter.to === undefined ? END : { requestId: idFloor(filter.to), n: 0 };
      const bounds =
        filter.order === "oldest"
          ? { above: position === null ? from : laterOf(position, from), below: to }
          : { above: from, below: position === null ? to : earlierOf(position, to) };
      // One more than a page shows whether a page follows.
      const found = search({ accountId, filter, ...bounds }, limit + 1);
      const { rows, hasMore } = await collectPage(
        found,
        limit,
        budget && { ...budget, timeoutMs: Math.min(budget.timeoutMs, withinMs) },
      );
      const last = rows.at(-1);
      return { rows: rows.map(storedMessageOf), next: last && hasMore ? positionOf(last) : null };
    },
  };
}

interface NumberSpan {
  span: BlockSpan;
  /** The blocks in which the other fields match; null if there are none. */
  candidates: readonly CandidateBlock[] | null;
  /** Segments with changed blocks. */
  changed: ReadonlySet<number>;
  /** Messages of the number by segment. */
  counted: ReadonlyMap<number, number>;
}

const hasNumber = ({ filter }: Bounds): boolean => NUMBER_FIELDS.some((field) => filter[field] !== undefined);

const hasZoneFields = ({ filter }: Bounds): boolean => ZONE_FIELDS.some((field) => filter[field] !== undefined);

const sumOf = (counted: ReadonlyMap<number, number>): number =>
  [...counted.values()].reduce((sum, each) => sum + each, 0);
