import type { Kysely } from "kysely";
import type { Position } from "../store.ts";
import type { MessageRow, Tables } from "../tables.ts";
import { blockAt, blockRangeOf, blockUpTo, earlierOf, isAfter } from "./blocks.ts";
import type { Bounds, Source } from "./read-messages.ts";

/** Matches that one slice of several blocks may have: more are not kept in memory. */
const MATCHES_MAX = 1024;
const GROWTH = 8;
/** Eight million messages. */
const BLOCKS_MAX = 8192;

/**
 * Reads indexed messages oldest first, with the search for the newest: slice by slice from the oldest block, each one turned
 * round. Slices without matches grow, because the zone map leaves little to read in them. A slice with many matches is read
 * again in parts; a single block is small enough.
 */
export async function* readOldestFirst(
  db: Kysely<Tables>,
  newestFirst: (bounds: Bounds, limit: number) => Source,
  bounds: Bounds,
  limit: number,
): Source {
  let { above } = bounds;
  let blocks = 1;
  for (;;) {
    const first = await blockAt(db, bounds.accountId, after(above));
    const last = first && (await blockUpTo(db, bounds.accountId, first.block + blocks - 1));
    if (!last) return;
    const { last: end } = blockRangeOf(last);
    const slice = { ...bounds, above, below: earlierOf(bounds.below, after(end)) };
    const matches: MessageRow[] = [];
    for await (const rows of newestFirst(slice, limit)) {
      matches.push(...rows);
      if (blocks > 1 && matches.length > MATCHES_MAX) break;
      // A time limit is checked between parts of the results.
      yield [];
    }
    if (blocks > 1 && matches.length > MATCHES_MAX) {
      blocks = Math.ceil(blocks / GROWTH);
      continue;
    }
    yield matches.toReversed();
    above = end;
    if (!isAfter(bounds.below, after(above))) return;
    if (matches.length < limit) blocks = Math.min(blocks * GROWTH, BLOCKS_MAX);
  }
}

/** The exclusive bound above a message. */
export const after = ({ requestId, n }: Position): Position => ({ requestId, n: n + 1 });
