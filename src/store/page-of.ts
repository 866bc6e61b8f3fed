import type { Page } from "./store.ts";

/** The page of rows that were read with a limit of one more, which shows that another page follows. */
export function pageOf<R, T, C>(
  rows: readonly R[],
  limit: number,
  view: (row: R) => T,
  positionOf: (row: T) => C,
): Page<T, C> {
  const page = rows.slice(0, limit).map(view);
  const last = page.at(-1);
  return { rows: page, next: rows.length > limit && last !== undefined ? positionOf(last) : null };
}
