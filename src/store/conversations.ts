import { sql, type CompiledQuery } from "kysely";
import {
  conversationIdOf,
  type StoredConversation,
  type ConversationRef,
  type ConversationState,
} from "../model/conversation.ts";
import type { InboundMessage } from "../model/inbound.ts";
import type { Channel } from "../model/message.ts";
import { listWindows, LOOK_AT_MOST } from "./bounded-window.ts";
import type { ReportingBudget } from "./collect-page.ts";
import type { Engine } from "./engine.ts";
import { nameOrNumber, type NameSearch } from "./name-or-number.ts";
import type { Page } from "./store.ts";
import type { Tables } from "./tables.ts";

interface ConversationFilter {
  test: boolean;
  state?: ConversationState;
  channel?: Channel;
  number?: string;
  /** Part of the number, or of its contact's name. */
  search?: NameSearch;
  /** Id of a user; null for conversations without one. */
  assignedTo?: string | null;
  unread?: true;
}

/** A place in the order of the inbox. */
interface ConversationPosition {
  isUnread: boolean;
  lastAt: number;
  id: string;
}

/** A change by a user. Absent fields stay. */
interface ConversationChange {
  state?: ConversationState | undefined;
  assignedTo?: string | null | undefined;
  /** The number of unread messages that the user has read; later ones stay unread. */
  read?: number | undefined;
}

export interface ConversationStore {
  findConversation(ref: ConversationRef): Promise<StoredConversation | null>;
  /** Unread ones first, then the newest. */
  listConversations(
    accountId: number,
    filter: ConversationFilter,
    after: ConversationPosition | null,
    limit: number,
  ): Promise<Page<StoredConversation, ConversationPosition>>;
  /** Conversations with unread messages, counted up to `atMost`. */
  countUnreadConversations(accountId: number, test: boolean, atMost: number): Promise<number>;
  changeConversation(ref: ConversationRef, change: ConversationChange): Promise<void>;
}

type Row = Tables["conversations"];
type Key = Pick<Row, "account_id" | "id" | "is_unread" | "last_at">;

export function createConversations(engine: Engine, budget: ReportingBudget | null): ConversationStore {
  const { db } = engine;
  const ofAccount = (accountId: number) => db.selectFrom("conversations").where("account_id", "=", accountId);
  const ofOne = ({ accountId, id }: ConversationRef) => ofAccount(accountId).where("id", "=", id);

  return {
    async findConversation(ref) {
      const row = await ofOne(ref).selectAll().executeTakeFirst();
      return row ? conversationOf(row) : null;
    },

    async listConversations(accountId, { test, state, channel, number, search, assignedTo, unread }, after, limit) {
      const { rows, next } = await listWindows(
        {
          windowBelow(position: ConversationPosition | null) {
            let window = ofAccount(accountId)
              .select(["id", "channel", "number", "is_unread", "last_at", "assigned_to"])
              .where("test", "=", test ? 1 : 0);
            if (state !== undefined) window = window.where("state", "=", state);
            if (unread) window = window.where("is_unread", "=", 1);
            if (position)
              window = window.where(
                sql<boolean>`(is_unread, last_at, id) < (cast(${position.isUnread ? 1 : 0} as integer),
                  cast(${position.lastAt} as bigint), ${position.id})`,
              );
            return window
              .orderBy("is_unread", "desc")
              .orderBy("last_at", "desc")
              .orderBy("id", "desc")
              .limit(LOOK_AT_MOST);
          },
          async matchesIn(window, most) {
            let found = db.selectFrom(window.as("seen")).select("id");
            if (search) {
              // A scalar, so that both engines read it by its key and only for the conversations of the window.
              const name = sql`(select name from contacts where contacts.account_id = ${accountId}
                and contacts.test = ${test ? 1 : 0} and contacts.number = seen.number)`;
              found = found.where(nameOrNumber(engine, name, search));
            }
            if (channel) found = found.where("channel", "=", channel);
            if (number !== undefined) found = found.where("number", "=", number);
            if (assignedTo === null) found = found.where("assigned_to", "is", null);
            else if (assignedTo !== undefined) found = found.where("assigned_to", "=", assignedTo);
            const page = found
              .orderBy("is_unread", "desc")
              .orderBy("last_at", "desc")
              .orderBy("id", "desc")
              .limit(most);
            const matches = await ofAccount(accountId).selectAll().where("id", "in", page).execute();
            return matches.toSorted(inOrder);
          },
          key: ["id", "is_unread", "last_at"],
          positionOf: ({
            id,
            is_unread,
            last_at,
          }: Pick<Key, "id" | "is_unread" | "last_at">): ConversationPosition => ({
            id,
            isUnread: is_unread === 1,
            lastAt: last_at,
          }),
        },
        { after, limit, budget },
      );
      return { rows: rows.map(conversationOf), next };
    },

    async countUnreadConversations(accountId, test, atMost) {
      const some = ofAccount(accountId)
        .select(sql<number>`1`.as("one"))
        .where("test", "=", test ? 1 : 0)
        .where("is_unread", "=", 1)
        .limit(atMost)
        .as("some");
      const { count } = await db
        .selectFrom(some)
        .select(sql<number>`count(*)`.as("count"))
        .executeTakeFirstOrThrow();
      return count;
    },

    async changeConversation({ accountId, id }, { state, assignedTo, read }) {
      const rest = sql<number>`case when unread > ${read ?? 0} then unread - ${read ?? 0} else 0 end`;
      const change = {
        ...(state !== undefined && { state }),
        ...(assignedTo !== undefined && { assigned_to: assignedTo }),
        ...(read !== undefined && {
          unread: rest,
          is_unread: sql<number>`case when unread > ${read} then 1 else 0 end`,
        }),
      };
      if (Object.keys(change).length === 0) return;
      await db
        .updateTable("conversations")
        .set(change)
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .execute();
    },
  };
}

