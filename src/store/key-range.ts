import { sql, type Kysely, type RawBuilder } from "kysely";
import type { Tables } from "./tables.ts";

/** A position in the order of a key whose first column is a time-ordered id. Empty: before the first row. */
export type Cursor = readonly (string | number)[];

export const START: Cursor = [];

/** A stretch of an account's rows in key order. */
export interface KeyRange {
  accountId: number;
  /** The columns of the key after the account. */
  key: readonly string[];
  /** Exclusive. */
  after: Cursor;
  /** Inclusive. */
  to: Cursor;
}

/**
 * The next rows of an account in key order, at most `limit` and all below an id; null when there are none. `isLast` if none
 * follows them. Only keys are read, so that a job can work through a table of any size range by range.
 */
export async function nextRange(
  db: Kysely<Tables>,
  table: keyof Tables,
  { accountId, key, after }: Pick<KeyRange, "accountId" | "key" | "after">,
  below: string,
  limit: number,
): Promise<(KeyRange & { isLast: boolean }) | null> {
  const [id = ""] = key;
  let rest = db
    .selectFrom(table)
    .select(key.map((column) => sql.ref<string | number>(column).as(column)))
    .where(sql<boolean>`account_id = ${accountId} and ${sql.ref(id)} < ${below}`)
    .limit(1);
  if (after.length > 0) rest = rest.where(isAfter(key, after));
  const inOrder = key.reduce((query, column) => query.orderBy(sql.ref(column)), rest);
  const edge = await inOrder.offset(limit - 1).executeTakeFirst();
  const last =
    edge ?? (await key.reduce((query, column) => query.orderBy(sql.ref(column), "desc"), rest).executeTakeFirst());
  return last ? { accountId, key, after, to: key.map((column) => last[column] ?? 0), isLast: !edge } : null;
}

/** True for the rows of a range. */
export const isWithin = ({ accountId, key, after, to }: KeyRange): RawBuilder<boolean> =>
  sql`account_id = ${accountId} ${after.length > 0 ? sql`and ${isAfter(key, after)}` : sql``}
    and ${isUpTo(key, to)}`;

/** The redundant plain range is for PostgreSQL, which cannot estimate the selectivity of a row-value range. */
const isAfter = (key: readonly string[], after: Cursor): RawBuilder<boolean> =>
  sql`${sql.ref(key[0] ?? "")} >= ${after[0]} and (${columns(key)}) > (${sql.join(after)})`;

const isUpTo = (key: readonly string[], to: Cursor): RawBuilder<boolean> =>
  sql`${sql.ref(key[0] ?? "")} <= ${to[0]} and (${columns(key)}) <= (${sql.join(to)})`;

const columns = (key: readonly string[]): RawBuilder<unknown> => sql.join(key.map((column) => sql.ref(column)));
