import { sql } from "kysely";
import { idFloor } from "../lib/ids.ts";
import { inboundIdOf, type Callback } from "../model/callback.ts";
import type { StoredConversation } from "../model/conversation.ts";
import type { InboundContent, InboundMessage, InboundPart } from "../model/inbound.ts";
import type { Channel, MessageRef } from "../model/message.ts";
import { listWindows, LOOK_AT_MOST } from "./bounded-window.ts";
import type { ReportingBudget } from "./collect-page.ts";
import { insertCallbacks } from "./callbacks.ts";
import { countInConversations } from "./conversations.ts";
import type { Engine } from "./engine.ts";
import type { createInboundParts } from "./inbound-parts.ts";
import type { MediaRow, Tables } from "./tables.ts";

export interface InboundFilter {
  channel?: Channel;
  from?: string;
  /** A number or sender, or several spellings of one. */
  to?: string | readonly string[];
  /** Epoch ms, inclusive. */
  since?: number;
  /** Epoch ms, exclusive. */
  until?: number;
  /** Only test traffic, or only live traffic. */
  test?: boolean;
}

/** Identifies one long text, until its phone reuses the reference. */
export interface TextKey {
  accountId: number;
  carrier: string;
  from: string;
  to: string;
  reference: string;
  total: number;
}

/** Separates a reference from the suffix that it gets when the phone reuses it. */
export const AGAIN = "~";

/** The reference as the phone sent it. */
export const givenReference = ({ reference }: Pick<TextKey, "reference">): string => reference.split(AGAIN, 1)[0] ?? "";

/** The stored parts of a long text. */
export interface KeptText extends TextKey {
  alphabet: string;
  /** Ordered by index. */
  parts: readonly Pick<InboundPart, "index" | "octets" | "dataCoding">[];
  firstAt: number;
}

/** Inbound messages. */
export interface InboundStore {
  /** Idempotent: a message that was stored before is skipped. */
  storeInbound(batch: readonly InboundMessage[], callbacks?: readonly Callback[], at?: number): Promise<void>;
  /**
   * Time of the last message from a phone to a sender; null when there is none within retention. Test and live traffic have
   * separate conversations.
   */
  lastInboundAt(
    accountId: number,
    channel: Channel,
    from: string,
    to: string,
    mode: { test: boolean },
  ): Promise<number | null>;
  /** The times of the last messages since a time, by phone; a phone without one is absent. */
  lastInboundOfEach(
    accountId: number,
    channel: Channel,
    from: readonly string[],
    to: string,
    since: number,
    mode: { test: boolean },
  ): Promise<ReadonlyMap<string, number>>;
  /** Newest first. A page may be short before the end, if the filter matches few messages. */
  /** The last message of each of some conversations, by the id of the conversation. */
  findLastInbound(conversations: readonly StoredConversation[]): Promise<ReadonlyMap<string, InboundMessage>>;
  listInbound(
    accountId: number,
    filter: InboundFilter,
    after: string | null,
    limit: number,
  ): Promise<{ rows: InboundMessage[]; next: string | null }>;
  /** Stores one part of a long text once. Returns the text when all parts are stored, and again when a part is repeated. */
  keepInboundPart(part: InboundPart): Promise<KeptText | null>;
  /** Marks the text as received. Its parts stay for a while to recognise repeated ones. */
  endInboundParts(key: TextKey, at: number): Promise<void>;
  /** Texts with a part from before a time that are not yet received. */
  listIncompleteTexts(before: number, limit: number): Promise<readonly KeptText[]>;
  findInbound(accountId: number, id: string): Promise<InboundMessage | null>;
  /** Notes when a message was marked as read. The first time stays. */
  markInboundRead(accountId: number, id: string, at: number): Promise<void>;
  /** Answers to one message, oldest first. */
  listAnswers(ref: MessageRef, limit: number): Promise<readonly InboundMessage[]>;
}

type Row = Tables["inbound"];

/**
 * Inbound queries for both engines, scoped to an account. Ids are selected before the rows: without statistics, SQLite uses an
 * index only if it covers the query. Otherwise it would scan all inbound messages of the account.
 */
