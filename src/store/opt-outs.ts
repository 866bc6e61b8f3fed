import { sql } from "kysely";
import type { OptOut } from "../model/opt-out.ts";
import type { Engine } from "./engine.ts";
import type { Page } from "./store.ts";
import type { Tables } from "./tables.ts";

/** Opt-outs from promotions. Test traffic has a separate list, which only stop and start keywords change. */
export interface OptOutStore {
  addOptOuts(batch: readonly OptOut[], list?: OptOutList): Promise<void>;
  /** With `before`, removes only an entry from before that time. */
  removeOptOut(accountId: number, number: string, before?: number, list?: OptOutList): Promise<boolean>;
  findOptOut(accountId: number, number: string): Promise<OptOut | null>;
  listOptOuts(accountId: number, after: string | null, limit: number): Promise<Page<OptOut, string>>;
  /** Numbers on the live list, counted up to `atMost`. */
  countOptOuts(accountId: number, atMost: number): Promise<number>;
  /** For each number, true if it is on its account's list. */
  areOptedOut(batch: readonly { accountId: number; number: string; test?: boolean }[]): Promise<readonly boolean[]>;
}

/** The live list by default. */
export interface OptOutList {
  test: boolean;
}

/** Opt-out queries. The list may be long, so it is queried and not kept in memory. */
export function createOptOutQueries({ db, rowsOf }: Engine): OptOutStore {
  return {
    async addOptOuts(batch, list) {
      if (batch.length === 0) return;
      const rows = batch.map((optOut) => ({
        account_id: optOut.accountId,
        number: optOut.number,
        source: optOut.source,
        note: optOut.note,
        created_at: optOut.createdAt,
      }));
      await db
        .insertInto(optOutTable(list))
        .values(rows)
        // The latest entry wins: a late response must not undo it.
        .onConflict((conflict) =>
          conflict
            .columns(["account_id", "number"])
            .doUpdateSet((row) => ({ created_at: row.ref("excluded.created_at") }))
            .where(sql<boolean>`${sql.ref(`${optOutTable(list)}.created_at`)} < excluded.created_at`),
        )
        .execute();
    },

    async removeOptOut(accountId, number, before, list) {
      let removal = db.deleteFrom(optOutTable(list)).where("account_id", "=", accountId).where("number", "=", number);
      if (before !== undefined) removal = removal.where("created_at", "<=", before);
      const { numDeletedRows } = await removal.executeTakeFirst();
      return numDeletedRows > 0n;
    },

    async findOptOut(accountId, number) {
      const row = await db
        .selectFrom("optouts")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("number", "=", number)
        .executeTakeFirst();
      return row ? optOutOf(row) : null;
    },

    async listOptOuts(accountId, after, limit) {
      let query = db.selectFrom("optouts").selectAll().where("account_id", "=", accountId);
      if (after !== null) query = query.where("number", ">", after);
      const rows = await query.orderBy("number").limit(limit).execute();
      return { rows: rows.map(optOutOf), next: rows.length === limit ? (rows.at(-1)?.number ?? null) : null };
    },

    async countOptOuts(accountId, atMost) {
      const some = db
        .selectFrom("optouts")
        .select(sql<number>`1`.as("one"))
        .where("account_id", "=", accountId)
        .limit(atMost)
        .as("some");
      const { count } = await db
        .selectFrom(some)
        .select(sql<number>`count(*)`.as("count"))
        .executeTakeFirstOrThrow();
      return count;
    },

    async areOptedOut(batch) {
      const keyOf = ({ accountId, test = false }: (typeof batch)[number]): string => `${accountId} ${test}`;
      const found = new Set<string>();
      for (const [key, items] of Map.groupBy(batch, keyOf)) {
        const [{ accountId, test = false } = { accountId: 0 }] = items;
        const list = sql.table(optOutTable({ test }));
        const numbers = items.map(({ number }) => ({ number }));
        // `offset 0` keeps PostgreSQL from reading the whole list of the account for a few numbers.
        const rows = await db
          .selectFrom(rowsOf<{ number: string }>({ number: "text" }, numbers).as("asked"))
          .select("number")
          .where(
            sql<boolean>`exists (select 1 from ${list} as listed
              where listed.account_id = ${accountId} and listed.number = asked.number limit 1 offset 0)`,
          )
          .execute();
        for (const { number } of rows) found.add(`${key} ${number}`);
      }
      return batch.map((item) => found.has(`${keyOf(item)} ${item.number}`));
    },
  };
}

/** Both lists have the same columns, so the types use one table name for both. */
export const optOutTable = (list: OptOutList = { test: false }): "optouts" =>
  list.test ? ("test_optouts" as "optouts") : "optouts";

const optOutOf = (row: Tables["optouts"]): OptOut => ({
  accountId: row.account_id,
  number: row.number,
  source: row.source as OptOut["source"],
  note: row.note,
  createdAt: row.created_at,
});
