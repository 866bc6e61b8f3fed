import { sql } from "kysely";
import { idFloor } from "../lib/ids.ts";
import { statesShownAs, WAITING_STATES } from "../model/message.ts";
import { edgeOf, LOOK_AT_MOST } from "./bounded-window.ts";
import type { Engine } from "./engine.ts";
import { contentAtEnd, IS_WAITING, laneOf, phoneMessageOf, storedMessageOf } from "./rows.ts";
import type { PhoneStore } from "./phone-store.ts";
import type { MessageStore } from "./store.ts";
import type { MessageRow } from "./tables.ts";

type Reading = Pick<
  MessageStore,
  | "findMessage"
  | "listMessages"
  | "countWaiting"
  | "findAnswer"
  | "listFailovers"
  | "dropFailover"
  | "replanFailover"
  | "eraseSealed"
  | "listCampaignMessages"
  | "countCampaign"
  | "listRequest"
> &
  Pick<PhoneStore, "listUnreported" | "listPhones" | "listPhoneMessages" | "phoneMessagesSince">;

/** The name of a template in content as it lies there; a quote within a value is escaped, so no value reads like it. */
const templateAsStored = (name: string): string => `"templateName":${JSON.stringify(name)}`;

/**
 * What is read back, on both engines. Everything is asked for by account. Where an index is to be used, the keys are found
 * before the rows: SQLite, having no statistics, takes an index only where it holds all that is asked for.
 */
export function createReading({ db, isAmong, holds }: Pick<Engine, "db" | "isAmong" | "holds">): Reading {
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

    async listMessages(accountId, filter, after, limit) {
      let window = db.selectFrom("messages").selectAll().where("account_id", "=", accountId);
      if (filter.from !== undefined) window = window.where("request_id", ">=", idFloor(filter.from));
      if (filter.to !== undefined) window = window.where("request_id", "<", idFloor(filter.to));
      if (after) window = window.where(sql<boolean>`(request_id, n) < (${after.requestId}, ${after.n})`);
      window = window.orderBy("request_id", "desc").orderBy("n", "desc").limit(LOOK_AT_MOST);

      let query = db.selectFrom(window.as("seen")).selectAll();
      if (filter.status) query = query.where("state", "in", statesShownAs(filter.status));
      if (filter.channel) query = query.where("channel", "=", filter.channel);
      if (filter.recipient) query = query.where("recipient", "=", filter.recipient);
      if (filter.campaignName) query = query.where("campaign_name", "=", filter.campaignName);
      if (filter.routeClass) query = query.where("lane", "=", laneOf(filter.routeClass));
      if (filter.templateName) query = query.where(holds("content", templateAsStored(filter.templateName)));
      const rows = await query.orderBy("request_id", "desc").orderBy("n", "desc").limit(limit).execute();

      const last = rows.at(-1);
      if (last && rows.length === limit)
        return { rows: rows.map(storedMessageOf), next: { requestId: last.request_id, n: last.n } };
      const edge = await edgeOf<Pick<MessageRow, "request_id" | "n">>(window, ["request_id", "n"]);
      return { rows: rows.map(storedMessageOf), next: edge ? { requestId: edge.request_id, n: edge.n } : null };
    },

    async countWaiting() {
      const row = await db
        .selectFrom("messages")
        .select(sql<number>`count(*)`.as("waiting"))
        .where(sql<boolean>`${sql.raw(IS_WAITING)}`)
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

    async countCampaign(accountId, campaignName) {
      const rows = await db
        .selectFrom("messages")
        .select(["state", sql<number>`count(*)`.as("count")])
        .where("account_id", "=", accountId)
        .where("campaign_name", "=", campaignName)
        .groupBy("state")
        .execute();
      return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
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
      const phones = rows.map((row) => ({
        accountId: row.account_id,
        number: row.number,
        name: row.name,
        messageCount: row.message_count,
        lastMessageAt: row.last_message_at,
      }));
      return { rows: phones, next: rows.length === limit ? (rows.at(-1)?.number ?? null) : null };
    },

    async listPhoneMessages(accountId, number, after, limit) {
      let page = db
        .selectFrom("phone_messages")
        .select("id")
        .where("account_id", "=", accountId)
        .where("number", "=", number)
        .orderBy("id", "desc")
        .limit(limit);
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

    async phoneMessagesSince(accountId, fromId, limit) {
      const rows = await db
        .selectFrom("phone_messages")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("id", ">=", fromId)
        .orderBy("id")
        .limit(limit)
        .execute();
      return rows.map(phoneMessageOf);
    },
  };
}