export function createInbound(
  { db, rowsOf, atomically }: Engine,
  budget: ReportingBudget | null,
): Omit<InboundStore, keyof ReturnType<typeof createInboundParts>> {
  const ofAccount = (accountId: number) => db.selectFrom("inbound").where("account_id", "=", accountId);

  return {
    async storeInbound(batch, callbacks = [], at = 0) {
      const events = eventsByMessage(callbacks);
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
          event_id: "uuid",
          test: "integer",
        },
        batch.map((message) => rowOf(message, events.get(keyOf(message.accountId, message.id)) ?? null)),
      );
      const insert = db
        .insertInto("inbound")
        .columns([
          "account_id",
          "id",
          "channel",
          "number",
          "sender",
          "content",
          "request_id",
          "n",
          "received_at",
          "event_id",
          "test",
        ])
        // SQLite parses "on conflict" after a select as part of a join, unless a where clause stands between them.
        .expression(
          db
            .selectFrom(rows.as("batch"))
            .selectAll()
            .where(sql<boolean>`true`),
        )
        .onConflict((conflict) => conflict.columns(["account_id", "id"]).doNothing())
        .compile();
      const inserts = callbacks.length === 0 ? [] : [insertCallbacks({ db, rowsOf }, callbacks, at, isFirstStored)];
      const media = batch.flatMap((message) => mediaRowOf(message, at) ?? []);
      const files =
        media.length === 0
          ? []
          : [
              db
                .insertInto("media")
                .values(media)
                .onConflict((conflict) => conflict.doNothing())
                .compile(),
            ];
      await atomically([...countInConversations({ db, rowsOf }, batch), insert, ...inserts, ...files]);
    },

    async lastInboundAt(accountId, channel, from, to, { test }) {
      const last = ofAccount(accountId)
        .select("id")
        .where("channel", "=", channel)
        .where("number", "=", from)
        .where("sender", "=", to)
        .where("test", "=", test ? 1 : 0)
        .orderBy("id", "desc")
        .limit(1);
      const row = await ofAccount(accountId).select("received_at").where("id", "=", last).executeTakeFirst();
      return row?.received_at ?? null;
    },

    async lastInboundOfEach(accountId, channel, from, to, since, { test }) {
      if (from.length === 0) return new Map();
      const rows = await ofAccount(accountId)
        .select(["number", ({ fn }) => fn.max<number>("received_at").as("at")])
        .where("channel", "=", channel)
        .where("number", "in", from)
        .where("sender", "=", to)
        .where("id", ">=", idFloor(since))
        .where("test", "=", test ? 1 : 0)
        .groupBy("number")
        .execute();
      return new Map(rows.map(({ number, at }) => [number, at]));
    },

    async findLastInbound(conversations) {
      const [first] = conversations;
      if (!first) return new Map();
      const { accountId } = first;
      const lasts = await db
        .selectFrom(
          rowsOf<{ id: string; channel: string; number: string; sender: string; test: number }>(
            { id: "uuid", channel: "text", number: "text", sender: "text", test: "integer" },
            conversations.map(({ id, channel, number, sender, test }) => ({
              id,
              channel,
              number,
              sender,
              test: test ? 1 : 0,
            })),
          ).as("wanted"),
        )
        .select([
          "wanted.id as conversation",
          sql<string | null>`(select last.id from inbound as last where last.account_id = ${accountId}
            and last.channel = wanted.channel and last.number = wanted.number and last.sender = wanted.sender
            and last.test = wanted.test order by last.id desc limit 1)`.as("last"),
        ])
        .execute();
      // By their keys, one by one: to join a page of them, PostgreSQL may read all messages of the account.
      const found = await Promise.all(
        lasts.map(async ({ conversation, last }) => {
          const row =
            last === null
              ? undefined
              : await ofAccount(accountId).selectAll().where("id", "=", last).executeTakeFirst();
          return row ? ([conversation, inboundOf(row)] as const) : null;
        }),
      );
      return new Map(found.filter((each) => each !== null));
    },

    async listInbound(accountId, { channel, from, to, since, until, test }, after, limit) {
      const { rows, next } = await listWindows(
        {
          windowBelow(position: string | null) {
            let window = ofAccount(accountId).select(["id", "channel", "number", "sender", "test"]);
            if (since !== undefined) window = window.where("id", ">=", idFloor(since));
            if (until !== undefined) window = window.where("id", "<", idFloor(until));
            if (position !== null) window = window.where("id", "<", position);
            // The index groups the messages of one conversation; other filters scan a range of time.
            if (channel && from && typeof to === "string")
              window = window.where("channel", "=", channel).where("number", "=", from).where("sender", "=", to);
            return window.orderBy("id", "desc").limit(LOOK_AT_MOST);
          },
          matchesIn(window, most) {
            let found = db.selectFrom(window.as("seen")).select("id");
            if (channel) found = found.where("channel", "=", channel);
            if (from) found = found.where("number", "=", from);
            if (to) found = found.where("sender", "in", [to].flat());
            if (test !== undefined) found = found.where("test", "=", test ? 1 : 0);
            const page = found.orderBy("id", "desc").limit(most);
            return ofAccount(accountId).selectAll().where("id", "in", page).orderBy("id", "desc").execute();
          },
          key: ["id"],
          positionOf: ({ id }: { id: string }) => id,
        },
        { after, limit, budget },
      );
      return { rows: rows.map(inboundOf), next };
    },

    async findInbound(accountId, id) {
      const row = await ofAccount(accountId).selectAll().where("id", "=", id).executeTakeFirst();
      return row ? inboundOf(row) : null;
    },

    async markInboundRead(accountId, id, at) {
      const row = await ofAccount(accountId).selectAll().where("id", "=", id).executeTakeFirst();
      if (!row) return;
      const message = inboundOf(row);
      if (message.readAt !== undefined) return;
      await db
        .updateTable("inbound")
        .set({ content: storedContent({ ...message, readAt: at }) })
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        // Nothing else changes the content, so a mark at the same moment has the same effect.
        .where("content", "=", row.content)
        .execute();
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
  };
}

