import { sql, type Kysely, type RawBuilder } from "kysely";
import { idFloor } from "../../lib/ids.ts";
import { isWithin } from "../key-range.ts";
import type { Position } from "../store.ts";
import type { SearchBlockRow, Tables } from "../tables.ts";

/**
 * Blocks per segment of numbers. A segment is written by one statement of about 15 ms. Ten million messages are 2,441 segments,
 * and a search for an unknown number looks into each of them.
 */
export const SEGMENT_BLOCKS = 4;
export const BEGINNING: Position = { requestId: idFloor(0), n: 0 };

/** Messages after a position, up to and including another. */
export interface BlockRange {
  block: number;
  after: Position;
  last: Position;
}

export const blockRangeOf = (
  row: Omit<SearchBlockRow, "firm_after" | "messages" | "has_texts" | "version">,
): BlockRange => ({
  block: row.block,
  after: { requestId: row.after_request_id, n: row.after_n },
  last: { requestId: row.last_request_id, n: row.last_n },
});

/** True for the messages of a block. */
export const isInBlock = (accountId: number, { after, last }: Omit<BlockRange, "block">): RawBuilder<boolean> =>
  isWithin({
    accountId,
    key: ["request_id", "n"],
    after: [after.requestId, after.n],
    to: [last.requestId, last.n],
  });

export const lastBlockOf = (segment: number): number => (segment + 1) * SEGMENT_BLOCKS - 1;

export const segmentOf = (block: number): number => Math.floor(block / SEGMENT_BLOCKS);

/** The newest block of an account. */
export const newestBlock = (db: Kysely<Tables>, accountId: number): Promise<SearchBlockRow | undefined> =>
  newestOf(db, accountId).executeTakeFirst();

/** The newest block that ends a segment: numbers are indexed up to there. */
export const newestSegmentEnd = (db: Kysely<Tables>, accountId: number): Promise<SearchBlockRow | undefined> =>
  newestOf(db, accountId)
    .where(sql<boolean>`block % ${sql.lit(SEGMENT_BLOCKS)} = ${sql.lit(SEGMENT_BLOCKS - 1)}`)
    .executeTakeFirst();

const newestOf = (db: Kysely<Tables>, accountId: number) =>
  db.selectFrom("search_blocks").selectAll().where("account_id", "=", accountId).orderBy("block", "desc").limit(1);

/** The block in which a position lies or would lie. Several blocks may end within one request. */
export const blockAt = (
  db: Kysely<Tables>,
  accountId: number,
  { requestId, n }: Position,
): Promise<SearchBlockRow | undefined> =>
  db
    .selectFrom("search_blocks")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("last_request_id", ">=", requestId)
    .where(sql<boolean>`(last_request_id, last_n) >= (${requestId}, cast(${n} as integer))`)
    .orderBy("last_request_id")
    .orderBy("last_n")
    .limit(1)
    .executeTakeFirst();

/** The block of a number, or the last one before it. */
export const blockUpTo = (db: Kysely<Tables>, accountId: number, block: number): Promise<SearchBlockRow | undefined> =>
  newestOf(db, accountId).where("block", "<=", block).executeTakeFirst();

/** Consecutive blocks, inclusive. */
export interface BlockSpan {
  oldest: number;
  newest: number;
}

/** The part of a block in which a filter may match. */
export interface CandidateBlock extends BlockRange {
  /** The most messages that can match. */
  matches: number;
}

/** Matches of a block whose zones are out of date. */
export const UNKNOWN = Number.POSITIVE_INFINITY;

/** Blocks that one statement reads: about 10 ms. */
const BLOCKS_PER_READ = 8;
/** A part with at most this many matches is short, so it is not joined with others. */
const FEW_MATCHES = 2;
/** Greater than the number of any recipient of a request. */
const LAST_N = 2_147_483_646;

export const isAfter = (one: Position, other: Position): boolean =>
  one.requestId === other.requestId ? one.n > other.n : one.requestId > other.requestId;

export const laterOf = (one: Position, other: Position): Position => (isAfter(one, other) ? one : other);
export const earlierOf = (one: Position, other: Position): Position => (isAfter(one, other) ? other : one);

/** Each look covers this many times the blocks of the look before, because a rare value is probably in none of the next. */
const LOOK_GROWTH = 16;
/** The most blocks of one look: eight million messages. Its statement reads 500 pages of the zone map. */
const BLOCKS_PER_LOOK_MAX = 8192;

