import { sql, type CompiledQuery, type RawBuilder } from "kysely";
import { idFloor } from "../lib/ids.ts";
import { statesShownAs, type MessageRef } from "../model/message.ts";
import type { Engine } from "./engine.ts";
import { isWithin, nextRange, START } from "./key-range.ts";
import { storedMessageOf } from "./rows.ts";
import type { StoredMessage } from "./store.ts";

/** Finds messages that a carrier took and never reported. It needs no index, which would slow down every message write. */
export interface AwaitedStore {
  /**
   * Scans the account's messages accepted before a time, continuing where the last call of any node stopped. Records those that
   * have not ended, to be checked `graceMs` after their validity. Returns whether more remain.
   */
  setUnendedAside(accountId: number, before: number, graceMs: number, limit: number): Promise<boolean>;
  /** Recorded messages that are due for a check, including those that have ended since. */
  listAwaited(dueBy: number, limit: number): Promise<readonly StoredMessage[]>;
  /** Removes ended messages from the list and postpones the check of the others. */
  settleAwaited(ended: readonly MessageRef[], later: readonly (MessageRef & { dueAt: number })[]): Promise<void>;
}

const UNENDED = statesShownAs("Pending").filter((state) => state !== "unknown");

const KEY = { account_id: "integer", request_id: "uuid", n: "integer" } as const;
const TYPES = { ...KEY, due_at: "bigint" } as const;

/**
 * Ids are ordered by time, so one scan of the primary key covers an account's messages. Several nodes may
 * scan the same range: the insert is idempotent.
 */
export function createAwaited({ db, rowsOf, atomically }: Engine): AwaitedStore {
  const setAside = (rows: readonly AwaitedRow[]): CompiledQuery =>
    db
      .insertInto("awaited_receipts")
      .columns(["account_id", "request_id", "n", "due_at"])
      .expression(
        db
          .selectFrom(rowsOf<AwaitedRow>(TYPES, rows).as("batch"))
          .select(["account_id", "request_id", "n", "due_at"])
          // SQLite parses "on conflict" after a select as part of a join, unless a where clause stands between them.
          .where(sql<boolean>`true`),
      )
      .onConflict((conflict) =>
        conflict
          .columns(["account_id", "request_id", "n"])
          .doUpdateSet((row) => ({ due_at: row.ref("excluded.due_at") })),
      )
      .compile();

  return {
    async setUnendedAside(accountId, before, graceMs, limit) {
      const mark = await db
        .selectFrom("receipt_watch")
        .selectAll()
        .where("account_id", "=", accountId)
        .executeTakeFirst();
      const key = ["request_id", "n"];
      const after = mark ? [mark.watched_to, mark.watched_to_n] : START;
      const range = await nextRange(db, "messages", { accountId, key, after }, idFloor(before), limit);
      if (!range) return false;
      const [requestId, n] = range.to as [string, number];
      const unended = await db
        .selectFrom("messages")
        .select(["request_id", "n", "expires_at"])
        .where(isWithin(range))
        .where("state", "in", UNENDED)
        .execute();
      const rows = unended.map(({ expires_at, ...ref }) => ({
        account_id: accountId,
        ...ref,
        due_at: expires_at + graceMs,
      }));
      const moved = db
        .insertInto("receipt_watch")
        .values({ account_id: accountId, watched_to: requestId, watched_to_n: n })
        .onConflict((conflict) =>
          conflict
            .column("account_id")
            .doUpdateSet({ watched_to: requestId, watched_to_n: n })
            .where(
              sql<boolean>`(receipt_watch.watched_to, receipt_watch.watched_to_n) < (excluded.watched_to, excluded.watched_to_n)`,
            ),
        )
        .compile();
      await atomically(rows.length > 0 ? [setAside(rows), moved] : [moved]);
      return !range.isLast;
    },

    async listAwaited(dueBy, limit) {
      const rows = await db
        .selectFrom("awaited_receipts")
        .innerJoin("messages", (join) =>
          join
            .onRef("messages.account_id", "=", "awaited_receipts.account_id")
            .onRef("messages.request_id", "=", "awaited_receipts.request_id")
            .onRef("messages.n", "=", "awaited_receipts.n"),
        )
        .selectAll("messages")
        .where("awaited_receipts.due_at", "<=", dueBy)
        .orderBy("awaited_receipts.due_at")
        .limit(limit)
        .execute();
      return rows.map(storedMessageOf);
    },

    async settleAwaited(ended, later) {
      const queries: CompiledQuery[] = [];
      if (ended.length > 0)
        queries.push(
          db
            .deleteFrom("awaited_receipts")
            .where(isAmongRefs(rowsOf<KeyRow>(KEY, ended.map(keyOf))))
            .compile(),
        );
      if (later.length > 0) queries.push(setAside(later.map((each) => ({ ...keyOf(each), due_at: each.dueAt }))));
      if (queries.length > 0) await atomically(queries);
    },
  };
}

interface KeyRow {
  account_id: number;
  request_id: string;
  n: number;
}
type AwaitedRow = KeyRow & { due_at: number };

const keyOf = ({ accountId, requestId, n }: MessageRef): KeyRow => ({
  account_id: accountId,
  request_id: requestId,
  n,
});

const isAmongRefs = (rows: RawBuilder<KeyRow>): RawBuilder<boolean> =>
  sql`(account_id, request_id, n) in (select account_id, request_id, n from ${rows} as batch)`;
