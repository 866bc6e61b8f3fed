import { sql, type CompiledQuery, type RawBuilder } from "kysely";
import { idFloor } from "../lib/ids.ts";
import { BATCH_PATH } from "../model/campaign.ts";
import { ERASED, WAITING_STATES } from "../model/message.ts";
import { bucketOf, dayOf } from "../model/pumping.ts";
import { DIMENSIONS, GRAINS, type Grain } from "../model/stats.ts";
import { HELD } from "./callbacks.ts";
import type { Engine } from "./engine.ts";
import { isWithin, nextRange, START, type Cursor, type KeyRange } from "./key-range.ts";
import type { Tables } from "./tables.ts";

/** Erases and deletes data past its retention. Each call is one short transaction that waits for sends. */
export interface RetentionStore {
  /**
   * Erases the texts of messages that ended before a time, continuing where the last call of any node stopped. Messages that
   * have not ended are recorded for `eraseKeptTexts`.
   */
  eraseTexts(accountId: number, before: number, limit: number): Promise<Sweep>;
  /** Rechecks the recorded texts. */
  eraseKeptTexts(accountId: number, before: number, after: Cursor, limit: number): Promise<Sweep>;
  /** Deletes rows of one kind that are past their retention. Scans at most `limit` rows after a position. */
  deleteExpired(kind: Expiring, cutoff: Cutoff, after: Cursor, limit: number): Promise<Sweep>;
  /**
   * Deletes simulated phones without messages and without a name, and counts the messages of the others anew, `limit` of each.
   * Returns the larger number of changed rows.
   */
  removeEmptyPhones(accountId: number, limit: number): Promise<number>;
}

export interface Sweep {
  /** Position of the next batch; null at the end. */
  next: Cursor | null;
  /** Rows that it changed. */
  rows: number;
  /** Time that the transaction held its rows, and on SQLite the writer. */
  ms: number;
}

/** The rows to delete: of one account (null: of none; absent: of any), from before a time. */
export interface Cutoff {
  accountId?: number | null;
  before: number;
  /** A second time, for kinds with two. */
  alsoBefore?: number;
}

export type Expiring = keyof typeof RANGES | keyof typeof PICKS;

const ERASED_CONTENT = JSON.stringify(ERASED);

const MESSAGE_KEY = ["request_id", "n"];

/**
 * True if a message ended before a time. Without a final report it ends with its validity: until then another route may need
 * its text.
 */
const hasEnded = (before: number): RawBuilder<boolean> =>
  sql`state not in (${sql.join(WAITING_STATES.map((state) => sql.lit(state)))}) and coalesce(done_at, expires_at) < ${before}`;

/** Keeps PostgreSQL from joining a few rows with all rows of an account: the subquery is evaluated for each of them. */
const EACH = sql`limit 1 offset 0`;

const isWithoutMessage = (table: string): RawBuilder<boolean> =>
  sql`not exists (select 1 from messages where messages.account_id = ${sql.ref(`${table}.account_id`)}
    and messages.request_id = ${sql.ref(`${table}.request_id`)} and messages.n = ${sql.ref(`${table}.n`)} ${EACH})`;

/** Tables with a row per message, which goes with it. */
export const OF_MESSAGE = ["submissions", "failovers", "kept_texts", "awaited_receipts"] as const;

const deleteFrom = (table: string, where: RawBuilder<boolean>): RawBuilder<unknown> =>
  sql`delete from ${sql.table(table)} where ${where}`;

/** Links of a range that have clicks left lose `limit` of them at a time: one link may have any number. */
const deleteClicks = (range: KeyRange, limit: number): RawBuilder<unknown> =>
  sql`delete from clicks where (account_id, code, id) in (
    select clicks.account_id, clicks.code, clicks.id
    from (select account_id, code from links where ${isWithin(range)}) as old
    join clicks on clicks.account_id = old.account_id and clicks.code = old.code limit ${limit})`;

interface Ranged {
  table: keyof Tables;
  /** After the account; the first column is a time-ordered id. */
  key: readonly string[];
  /** Rows of the range that stay, if not all go. */
  isOver?: (before: number) => RawBuilder<boolean>;
  /** Deletes rows that depend on those of the range, `limit` at a time, before the range itself. */
  first?: (range: KeyRange, limit: number) => RawBuilder<unknown>;
  /** Tables whose rows of the range go when their message is gone. */
  dependents?: readonly string[];
}

