import { sql, type RawBuilder } from "kysely";
import { idFloor } from "../lib/ids.ts";
import { ERASED, WAITING_STATES } from "../model/message.ts";
import type { Engine } from "./engine.ts";
import type { RetentionStore } from "./retention-store.ts";
import type { Position } from "./store.ts";

const ERASED_CONTENT = JSON.stringify(ERASED);

const BEGINNING: Position = { requestId: idFloor(0), n: 0 };

/**
 * Forgets what is past its time. Ids are ordered by time, so what is old lies at the beginning of an account's messages: each
 * call walks a stretch of them and stops, so that nobody waits behind it. Several nodes may walk the same stretch: each
 * statement has its own condition, and finds nothing left to do where another was faster.
 */
export function createRetention({ db, atomically }: Engine): RetentionStore {
  const hasText = sql<boolean>`messages.content <> ${ERASED_CONTENT}`;
  const isGone = (table: "submissions" | "failovers" | "kept_texts"): RawBuilder<boolean> =>
    sql`not exists (select 1 from messages where messages.account_id = ${sql.ref(`${table}.account_id`)}
      and messages.request_id = ${sql.ref(`${table}.request_id`)} and messages.n = ${sql.ref(`${table}.n`)})`;

  const stretch = async (
    table: "messages" | "kept_texts",
    accountId: number,
    after: Position,
    before: number,
    limit: number,
  ): Promise<Position[]> => {
    const rows = await db
      .selectFrom(table)
      .select(["request_id", "n"])
      .where("account_id", "=", accountId)
      .where("request_id", "<", idFloor(before))
      .where(isAfter(after))
      .orderBy("request_id")
      .orderBy("n")
      .limit(limit)
      .execute();
    return rows.map((row) => ({ requestId: row.request_id, n: row.n }));
  };

  return {
    async eraseTexts(accountId, before, limit) {
      const mark = await db.selectFrom("retention").selectAll().where("account_id", "=", accountId).executeTakeFirst();
      const after = mark ? { requestId: mark.erased_to, n: mark.erased_to_n } : BEGINNING;
      const seen = await stretch("messages", accountId, after, before, limit);
      const last = seen.at(-1);
      if (!last) return 0;
      await atomically([
        db
          .updateTable("messages")
          .set({ content: ERASED_CONTENT })
          .where("account_id", "=", accountId)
          .where(isWithin(after, last))
          .where(hasEnded(before))
          .where(hasText)
          .compile(),
        // Whatever still has its text is set aside, so that the mark can go on and no message holds up the others.
        db
          .insertInto("kept_texts")
          .columns(["account_id", "request_id", "n"])
          .expression(
            db
              .selectFrom("messages")
              .select(["account_id", "request_id", "n"])
              .where("account_id", "=", accountId)
              .where(isWithin(after, last))
              .where(hasText),
          )
          .onConflict((conflict) => conflict.doNothing())
          .compile(),
        db
          .insertInto("retention")
          .values({ account_id: accountId, erased_to: last.requestId, erased_to_n: last.n })
          .onConflict((conflict) =>
            conflict
              .column("account_id")
              .doUpdateSet({ erased_to: last.requestId, erased_to_n: last.n })
              .where(
                sql<boolean>`(retention.erased_to, retention.erased_to_n) < (excluded.erased_to, excluded.erased_to_n)`,
              ),
          )
          .compile(),
      ]);
      return seen.length;
    },

    async eraseKeptTexts(accountId, before, after, limit) {
      const from = after ?? BEGINNING;
      const seen = await stretch("kept_texts", accountId, from, before, limit);
      const last = seen.at(-1);
      if (!last) return null;
      const kept = db
        .selectFrom("kept_texts")
        .select(["request_id", "n"])
        .where("account_id", "=", accountId)
        .where(isWithin(from, last));
      await atomically([
        db
          .updateTable("messages")
          .set({ content: ERASED_CONTENT })
          .where("account_id", "=", accountId)
          .where(sql<boolean>`(request_id, n) in (${kept})`)
          .where(hasEnded(before))
          .where(hasText)
          .compile(),
        db
          .deleteFrom("kept_texts")
          .where("account_id", "=", accountId)
          .where(isWithin(from, last))
          .where(
            sql<boolean>`not exists (select 1 from messages where messages.account_id = kept_texts.account_id
              and messages.request_id = kept_texts.request_id and messages.n = kept_texts.n and ${hasText})`,
          )
          .compile(),
      ]);
      return seen.length === limit ? last : null;
    },

    async emptyPhones(accountId, before, limit) {
      const { numDeletedRows } = await db
        .deleteFrom("phone_messages")
        .where("account_id", "=", accountId)
        .where("id", "in", (row) =>
          row
            .selectFrom("phone_messages")
            .select("id")
            .where("account_id", "=", accountId)
            .where("id", "<", idFloor(before))
            // Whose reports are still to come is needed for them.
            .where("reports_due_at", "is", null)
            .orderBy("id")
            .limit(limit),
        )
        .executeTakeFirst();
      return Number(numDeletedRows);
    },

    async removeMessages(accountId, before, after, limit) {
      const from = after ?? BEGINNING;
      const seen = await stretch("messages", accountId, from, before, limit);
      const last = seen.at(-1);
      if (!last) return null;
      const tables = ["submissions", "failovers", "kept_texts"] as const;
      await atomically([
        db
          .deleteFrom("messages")
          .where("account_id", "=", accountId)
          .where(isWithin(from, last))
          .where(hasEnded(before))
          .compile(),
        ...tables.map((table) =>
          db
            .deleteFrom(table)
            .where("account_id", "=", accountId)
            .where(isWithin(from, last))
            .where(isGone(table))
            .compile(),
        ),
      ]);
      return seen.length === limit ? last : null;
    },
  };
}

const isAfter = ({ requestId, n }: Position): RawBuilder<boolean> =>
  sql`(request_id, n) > (${requestId}, cast(${n} as integer))`;

/** The plain range besides is for PostgreSQL, which cannot tell how little a range of pairs holds. */
const isWithin = (after: Position, last: Position): RawBuilder<boolean> =>
  sql`request_id between ${after.requestId} and ${last.requestId}
    and ${isAfter(after)} and (request_id, n) <= (${last.requestId}, cast(${last.n} as integer))`;

/**
 * Whether a message came to its end before a time. One whose end was never reported has ended with its validity: until then
 * another route may need its text.
 */
const hasEnded = (before: number): RawBuilder<boolean> =>
  sql`state not in (${sql.join(WAITING_STATES.map((state) => sql.lit(state)))}) and coalesce(done_at, expires_at) < ${before}`;
