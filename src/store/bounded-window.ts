import { sql, type SelectQueryBuilder } from "kysely";
import type { Tables } from "./tables.ts";

/**
 * How many rows one call of a listing may look at. A filter that matches little would otherwise walk the whole table:
 * what is listed by time has no index for every field, because every row that is written would pay for it.
 */
export const LOOK_AT_MOST = 20_000;

/** The last row that such a window holds, by which the next call goes on; undefined when the window reached the end. */
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