/** Tables in the order of their age: deleted range by range, so that no row is visited twice. */
const RANGES = {
  messages: { table: "messages", key: MESSAGE_KEY, isOver: hasEnded, dependents: OF_MESSAGE },
  callbacks: {
    table: "callbacks",
    key: ["event_id", "endpoint_id"],
    isOver: () => sql`(state <> 'waiting' or due_at = ${HELD})`,
  },
  // A message with pending reports is still needed.
  phoneMessages: { table: "phone_messages", key: ["id"], isOver: () => sql`reports_due_at is null` },
  inbound: { table: "inbound", key: ["id"] },
  audit: { table: "audit", key: ["id"] },
  verifications: { table: "verifications", key: ["id"] },
  verifyRequests: { table: "verify_requests", key: ["request_id"] },
  verifySources: { table: "verify_sources", key: ["verify_id"] },
  links: {
    table: "links",
    key: ["request_id", "n", "k"],
    isOver: () =>
      sql`not exists (select 1 from clicks where clicks.account_id = links.account_id and clicks.code = links.code ${EACH})`,
    first: deleteClicks,
  },
  linkTargets: {
    table: "link_targets",
    key: ["request_id", "k"],
    isOver: () => sql`not exists (select 1 from links
      where links.account_id = link_targets.account_id and links.request_id = link_targets.request_id ${EACH})`,
  },
  audienceRecipients: { table: "audience_recipients", key: ["audience_id", "line"] },
  audienceFaults: { table: "audience_faults", key: ["audience_id", "line"] },
  audienceParts: { table: "audience_parts", key: ["audience_id", "at"] },
  audiences: { table: "audiences", key: ["id"] },
  alerts: { table: "alerts", key: ["id"], isOver: () => sql`state = 'resolved'` },
  campaignLinks: { table: "campaign_links", key: ["campaign_id", "request_id"] },
  campaigns: {
    table: "campaigns",
    key: ["id"],
    isOver: () => sql`state not in ('scheduled', 'running', 'paused')`,
  },
} as const satisfies Record<string, Ranged>;

interface Picked {
  table: keyof Tables;
  key: readonly string[];
  isOver: (cutoff: Cutoff) => RawBuilder<boolean>;
}

const isOfAccount = ({ accountId }: Cutoff): RawBuilder<boolean> =>
  accountId === null ? sql`account_id is null` : sql`account_id = ${accountId}`;

const GRAIN_NAMES = Object.keys(GRAINS) as readonly Grain[];

/** Statistics of some grains from before a time: one range of the key for each grain, and dimension if there are any. */
const figuresOf =
  (grains: readonly Grain[], dimensions?: readonly string[]) =>
  (cutoff: Cutoff): RawBuilder<boolean> =>
    sql`${isOfAccount(cutoff)} ${dimensions ? sql`and dimension in (${literals(dimensions)})` : sql``}
      and grain in (${literals(grains.map((grain) => GRAINS[grain]))}) and at < ${cutoff.before}`;

const literals = (values: readonly (string | number)[]): RawBuilder<unknown> =>
  sql.join(values.map((each) => sql.lit(each)));

const FIGURE_KEY = ["account_id", "grain", "at", "what", "channel", "route_class", "code"];
const GROUP_KEY = ["account_id", "dimension", "grain", "at", "name", "what", "channel", "code"];

const CAMPAIGN_KEY = ["account_id", "name", "test", "grain", "at", "what", "carrier", "code"];