/** Carriers repeat inbound messages, each time under a new event. Only the event of the stored row counts. */
const isFirstStored = sql<boolean>`exists (select 1 from inbound where inbound.account_id = batch.account_id
  and inbound.id = batch.inbound_id and inbound.event_id = batch.event_id)`;

/** The event that reports each message; the first one if a message occurs twice in a batch. */
function eventsByMessage(callbacks: readonly Callback[]): Map<string, string> {
  const events = new Map<string, string>();
  for (const { accountId, eventId, happening } of callbacks) {
    const key = keyOf(accountId, inboundIdOf(happening));
    if (!events.has(key)) events.set(key, eventId);
  }
  return events;
}

const keyOf = (accountId: number, inboundId: string | null): string => `${accountId} ${inboundId}`;

const rowOf = (message: InboundMessage, eventId: string | null): Row => ({
  account_id: message.accountId,
  id: message.id,
  channel: message.channel,
  number: message.from,
  sender: message.to,
  content: storedContent(message),
  request_id: message.answers?.requestId ?? null,
  n: message.answers?.n ?? null,
  received_at: message.at,
  event_id: eventId,
  test: message.test ? 1 : 0,
});

/** The copy of a user's file, to be fetched at once; null if the message has none. */
function mediaRowOf({ accountId, id, from, content, origin, at, test }: InboundMessage, now: number): MediaRow | null {
  const file = content.kind === "file" ? content.file : null;
  if (file?.mediaId === undefined || !origin) return null;
  const { mimeType, fileName, fileUri } = file.payload;
  return {
    account_id: accountId,
    id: file.mediaId,
    test: test ? 1 : 0,
    state: "pending",
    type: mimeType,
    size: 0,
    sha256: "",
    name: fileName === "" ? null : fileName,
    number: from,
    inbound_id: id,
    source: JSON.stringify({ carrier: origin.carrier, uri: fileUri }),
    content_key: null,
    failure: null,
    attempts: 0,
    created_at: at,
    expires_at: null,
    due_at: now,
  };
}

/** Rare facts share a column with the content: a column of their own would rewrite a large table. */
type StoredContent = InboundContent & Pick<InboundMessage, "details" | "origin" | "readAt">;

const storedContent = ({ content, details, origin, readAt }: InboundMessage): string =>
  JSON.stringify({
    ...content,
    ...(details && { details }),
    ...(origin && { origin }),
    ...(readAt !== undefined && { readAt }),
  });

function inboundOf(row: Row): InboundMessage {
  const { details, origin, readAt, ...content } = JSON.parse(row.content) as StoredContent;
  return {
    ...identityOf(row),
    content,
    ...(details && { details }),
    ...(origin && { origin }),
    ...(readAt !== undefined && { readAt }),
  };
}

const identityOf = (row: Row): Omit<InboundMessage, "content"> => ({
  accountId: row.account_id,
  id: row.id,
  channel: row.channel as Channel,
  from: row.number,
  to: row.sender,
  answers: row.request_id === null || row.n === null ? null : { requestId: row.request_id, n: row.n },
  at: row.received_at,
  ...(row.test === 1 && { test: true }),
});
