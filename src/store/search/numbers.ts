import { sql, type CompiledQuery, type RawBuilder } from "kysely";
import type { Engine } from "../engine.ts";
import type { MessageFilter, Position } from "../store.ts";
import { isInBlock, lastBlockOf, segmentOf, type BlockRange, type Key } from "./blocks.ts";

/** Digits in `search_numbers.ending`. */
const ENDING_DIGITS = 4;

/** A number with this many messages in a segment is frequent there. */
export const FREQUENT = 256;
/** Numbers that one call forgets. */
export const FORGET_AT_ONCE = 1000;

/** The number, or its last digits, that a search is for. */
interface NumberFilter {
  accountId: number;
  filter: MessageFilter;
}

/** The statements on the index of numbers, `search_numbers`. */
export function createNumbers({ db, rowsOf }: Engine) {
  /**
   * Inserts the numbers of a range once the last block of their segment exists, with a version only if that is the one of this
   * node. A repeated insert changes nothing.
   */
  const insertOf = (accountId: number, range: BlockRange, version?: string): CompiledQuery => {
    const segment = segmentOf(range.block);
    return db
      .insertInto("search_numbers")
      .columns(["account_id", "segment", "ending", "recipient", "request_id", "n"])
      .expression(
        db
          .selectFrom("messages")
          .select([
            "account_id",
            sql<number>`cast(${segment} as integer)`.as("segment"),
            ENDING.as("ending"),
            "recipient",
            "request_id",
            "n",
          ])
          .where(isInBlock(accountId, range))
          .where(
            sql<boolean>`exists (select 1 from search_blocks where account_id = cast(${accountId} as integer)
              and block = cast(${lastBlockOf(segment)} as integer)
              ${version === undefined ? sql`` : sql`and version = ${version}`})`,
          )
          .orderBy("ending")
          .orderBy("recipient")
          .orderBy("request_id")
          .orderBy("n"),
      )
      .onConflict((conflict) => conflict.doNothing())
      .compile();
  };

  /** Removes numbers of a segment, up to a position, whose messages are gone. */
  const forget = async (
    accountId: number,
    { segment, last }: Pick<BlockRange, "last"> & { segment: number },
  ): Promise<number> => {
    const gone = await db
      .selectFrom("search_numbers")
      .select(["ending", "recipient", "request_id", "n"])
      .where("account_id", "=", accountId)
      .where("segment", "=", segment)
      .where(sql<boolean>`(request_id, n) <= (${last.requestId}, cast(${last.n} as integer))`)
      .where(
        sql<boolean>`not exists (select 1 from messages where messages.account_id = search_numbers.account_id
          and messages.request_id = search_numbers.request_id and messages.n = search_numbers.n)`,
      )
      .limit(FORGET_AT_ONCE)
      .execute();
    if (gone.length === 0) return 0;
    const types = { ending: "text", recipient: "text", request_id: "uuid", n: "integer" } as const;
    const batch = rowsOf<(typeof gone)[number]>(types, gone);
    await db
      .deleteFrom("search_numbers")
      .where("account_id", "=", accountId)
      .where("segment", "=", segment)
      .where(
        sql<boolean>`(ending, recipient, request_id, n) in (select ending, recipient, request_id, n from ${batch} as batch)`,
      )
      .execute();
    return gone.length;
  };

  /** Counts the messages of a number in each segment, up to `FREQUENT`. */
  const count = async (
    { accountId, filter }: NumberFilter,
    segments: readonly number[],
  ): Promise<ReadonlyMap<number, number>> => {
    const few = db
      .selectFrom("search_numbers")
      .select(sql<number>`1`.as("one"))
      .where("account_id", "=", accountId)
      .where(sql<boolean>`segment = listed.segment`)
      .where(isNumberOf(filter))
      .limit(FREQUENT);
    const rows = await db
      .selectFrom(
        rowsOf<{ segment: number }>(
          { segment: "integer" },
          segments.map((segment) => ({ segment })),
        ).as("listed"),
      )
      .select(["listed.segment", sql<number>`(select count(*) from (${few}) as few)`.as("count")])
      .execute();
    return new Map(rows.map((row) => [row.segment, row.count]));
  };

  const keysOf = (
    { accountId, filter }: NumberFilter,
    segments: readonly number[],
    below: Position,
    limit: number,
  ): Promise<Key[]> =>
    db
      .selectFrom("search_numbers")
      .select(["request_id", "n"])
      .where("account_id", "=", accountId)
      .where(segments.length === 1 ? sql<boolean>`segment = ${segments[0]}` : isOneOf("segment", segments))
      .where(isNumberOf(filter))
      .where(sql<boolean>`(request_id, n) < (${below.requestId}, cast(${below.n} as integer))`)
      .orderBy("request_id", "desc")
      .orderBy("n", "desc")
      .limit(limit)
      .execute();

  const isOneOf = (column: string, values: readonly number[]): RawBuilder<boolean> => {
    const batch = rowsOf<{ value: number }>(
      { value: "integer" },
      values.map((value) => ({ value })),
    );
    return sql`${sql.ref(column)} in (select value from ${batch} as listed)`;
  };

  return { insertOf, forget, count, keysOf };
}

/** The last digits of a number. Both engines have `substr` and `length`. */
const ENDING = sql<string>`case when length(recipient) > ${sql.lit(ENDING_DIGITS)}
  then substr(recipient, length(recipient) - ${sql.lit(ENDING_DIGITS - 1)}) else recipient end`;

export const endsWith = (ending: string): RawBuilder<boolean> =>
  sql`length(recipient) >= ${ending.length} and substr(recipient, length(recipient) - ${ending.length} + 1) = ${ending}`;

/** The condition on `search_numbers`. */
function isNumberOf({ recipient, recipientEnding }: MessageFilter): RawBuilder<boolean> {
  const conditions: RawBuilder<boolean>[] = [];
  if (recipient !== undefined)
    conditions.push(sql`ending = ${recipient.slice(-ENDING_DIGITS)} and recipient = ${recipient}`);
  if (recipientEnding !== undefined) conditions.push(sql`ending = ${recipientEnding.slice(-ENDING_DIGITS)}`);
  if (recipientEnding !== undefined && recipientEnding.length > ENDING_DIGITS)
    conditions.push(endsWith(recipientEnding));
  return sql`${sql.join(conditions, sql` and `)}`;
}