/** Tables in another order: deleted by key, in the order of an index of their age, or in any where they are small. */
const PICKS = {
  idempotencyKeys: {
    table: "idempotency",
    key: ["account_id", "path", "key"],
    // The key of the batch at which a campaign stands has to outlast every interruption of the campaign.
    isOver: ({ before }) => sql`created_at < ${before} and (path <> ${BATCH_PATH} or not exists (
      select 1 from campaigns where campaigns.account_id = idempotency.account_id and batch_key = idempotency.key))`,
  },
  unmatchedReceipts: {
    table: "parked_receipts",
    key: ["id"],
    isOver: (cutoff) =>
      cutoff.accountId === undefined
        ? sql`parked_at < ${cutoff.before}`
        : sql`${isOfAccount(cutoff)} and parked_at < ${cutoff.before}`,
  },
  inboundParts: {
    table: "inbound_parts",
    key: ["account_id", "carrier", "number", "sender", "reference", "total", "part"],
    isOver: ({ before }) => sql`done_at < ${before}`,
  },
  submittedParts: {
    table: "submitted_parts",
    key: ["account_id", "credential_id", "source", "destination", "reference", "total", "part"],
    isOver: ({ before }) => sql`done_at < ${before}`,
  },
  keywordUsers: {
    table: "keyword_users",
    key: ["account_id", "number", "test"],
    isOver: (cutoff) =>
      sql`${isOfAccount(cutoff)} and window_at < ${cutoff.before} and coalesce(asked_at, 0) < ${cutoff.before}`,
  },
  loginFailures: { table: "login_failures", key: ["digest"], isOver: ({ before }) => sql`last_at < ${before}` },
  // `before` is of the last use, `alsoBefore` of the login.
  sessions: {
    table: "sessions",
    key: ["digest"],
    isOver: (cutoff) =>
      sql`${isOfAccount(cutoff)} and (seen_at < ${cutoff.before} or created_at < ${cutoff.alsoBefore ?? 0})`,
  },
  stats: { table: "figures", key: FIGURE_KEY, isOver: figuresOf(GRAIN_NAMES) },
  statsMinutes: { table: "figures", key: FIGURE_KEY, isOver: figuresOf(["minute"]) },
  groupStats: { table: "figure_groups", key: GROUP_KEY, isOver: figuresOf(GRAIN_NAMES, DIMENSIONS) },
  groupStatsMinutes: { table: "figure_groups", key: GROUP_KEY, isOver: figuresOf(["minute"], DIMENSIONS) },
  // Once nothing is left of what the phone wrote.
  conversations: {
    table: "conversations",
    key: ["account_id", "id"],
    isOver: (cutoff) => sql`${isOfAccount(cutoff)} and last_at < ${cutoff.before}`,
  },
  contacts: {
    table: "contacts",
    key: ["account_id", "test", "number"],
    isOver: (cutoff) => sql`${isOfAccount(cutoff)} and updated_at < ${cutoff.before}`,
  },
  campaignStats: { table: "campaign_figures", key: CAMPAIGN_KEY, isOver: figuresOf(GRAIN_NAMES) },
  campaignStatsMinutes: { table: "campaign_figures", key: CAMPAIGN_KEY, isOver: figuresOf(["minute"]) },
  codeTexts: {
    table: "code_texts",
    key: ["account_id", "carrier", "code"],
    isOver: (cutoff) => sql`${isOfAccount(cutoff)} and at < ${cutoff.before}`,
  },
  // `before` is of the last send, `alsoBefore` of the last code that was used.
  verifyNumbers: {
    table: "verify_numbers",
    key: ["account_id", "mode", "number"],
    isOver: (cutoff) =>
      sql`${isOfAccount(cutoff)} and touched_at < ${cutoff.before} and verified_at < ${cutoff.alsoBefore ?? 0}`,
  },
  verifyTallies: {
    table: "verify_tallies",
    key: ["account_id", "kind", "name", "bucket"],
    isOver: (cutoff) =>
      sql`${isOfAccount(cutoff)} and bucket < case when kind like 'account%'
        then cast(${dayOf(cutoff.before)} as integer) else cast(${bucketOf(cutoff.before)} as integer) end`,
  },
  verifyPrefixes: {
    table: "verify_prefixes",
    key: ["account_id", "prefix"],
    isOver: (cutoff) => sql`${isOfAccount(cutoff)} and sent_at < ${cutoff.before} and blocked_until < ${cutoff.before}`,
  },
  // Names that only test messages used have no campaign, so nothing else removes their counts.
  campaignCounts: {
    table: "campaign_counts",
    key: ["account_id", "campaign_name", "state"],
    isOver: (cutoff) => sql`${isOfAccount(cutoff)} and count = 0`,
  },
} as const satisfies Record<string, Picked>;

const NOTHING: Sweep = { next: null, rows: 0, ms: 0 };

const sumOf = (changes: readonly number[]): number => changes.reduce((sum, rows) => sum + rows, 0);

/**
 * Retention queries. Several nodes may work on the same rows: each statement carries its own condition, and repeating it
 * changes nothing.
 */