/** Divides blocks into spans that each end with a whole segment, newest first: a small one, then larger ones. */
export function* lookAt({ oldest, newest }: BlockSpan, first: number): Generator<BlockSpan, void> {
  let size = first;
  for (let top = newest; top >= oldest; size = Math.min(size * LOOK_GROWTH, BLOCKS_PER_LOOK_MAX)) {
    const edge = segmentOf(Math.max(0, top - size + 1)) * SEGMENT_BLOCKS;
    yield { oldest: Math.max(oldest, edge), newest: top };
    top = edge - 1;
  }
}

export const segmentsOf = (blocks: readonly BlockRange[]): Set<number> =>
  new Set(blocks.map(({ block }) => segmentOf(block)));

export const segmentsIn = ({ oldest, newest }: BlockSpan): number[] =>
  Array.from({ length: segmentOf(newest) - segmentOf(oldest) + 1 }, (_, index) => segmentOf(newest) - index);

/** The blocks of a segment within a span. */
export const spanOf = (segment: number, { oldest, newest }: BlockSpan): BlockSpan => ({
  oldest: Math.max(oldest, segment * SEGMENT_BLOCKS),
  newest: Math.min(newest, (segment + 1) * SEGMENT_BLOCKS - 1),
});

/**
 * The part of a block in which its zones match: for each kind of zones their matches, first and last request. Null if the kinds
 * match in different parts.
 */
export function partOf(range: BlockRange, found: string): CandidateBlock | null {
  const [whole, ...apart] = found.split(",").map((kind) => {
    const [matches, first = "", last = ""] = kind.split(" ");
    return { matches: Number(matches), first, last };
  });
  let part: CandidateBlock = { ...range, matches: UNKNOWN };
  for (const { matches, first, last } of whole && whole.matches > 0 ? [whole] : apart)
    part = {
      block: range.block,
      after: laterOf(part.after, { requestId: first, n: 0 }),
      last: earlierOf(part.last, { requestId: last, n: LAST_N }),
      matches: Math.min(part.matches, matches),
    };
  return isAfter(part.last, part.after) ? part : null;
}

/** Each block once, newest first. Of two with the same number the last stays. */
export const newestBlocks = (blocks: readonly CandidateBlock[]): CandidateBlock[] =>
  [...new Map(blocks.map((each) => [each.block, each])).values()].toSorted((one, other) => other.block - one.block);

/** True if all matches of a part are recipients of one request, and few. */
export const isOfOneRequest = ({ after, last, matches }: CandidateBlock): boolean =>
  matches <= FEW_MATCHES && after.requestId === last.requestId;

interface Run extends CandidateBlock {
  blocks: number;
}

/** Joins blocks that follow each other into one range, until they may fill a page. */
export function* runsOf(candidates: readonly CandidateBlock[], enough: number): Generator<CandidateBlock, void> {
  let run: Run | null = null;
  for (const candidate of candidates) {
    const joined: Run | null = run && joinRun(run, candidate, enough);
    if (run && !joined) yield run;
    run = joined ?? { ...candidate, blocks: 1 };
  }
  if (run) yield run;
}

function joinRun(run: Run, { block, after, matches }: CandidateBlock, enough: number): Run | null {
  if (block !== run.block - 1 || run.blocks >= BLOCKS_PER_READ) return null;
  if (run.matches >= enough || Math.min(run.matches, matches) <= FEW_MATCHES) return null;
  return { ...run, block, after, matches: run.matches + matches, blocks: run.blocks + 1 };
}

/** The key of a message within its account. */
export interface Key {
  request_id: string;
  n: number;
}

export const positionOf = ({ request_id, n }: Key): Position => ({ requestId: request_id, n });

export const byNewest = (one: Key, other: Key): number => (isAfter(positionOf(one), positionOf(other)) ? -1 : 1);

/** The keys, newest first, that lie in one of the blocks, newest first as well. */
export function keysWithin<K extends Key>(keys: readonly K[], blocks: readonly CandidateBlock[]): K[] {
  let index = 0;
  return keys.filter((key) => {
    const position = positionOf(key);
    for (let block = blocks[index]; block; block = blocks[(index += 1)])
      if (isAfter(position, block.after)) return !isAfter(position, block.last);
    return false;
  });
}
