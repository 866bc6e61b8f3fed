import { sql } from "kysely";
import type { Engine } from "./engine.ts";
import { IS_WAITING, laneOf, refOf } from "./rows.ts";
import { UNOWNED, type MessageStore } from "./store.ts";

const isWaiting = sql<boolean>`${sql.raw(IS_WAITING)}`;

/** Rows that a node owns, found by the index of waiting messages, which begins with the owner. */
export function createOwned({ db, rowsOf }: Engine): Pick<MessageStore, "listOwned" | "releaseOwned"> {
  return {
    async listOwned({ node, routeClass, dueBy, after, limit }) {
      let owned = db
        .selectFrom("messages")
        .select(["account_id", "request_id", "n", "due_at"])
        .where("owner", "=", node)
        .where("lane", "=", laneOf(routeClass))
        .where("due_at", "<=", dueBy)
        .where(isWaiting);
      if (after) {
        const { dueAt, accountId, requestId, n } = after;
        owned = owned
          .where("due_at", ">=", dueAt)
          .where(sql<boolean>`(due_at, account_id, request_id, n) > (${dueAt}, ${accountId}, ${requestId}, ${n})`);
      }
      const rows = await owned
        .orderBy("due_at")
        .orderBy("account_id")
        .orderBy("request_id")
        .orderBy("n")
        .limit(limit)
        .execute();
      return rows.map((row) => ({ ...refOf(row), dueAt: row.due_at }));
    },

    async releaseOwned(node, rows) {
      const types = { account_id: "integer", request_id: "uuid", n: "integer" } as const;
      const keys = rowsOf(
        types,
        rows.map(({ accountId, requestId, n }) => ({ account_id: accountId, request_id: requestId, n })),
      );
      const { numUpdatedRows } = await db
        .updateTable("messages")
        .set({ owner: UNOWNED })
        .where(sql<boolean>`(account_id, request_id, n) in ${keys}`)
        .where("owner", "=", node)
        .where(isWaiting)
        .executeTakeFirst();
      return Number(numUpdatedRows);
    },
  };
}
