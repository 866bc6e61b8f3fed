import { sql } from "kysely";
import type { LedgerEntry, LedgerKind, Balance } from "../model/credits.ts";
import type { MessageRef } from "../model/message.ts";
import type { Engine } from "./engine.ts";
import type { Page } from "./store.ts";
import type { LedgerRow } from "./tables.ts";

/** Balances and ledger. Besides these calls, only message transitions change credits. */
export interface CreditStore {
  findBalance(accountId: number): Promise<Balance>;
  /**
   * Adds or, with a negative amount, removes credits. Returns false, and changes nothing, when the balance is too low.
   * Idempotent by id.
   */
  addCredits(
    accountId: number,
    entry: { id: string; amount: number; note: string | null; at: number },
  ): Promise<boolean>;
  /** The ledger entries of one message, and the entry of its whole request. */
  listLedgerOfMessage(ref: MessageRef): Promise<readonly LedgerEntry[]>;
  /** Newest request first. */
  listLedger(
    accountId: number,
    after: LedgerPosition | null,
    limit: number,
  ): Promise<Page<LedgerEntry, LedgerPosition>>;
}

export type LedgerPosition = Pick<LedgerEntry, "requestId" | "n" | "kind">;

/** Balance and ledger queries. Message transitions write here in their own transaction; see `charge.ts`. */
export function createCreditQueries({ db, atomically }: Engine): CreditStore {
  const findEntry = (accountId: number, id: string) =>
    db
      .selectFrom("ledger")
      .select("amount")
      .where("account_id", "=", accountId)
      .where("request_id", "=", id)
      .where("kind", "=", "top-up");

  return {
    async findBalance(accountId) {
      const row = await db
        .selectFrom("balances")
        .select(["balance", "held"])
        .where("account_id", "=", accountId)
        .executeTakeFirst();
      return row ?? { balance: 0, held: 0 };
    },

    async addCredits(accountId, { id, amount, note, at }) {
      const entry = { account_id: accountId, request_id: id, n: 0, kind: "top-up", amount, held: 0, note, at };
      try {
        await atomically([
          db.insertInto("ledger").values(entry).compile(),
          db
            .updateTable("balances")
            .set({ balance: sql`balance + ${amount}` })
            .where("account_id", "=", accountId)
            .compile(),
        ]);
        return true;
      } catch (error) {
        // Either this entry exists already, or the balance would become negative.
        if (await findEntry(accountId, id).executeTakeFirst()) return true;
        const { balance } = await this.findBalance(accountId);
        if (balance + amount < 0) return false;
        throw error;
      }
    },

    async listLedgerOfMessage({ accountId, requestId, n }) {
      const rows = await db
        .selectFrom("ledger")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("request_id", "=", requestId)
        .where("n", "in", [0, n])
        .orderBy("at")
        .orderBy("n")
        .execute();
      return rows.map(entryOf);
    },

    async listLedger(accountId, after, limit) {
      let query = db.selectFrom("ledger").selectAll().where("account_id", "=", accountId);
      if (after)
        query = query.where(
          sql<boolean>`(request_id, n, kind) < (${after.requestId}, cast(${after.n} as integer), ${after.kind})`,
        );
      const rows = await query
        .orderBy("request_id", "desc")
        .orderBy("n", "desc")
        .orderBy("kind", "desc")
        .limit(limit)
        .execute();
      const entries = rows.map(entryOf);
      return { rows: entries, next: entries.length === limit ? (entries.at(-1) ?? null) : null };
    },
  };
}

const entryOf = (row: LedgerRow): LedgerEntry => ({
  accountId: row.account_id,
  requestId: row.request_id,
  n: row.n,
  kind: row.kind as LedgerKind,
  amount: row.amount,
  held: row.held,
  note: row.note,
  at: row.at,
});
