import type { OptOut } from "../model/opt-out.ts";
import type { Engine } from "./engine.ts";
import type { OptOutStore } from "./opt-out-store.ts";
import type { Tables } from "./tables.ts";

/** Who gets no promotions. The list may be long, so it is asked and not held in memory. */
export function createOptOutQueries({ db, isAmong }: Engine): OptOutStore {
  return {
    async addOptOuts(batch) {
      if (batch.length === 0) return;
      const rows = batch.map((optOut) => ({
        account_id: optOut.accountId,
        number: optOut.number,
        source: optOut.source,
        note: optOut.note,
        created_at: optOut.createdAt,
      }));
      await db
        .insertInto("optouts")
        .values(rows)
        // The latest counts: an answer that comes late must not undo it.
        .onConflict((conflict) =>
          conflict
            .columns(["account_id", "number"])
            .doUpdateSet((row) => ({ created_at: row.ref("excluded.created_at") }))
            .whereRef("optouts.created_at", "<", "excluded.created_at"),
        )
        .execute();
    },

    async removeOptOut(accountId, number, before) {
      let removal = db.deleteFrom("optouts").where("account_id", "=", accountId).where("number", "=", number);
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

    async areOptedOut(batch) {
      const asked = Map.groupBy(batch, ({ accountId }) => accountId);
      const found = new Set<string>();
      for (const [accountId, items] of asked) {
        const rows = await db
          .selectFrom("optouts")
          .select("number")
          .where("account_id", "=", accountId)
          .where(
            isAmong(
              "number",
              items.map(({ number }) => number),
            ),
          )
          .execute();
        for (const { number } of rows) found.add(`${accountId} ${number}`);
      }
      return batch.map(({ accountId, number }) => found.has(`${accountId} ${number}`));
    },
  };
}

const optOutOf = (row: Tables["optouts"]): OptOut => ({
  accountId: row.account_id,
  number: row.number,
  source: row.source as OptOut["source"],
  note: row.note,
  createdAt: row.created_at,
});
