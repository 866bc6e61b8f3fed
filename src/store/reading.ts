import { sql } from "kysely";
import { ERASED, WAITING_STATES } from "../model/message.ts";
import type { Engine } from "./engine.ts";
import { contentAtEnd, IS_WAITING, phoneMessageOf, storedMessageOf } from "./rows.ts";
import type { Phone } from "../model/phone.ts";
import type { PhoneStore, PhoneView } from "./phones.ts";
import type { MessageStore, StateCounts } from "./store.ts";
import type { Tables } from "./tables.ts";

type Reading = Pick<
  MessageStore,
  | "findMessage"
  | "countWaiting"
  | "countWaitingMessages"
  | "findAnswer"
  | "refuseKey"
  | "freeKey"
  | "listFailovers"
  | "dropFailover"
  | "replanFailover"
  | "eraseSealed"
  | "eraseText"
  | "listCampaignMessages"
  | "countCampaigns"
  | "listRequest"
  | "testRequestsAmong"
> &
  Pick<PhoneStore, "listUnreported" | "listPhones" | "listTestPhones" | "listPhoneMessages" | "phoneMessagesSince">;

const EVERYTHING: PhoneView = { testOnly: false };

const phoneOf = (row: Tables["phones"]): Phone => ({
  accountId: row.account_id,
  number: row.number,
  name: row.name,
  messageCount: row.message_count,
  lastMessageAt: row.last_message_at,
});

/**
 * Message queries for both engines, scoped to an account. Keys are selected before the rows where an index matters: without
 * statistics, SQLite uses an index only if it covers the query.
 */
