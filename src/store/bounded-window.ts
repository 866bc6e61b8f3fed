import { sql, type SelectQueryBuilder } from "kysely";
import { collectPage, type ReportingBudget } from "./collect-page.ts";
import type { Tables } from "./tables.ts";

/**
 * The most rows that one statement of a listing may scan. Listings by time have no index for every field, because each index
 * slows down every write. Without this bound a rare filter would scan the whole table in one statement.
 */
export const LOOK_AT_MOST = 20_000;

type Window = SelectQueryBuilder<Tables, keyof Tables, object>;

/** A listing by time whose filter has no index. Rows of the type `R` have a key of the type `K`. */
interface Listing<W extends Window, R extends K, K extends object, P> {
  /** At most `LOOK_AT_MOST` rows below a position, in order. */
  windowBelow(position: P | null): W;
  /** The rows of a window that match the filter, in order, at most as many as asked for. */
  matchesIn(window: W, limit: number): Promise<R[]>;
  key: readonly (keyof K & string)[];
  positionOf(key: K): P;
}

/** One page of a listing. Only the last page is empty. */
export async function listWindows<W extends Window, R extends K, K extends object, P>(
  listing: Listing<W, R, K, P>,
  { after, limit, budget }: { after: P | null; limit: number; budget: ReportingBudget | null },
): Promise<{ rows: R[]; next: P | null }> {
  // One more than a page shows whether a page follows.
  const { rows, hasMore } = await collectPage(readWindows(listing, after, limit + 1), limit, budget);
  const last = rows.at(-1);
  return { rows, next: last && hasMore ? listing.positionOf(last) : null };
}

async function* readWindows<W extends Window, R extends K, K extends object, P>(
  { windowBelow, matchesIn, key, positionOf }: Listing<W, R, K, P>,
  after: P | null,
  limit: number,
): AsyncGenerator<R[], void> {
  for (let from = after; ;) {
    const window = windowBelow(from);
    yield await matchesIn(window, limit);
    const edge = await edgeOf<K>(window, key);
    if (!edge) return;
    from = positionOf(edge);
  }
}

/** The last row of a bounded scan, where the next call continues; undefined when the scan reached the end. */
export async function edgeOf<R extends object>(
  window: SelectQueryBuilder<Tables, keyof Tables, object>,
  columns: readonly (keyof R & string)[],
): Promise<R | undefined> {
  const edge = await window
    .clearSelect()
    .select(columns.map((column) => sql.ref(column).as(column)))
    .clearLimit()
    .limit(1)
    .offset(LOOK_AT_MOST - 1)
    .executeTakeFirst();
  return edge as R | undefined;
}