export function createRetention({ db, inBackground, deletingMessages }: Engine): RetentionStore {
  const hasText = sql<boolean>`messages.content <> ${ERASED_CONTENT}`;
  const compile = (query: RawBuilder<unknown>): CompiledQuery => query.compile(db);

  async function deleteRange(ranged: Ranged, cutoff: Cutoff, after: Cursor, limit: number): Promise<Sweep> {
    const { table, key, isOver, first, dependents = [] } = ranged;
    const { accountId, before } = cutoff;
    const range = await nextRange(db, table, { accountId: accountId ?? 0, key, after }, idFloor(before), limit);
    if (!range) return NOTHING;
    const expired = isOver ? sql<boolean>`${isWithin(range)} and ${isOver(before)}` : isWithin(range);
    const ofDependents = dependents.map((name) =>
      deleteFrom(name, sql`${isWithin(range)} and ${isWithoutMessage(name)}`),
    );
    const { changes, ms } = await inBackground([
      ...(first ? [compile(first(range, limit))] : []),
      ...(table === "messages" ? deletingMessages(expired) : [compile(deleteFrom(table, expired))]),
      ...ofDependents.map(compile),
    ]);
    const rows = sumOf(changes);
    if (first && (changes[0] ?? 0) >= limit) return { next: after, rows, ms };
    return { next: range.isLast ? null : range.to, rows, ms };
  }

  async function deletePicked({ table, key, isOver }: Picked, cutoff: Cutoff, limit: number): Promise<Sweep> {
    const columns = sql.join(key.map((column) => sql.ref(column)));
    const old = sql`select ${columns} from ${sql.table(table)} where ${isOver(cutoff)} limit ${limit}`;
    // The condition stands twice, for rows that another transaction changes meanwhile.
    const statement = deleteFrom(table, sql`(${columns}) in (${old}) and ${isOver(cutoff)}`);
    const { changes, ms } = await inBackground([compile(statement)]);
    const rows = sumOf(changes);
    return { next: rows < limit ? null : START, rows, ms };
  }

  return {
    async eraseTexts(accountId, before, limit) {
      const mark = await db.selectFrom("retention").selectAll().where("account_id", "=", accountId).executeTakeFirst();
      const after = mark ? [mark.erased_to, mark.erased_to_n] : START;
      const range = await nextRange(db, "messages", { accountId, key: MESSAGE_KEY, after }, idFloor(before), limit);
      if (!range) return NOTHING;
      const [requestId, n] = range.to as [string, number];
      const { changes, ms } = await inBackground([
        db
          .updateTable("messages")
          .set({ content: ERASED_CONTENT })
          .where(isWithin(range))
          .where(hasEnded(before))
          .where(hasText)
          .compile(),
        // Messages that still have their text are recorded, so that the scan can continue past them.
        db
          .insertInto("kept_texts")
          .columns(["account_id", "request_id", "n"])
          .expression(
            db.selectFrom("messages").select(["account_id", "request_id", "n"]).where(isWithin(range)).where(hasText),
          )
          .onConflict((conflict) => conflict.doNothing())
          .compile(),
        db
          .insertInto("retention")
          .values({ account_id: accountId, erased_to: requestId, erased_to_n: n })
          .onConflict((conflict) =>
            conflict
              .column("account_id")
              .doUpdateSet({ erased_to: requestId, erased_to_n: n })
              .where(
                sql<boolean>`(retention.erased_to, retention.erased_to_n) < (excluded.erased_to, excluded.erased_to_n)`,
              ),
          )
          .compile(),
      ]);
      return { next: range.isLast ? null : START, rows: changes[0] ?? 0, ms };
    },

    async eraseKeptTexts(accountId, before, after, limit) {
      const range = await nextRange(db, "kept_texts", { accountId, key: MESSAGE_KEY, after }, idFloor(before), limit);
      if (!range) return NOTHING;
      const kept = db.selectFrom("kept_texts").select(["request_id", "n"]).where(isWithin(range));
      const { changes, ms } = await inBackground([
        db
          .updateTable("messages")
          .set({ content: ERASED_CONTENT })
          .where("account_id", "=", accountId)
          .where(sql<boolean>`(request_id, n) in (${kept})`)
          .where(hasEnded(before))
          .where(hasText)
          .compile(),
        db
          .deleteFrom("kept_texts")
          .where(isWithin(range))
          .where(
            sql<boolean>`not exists (select 1 from messages where messages.account_id = kept_texts.account_id
              and messages.request_id = kept_texts.request_id and messages.n = kept_texts.n and ${hasText})`,
          )
          .compile(),
      ]);
      return { next: range.isLast ? null : range.to, rows: changes[0] ?? 0, ms };
    },

    deleteExpired: (kind, cutoff, after, limit) =>
      kind in RANGES
        ? deleteRange(RANGES[kind as keyof typeof RANGES], cutoff, after, limit)
        : deletePicked(PICKS[kind as keyof typeof PICKS], cutoff, limit),

    async removeEmptyPhones(accountId, limit) {
      const ofPhone = sql`from phone_messages where phone_messages.account_id = phones.account_id
        and phone_messages.number = phones.number`;
      // The count stands in both conditions: a phone that gets a message meanwhile has another one, and is left alone.
      const among = (condition: RawBuilder<unknown>): RawBuilder<boolean> =>
        sql`account_id = ${accountId} and (number, message_count) in (select number, message_count from phones
          where account_id = ${accountId} and ${condition} limit ${limit})`;
      const isEmpty = among(sql`name is null and not exists (select 1 ${ofPhone} ${EACH})`);
      const isMiscounted = among(sql`(name is not null or exists (select 1 ${ofPhone} ${EACH}))
        and message_count <> (select count(*) ${ofPhone})`);
      const { changes } = await inBackground([
        compile(deleteFrom("phones", isEmpty)),
        compile(sql`update phones set message_count = (select count(*) ${ofPhone}),
          last_message_at = (select max(received_at) ${ofPhone}) where ${isMiscounted}`),
      ]);
      return Math.max(...changes);
    },
  };
}