const inOrder = (a: Row, b: Row): number =>
  b.is_unread - a.is_unread || b.last_at - a.last_at || (a.id < b.id ? 1 : -1);

const BATCH_TYPES = {
  account_id: "integer",
  id: "uuid",
  test: "integer",
  channel: "text",
  number: "text",
  sender: "text",
  inbound_id: "uuid",
  received_at: "bigint",
} as const;
type BatchRow = Pick<Row, "account_id" | "id" | "test" | "channel" | "number" | "sender"> & {
  inbound_id: string;
  received_at: number;
};

/**
 * Statements that count inbound messages in their conversations, to be run before those that store the messages, in one
 * transaction. A message that is stored already, because its carrier repeats it, counts for nothing. The first statement locks
 * the conversations: of two nodes with the same message, the second one sees the message of the first.
 */
export function countInConversations(
  { db, rowsOf }: Pick<Engine, "db" | "rowsOf">,
  messages: readonly InboundMessage[],
): CompiledQuery[] {
  const rows = messages.map((message): BatchRow => ({
    account_id: message.accountId,
    id: conversationIdOf(message),
    test: message.test ? 1 : 0,
    channel: message.channel,
    number: message.from,
    sender: message.to,
    inbound_id: message.id,
    received_at: message.at,
  }));
  const batch = () => rowsOf<BatchRow>(BATCH_TYPES, rows);
  const isNew = sql<boolean>`not exists (select 1 from inbound
    where inbound.account_id = batch.account_id and inbound.id = batch.inbound_id)`;
  const own = sql`from ${batch()} as batch where batch.account_id = conversations.account_id
    and batch.id = conversations.id and ${isNew}`;
  const columns = ["account_id", "id", "test", "channel", "number", "sender"] as const;
  return [
    db
      .insertInto("conversations")
      .columns([...columns, "state", "unread", "is_unread", "last_at", "assigned_to"])
      .expression(
        db
          .selectFrom(batch().as("batch"))
          .select([
            ...columns,
            sql<string>`'open'`.as("state"),
            sql<number>`0`.as("unread"),
            sql<number>`0`.as("is_unread"),
            sql<number>`min(received_at)`.as("last_at"),
            sql<string | null>`null`.as("assigned_to"),
          ])
          .where(isNew)
          .groupBy(columns)
          // In one order on every node, so that none waits for another that waits for it.
          .orderBy("account_id")
          .orderBy("id"),
      )
      .onConflict((conflict) => conflict.columns(["account_id", "id"]).doUpdateSet({ state: sql`conversations.state` }))
      .compile(),
    sql`update conversations set state = 'open', is_unread = 1,
        unread = unread + (select count(distinct batch.inbound_id) ${own}),
        last_at = (select max(case when batch.received_at > conversations.last_at then batch.received_at
          else conversations.last_at end) ${own})
      where (account_id, id) in (select batch.account_id, batch.id from ${batch()} as batch where ${isNew})`.compile(
      db,
    ),
  ];
}

const conversationOf = (row: Row): StoredConversation => ({
  accountId: row.account_id,
  id: row.id,
  test: row.test === 1,
  channel: row.channel as Channel,
  number: row.number,
  sender: row.sender,
  state: row.state as ConversationState,
  unread: row.unread,
  lastAt: row.last_at,
  assignedTo: row.assigned_to,
});
