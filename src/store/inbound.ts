import { sql } from "kysely";
import { idFloor } from "../lib/ids.ts";
import type { InboundContent, InboundMessage } from "../model/inbound.ts";
import type { Channel } from "../model/message.ts";
import { insertCallbacks } from "./callbacks.ts";
import { edgeOf, LOOK_AT_MOST } from "./bounded-window.ts";
import type { createInboundParts } from "./inbound-parts.ts";
import type { Engine } from "./engine.ts";
import type { InboundStore } from "./inbound-store.ts";
import type { Tables } from "./tables.ts";

type Row = Tables["inbound"];

/**
 * What users send back: the same queries on both engines. Everything is asked for by account, and ids are found before the
 * rows are fetched: SQLite, having no statistics, takes an index only where it holds all that is asked for, and would walk
 * all that the account ever got instead.
 */
export function createInbound({
  db,
  rowsOf,
  atomically,
}: Engine): Omit<InboundStore, keyof ReturnType<typeof createInboundParts>> {
  const ofAccount = (accountId: number) => db.selectFrom("inbound").where("account_id", "=", accountId);

  return {
    async storeInbound(batch, callbacks = [], at = 0) {
      const rows = rowsOf<Row>(
        {
          account_id: "integer",
          id: "uuid",
          channel: "text",
          number: "text",
          sender: "text",
          content: "text",
          request_id: "uuid",
          n: "integer",
          received_at: "bigint",
        },
        batch.map(rowOf),
      );
      const insert = db
        .insertInto("inbound")
        .columns(["account_id", "id", "channel", "number", "sender", "content", "request_id", "n", "received_at"])
        // SQLite would take "on conflict" for a condition of a join, were there no "where" before it.
        .expression(
          db
            .selectFrom(rows.as("batch"))
            .selectAll()
            .where(sql<boolean>`true`),
        )
        .onConflict((conflict) => conflict.columns(["account_id", "id"]).doNothing())
        .compile();
      await atomically([insert, ...(callbacks.length === 0 ? [] : [insertCallbacks({ db, rowsOf }, callbacks, at)])]);
    },

    async lastInboundAt(accountId, channel, from, to) {
      const last = ofAccount(accountId)
        .select("id")
        .where("channel", "=", channel)
        .where("number", "=", from)
        .where("sender", "=", to)
        .orderBy("id", "desc")
        .limit(1);
      const row = await ofAccount(accountId).select("received_at").where("id", "=", last).executeTakeFirst();
      return row?.received_at ?? null;
    },

    async listInbound(accountId, { channel, from, to, since, until }, after, limit) {
      let window = ofAccount(accountId).select(["id", "channel", "number", "sender"]);
      if (since !== undefined) window = window.where("id", ">=", idFloor(since));
      if (until !== undefined) window = window.where("id", "<", idFloor(until));
      if (after) window = window.where("id", "<", after);
      // One conversation lies together in its index; for anything else a stretch of time is looked through.
      if (channel && from && to)
        window = window.where("channel", "=", channel).where("number", "=", from).where("sender", "=", to);
      window = window.orderBy("id", "desc").limit(LOOK_AT_MOST);

      let found = db.selectFrom(window.as("seen")).select("id");
      if (channel) found = found.where("channel", "=", channel);
      if (from) found = found.where("number", "=", from);
      if (to) found = found.where("sender", "=", to);
      const page = found.orderBy("id", "desc").limit(limit);
      const rows = await ofAccount(accountId).selectAll().where("id", "in", page).orderBy("id", "desc").execute();

      const last = rows.at(-1);
      if (last && rows.length === limit) return { rows: rows.map(inboundOf), next: last.id };
      const edge = await edgeOf<{ id: string }>(window, ["id"]);
      return { rows: rows.map(inboundOf), next: edge?.id ?? null };
    },

    async findInbound(accountId, id) {
      const row = await ofAccount(accountId).selectAll().where("id", "=", id).executeTakeFirst();
      return row ? inboundOf(row) : null;
    },

    async listAnswers({ accountId, requestId, n }, limit) {
      const page = ofAccount(accountId)
        .select("id")
        .where("request_id", "=", requestId)
        .where("n", "=", n)
        .orderBy("id")
        .limit(limit);
      const rows = await ofAccount(accountId).selectAll().where("id", "in", page).orderBy("id").execute();
      return rows.map(inboundOf);
    },

    async forgetInbound(accountId, before, limit) {
      const { numDeletedRows } = await db
        .deleteFrom("inbound")
        .where("account_id", "=", accountId)
        .where(
          "id",
          "in",
          ofAccount(accountId).select("id").where("id", "<", idFloor(before)).orderBy("id").limit(limit),
        )
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}

const rowOf = (message: InboundMessage): Row => ({
  account_id: message.accountId,
  id: message.id,
  channel: message.channel,
  number: message.from,
  sender: message.to,
  content: JSON.stringify(message.content),
  request_id: message.answers?.requestId ?? null,
  n: message.answers?.n ?? null,
  received_at: message.at,
});

const inboundOf = (row: Row): InboundMessage => ({
  accountId: row.account_id,
  id: row.id,
  channel: row.channel as Channel,
  from: row.number,
  to: row.sender,
  content: JSON.parse(row.content) as InboundContent,
  answers: row.request_id === null || row.n === null ? null : { requestId: row.request_id, n: row.n },
  at: row.received_at,
});