export function createReading({ db, isAmong }: Pick<Engine, "db" | "isAmong">): Reading {
  return {
    async findMessage({ accountId, requestId, n }) {
      const row = await db
        .selectFrom("messages")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("request_id", "=", requestId)
        .where("n", "=", n)
        .executeTakeFirst();
      return row ? storedMessageOf(row) : null;
    },

    async countWaiting() {
      const row = await db
        .selectFrom("messages")
        .select(sql<number>`count(*)`.as("waiting"))
        .where(sql<boolean>`${sql.raw(IS_WAITING)}`)
        .executeTakeFirstOrThrow();
      return row.waiting;
    },

    async countWaitingMessages(accountId) {
      const row = await db
        .selectFrom("messages")
        .select(sql<number>`cast(count(*) as bigint)`.as("waiting"))
        .where(sql<boolean>`${sql.raw(IS_WAITING)}`)
        // The sign hides the key from the planner: SQLite would read all messages of the account, and few of them wait.
        .where(sql<boolean>`+account_id = ${accountId}`)
        .executeTakeFirstOrThrow();
      return row.waiting;
    },

    async findAnswer(accountId, path, key) {
      const row = await db
        .selectFrom("idempotency")
        .select(["body_hash", "response"])
        .where("account_id", "=", accountId)
        .where("path", "=", path)
        .where("key", "=", key)
        .executeTakeFirst();
      return row ? { bodyHash: row.body_hash, response: row.response } : null;
    },

    async refuseKey(accountId, { path, key, bodyHash, response, at }) {
      const row = { account_id: accountId, path, key, body_hash: bodyHash, response, created_at: at };
      const { numInsertedOrUpdatedRows } = await db
        .insertInto("idempotency")
        .values(row)
        .onConflict((conflict) => conflict.columns(["account_id", "path", "key"]).doNothing())
        .executeTakeFirst();
      return (numInsertedOrUpdatedRows ?? 0n) > 0n;
    },

    async freeKey(accountId, { path, key, response }) {
      await db
        .deleteFrom("idempotency")
        .where("account_id", "=", accountId)
        .where("path", "=", path)
        .where("key", "=", key)
        .where("response", "=", response)
        .execute();
    },

    async listFailovers(dueBy, limit) {
      const rows = await db
        .selectFrom("failovers")
        .innerJoin("messages", (join) =>
          join
            .onRef("messages.account_id", "=", "failovers.account_id")
            .onRef("messages.request_id", "=", "failovers.request_id")
            .onRef("messages.n", "=", "failovers.n"),
        )
        .selectAll("messages")
        .where("failovers.due_at", "<=", dueBy)
        .where("messages.state", "not in", WAITING_STATES)
        .orderBy("failovers.due_at")
        .limit(limit)
        .execute();
      return rows.map(storedMessageOf);
    },

    async dropFailover({ accountId, requestId, n }) {
      await db
        .deleteFrom("failovers")
        .where("account_id", "=", accountId)
        .where("request_id", "=", requestId)
        .where("n", "=", n)
        .execute();
    },

    async eraseSealed({ accountId, requestId, n }) {
      await db
        .updateTable("messages")
        .set({ content: sql.raw<string>(contentAtEnd("content")) })
        .where("account_id", "=", accountId)
        .where("request_id", "=", requestId)
        .where("n", "=", n)
        .execute();
    },

    async eraseText({ accountId, requestId, n }) {
      const { numUpdatedRows } = await db
        .updateTable("messages")
        .set({ content: JSON.stringify(ERASED) })
        .where("account_id", "=", accountId)
        .where("request_id", "=", requestId)
        .where("n", "=", n)
        .where("state", "not in", WAITING_STATES)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("failovers")
                .select("n")
                .where("account_id", "=", accountId)
                .where("request_id", "=", requestId)
                .where("n", "=", n),
            ),
          ),
        )
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async replanFailover({ accountId, requestId, n }, carrier, at, channel) {
      const { numUpdatedRows } = await db
        .updateTable("failovers")
        .set({ due_at: at })
        .where("account_id", "=", accountId)
        .where("request_id", "=", requestId)
        .where("n", "=", n)
        .where((row) =>
          row.exists(
            db
              .selectFrom("messages")
              .select("n")
              .where("account_id", "=", accountId)
              .where("request_id", "=", requestId)
              .where("n", "=", n)
              .where("carrier", "=", carrier)
              .$if(channel !== undefined, (query) => query.where("channel", "=", channel ?? "")),
          ),
        )
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async listCampaignMessages(accountId, campaignName, { states, dueFrom, dueBefore }, limit) {
      const found = db
        .selectFrom("messages")
        .select(["request_id", "n"])
        .where("account_id", "=", accountId)
        .where("campaign_name", "=", campaignName)
        .where(isAmong("state", states))
        .where("due_at", ">=", dueFrom)
        .where("due_at", "<", dueBefore)
        .limit(limit);
      const rows = await db
        .selectFrom("messages")
        .selectAll()
        .where("account_id", "=", accountId)
        .where(sql<boolean>`(request_id, n) in (${found})`)
        .execute();
      return rows.map(storedMessageOf);
    },

    async countCampaigns(accountId, names) {
      const rows = await db
        .selectFrom("campaign_totals")
        .select(["campaign_name", "state", sql<number>`cast(sum(count) as bigint)`.as("count")])
        .where("account_id", "=", accountId)
        .where(isAmong("campaign_name", names))
        .groupBy(["campaign_name", "state"])
        .execute();
      const counts = new Map<string, StateCounts>(names.map((name) => [name, {}]));
      for (const { campaign_name, state, count } of rows)
        if (count > 0) Object.assign(counts.get(campaign_name) ?? {}, { [state]: count });
      return counts;
    },

    async listRequest(accountId, requestId) {
      const rows = await db
        .selectFrom("messages")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("request_id", "=", requestId)
        .orderBy("n")
        .execute();
      return rows.map(storedMessageOf);
    },

    async testRequestsAmong(accountId, requestIds) {
      if (requestIds.length === 0) return new Set();
      const rows = await db
        .selectFrom("messages")
        .select("request_id")
        .distinct()
        .where("account_id", "=", accountId)
        .where("request_id", "in", [...new Set(requestIds)])
        .where("test", "=", 1)
        .execute();
      return new Set(rows.map((row) => row.request_id));
    },

    async listUnreported(before, limit) {
      const rows = await db
        .selectFrom("phone_messages")
        .selectAll()
        .where("reports_due_at", "<", before)
        .orderBy("reports_due_at")
        .limit(limit)
        .execute();
      return rows.map(phoneMessageOf);
    },

    async listPhones(accountId, after, limit) {
      let query = db.selectFrom("phones").selectAll().where("account_id", "=", accountId);
      if (after) query = query.where("number", ">", after);
      const rows = await query.orderBy("number").limit(limit).execute();
      return { rows: rows.map(phoneOf), next: rows.length === limit ? (rows.at(-1)?.number ?? null) : null };
    },

    async listTestPhones(accountId, after, limit) {
      const named = await db
        .selectFrom("phones")
        .select(["number", "name"])
        .where("account_id", "=", accountId)
        .where("number", ">", after ?? "")
        .where("name", "is not", null)
        .orderBy("number")
        .limit(limit)
        .execute();
      const counted = await db
        .selectFrom("phone_messages")
        .select(["number", sql<number>`count(*)`.as("count"), sql<number>`max(received_at)`.as("last_at")])
        .where("account_id", "=", accountId)
        .where("test", "=", sql.lit(1))
        .where("number", ">", after ?? "")
        .groupBy("number")
        .orderBy("number")
        .limit(limit)
        .execute();
      const phones = new Map<string, Phone>();
      for (const { number, name } of named)
        phones.set(number, { accountId, number, name, messageCount: 0, lastMessageAt: null });
      for (const { number, count, last_at } of counted) {
        const name = phones.get(number)?.name ?? null;
        phones.set(number, { accountId, number, name, messageCount: count, lastMessageAt: last_at });
      }
      const rows = [...phones.values()].toSorted((a, b) => (a.number < b.number ? -1 : 1)).slice(0, limit);
      return { rows, next: rows.length === limit ? (rows.at(-1)?.number ?? null) : null };
    },

    async listPhoneMessages(accountId, number, after, limit, { testOnly } = EVERYTHING) {
      let page = db
        .selectFrom("phone_messages")
        .select("id")
        .where("account_id", "=", accountId)
        .where("number", "=", number)
        .orderBy("id", "desc")
        .limit(limit);
      if (testOnly) page = page.where("test", "=", sql.lit(1));
      if (after) page = page.where("id", "<", after);
      const rows = await db
        .selectFrom("phone_messages")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("id", "in", page)
        .orderBy("id", "desc")
        .execute();
      return { rows: rows.map(phoneMessageOf), next: rows.length === limit ? (rows.at(-1)?.id ?? null) : null };
    },

    async phoneMessagesSince(accountId, fromId, limit, { testOnly } = EVERYTHING) {
      let query = db
        .selectFrom("phone_messages")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("id", ">=", fromId);
      if (testOnly) query = query.where("test", "=", sql.lit(1));
      const rows = await query.orderBy("id").limit(limit).execute();
      return rows.map(phoneMessageOf);
    },
  };
}
