import { sql } from "kysely";
import {
  batchKeyOf,
  SKIPPED_ROWS_MAX,
  type Campaign,
  type CampaignFailure,
  type CampaignMessage,
  type CampaignState,
  type SendWindow,
  type SkippedRow,
  type Skips,
} from "../model/campaign.ts";
import type { MessageRef } from "../model/message.ts";
import type { Engine } from "./engine.ts";
import { pageOf } from "./page-of.ts";
import type { Page, StateCounts } from "./store.ts";
import type { CampaignRow } from "./tables.ts";

type CampaignRef = Pick<Campaign, "accountId" | "id">;

/** The messages of a campaign: those of test keys, or all, under its name. */
type CampaignName = Pick<Campaign, "accountId" | "name" | "test">;

interface CampaignFilter {
  /** Only those of test keys. */
  test?: true;
  state?: CampaignState;
}

/** The fields that a draft can change. */
type CampaignDraft = Pick<Campaign, "name" | "message" | "audienceId" | "throttle" | "window" | "scheduledAt">;

/** The result of feeding the recipients of one batch. */
export interface FedBatch {
  /** Rows of the audience: exclusive and inclusive. */
  from: number;
  to: number;
  accepted: number;
  skipped: readonly SkippedRow[];
  /** The request of its messages; null if there are none. */
  requestId: string | null;
}

export interface CampaignStore {
  countCampaignsOf(accountId: number): Promise<number>;
  /** False if the name is taken. */
  addCampaign(campaign: Campaign): Promise<boolean>;
  findCampaign(ref: CampaignRef): Promise<Campaign | null>;
  /** Newest first. */
  listCampaigns(
    accountId: number,
    filter: CampaignFilter,
    after: string | null,
    limit: number,
  ): Promise<Page<Campaign, string>>;
  /** Names that begin with a text, among those of test keys or among the others. */
  listCampaignNames(accountId: number, test: boolean, prefix: string): Promise<readonly string[]>;
  /** A campaign that needs this audience: its name, or null. */
  findCampaignOfAudience(accountId: number, audienceId: string): Promise<string | null>;
  /** Changes a draft. `outdated` if it changed since it was read. */
  changeDraft(campaign: Campaign, draft: CampaignDraft, at: number): Promise<"changed" | "outdated" | "name taken">;
  /** Changes the state, if it is still one of `from`; false otherwise. `nextAt` is the time of its next batch, if that changes. */
  moveCampaign(
    ref: CampaignRef,
    from: readonly CampaignState[],
    to: CampaignState,
    change: { at: number; nextAt?: number; scheduledAt?: number },
  ): Promise<boolean>;
  /** Applies the status of a campaign name to its campaign, if there is one. Those of test keys are left alone. */
  followCampaignName(
    accountId: number,
    name: string,
    status: "running" | "paused" | "cancelled",
    at: number,
  ): Promise<void>;

  /** Claims the campaign whose next batch is due for the longest time, or null. A scheduled one starts by it. */
  claimCampaign(claim: string, now: number, until: number): Promise<Campaign | null>;
  /** The campaign, if this process still has it and it still runs. */
  findClaimedCampaign(ref: CampaignRef, claim: string): Promise<Campaign | null>;
  /** Records a batch, in whatever state the campaign is now. Repeating it changes nothing. */
  recordBatch(campaign: Campaign, batch: FedBatch, next: { at: number; claimedUntil: number }): Promise<void>;
  /** Sets the time of the next batch. */
  deferCampaign(campaign: Campaign, nextAt: number): Promise<void>;
  /** Every recipient is fed. */
  markFed(campaign: Campaign): Promise<void>;
  /** Ends a campaign none of whose messages waits to be sent. */
  finishCampaign(campaign: Campaign, at: number): Promise<void>;
  /** Pauses a campaign that cannot go on, unless it has changed since it was read. */
  pauseByItself(campaign: Campaign, failure: CampaignFailure | null, at: number): Promise<void>;
  /** Number of messages that wait to be sent, counted up to `most`. */
  countCampaignMessages(
    name: CampaignName,
    states: readonly ("accepted" | "scheduled")[],
    most: number,
  ): Promise<number>;
  /** Messages that wait to be sent. */
  listWaitingMessages(name: CampaignName, limit: number): Promise<readonly MessageRef[]>;
  /** Messages of test keys by state. */
  countTestMessages(accountId: number, campaignName: string): Promise<StateCounts>;
}

const TEST_KEYS_MAX = 20_000;
const MOVED = { claim: null, claimed_until: 0, failure: null } as const;
const isEnd = (state: CampaignState): boolean => state === "finished" || state === "cancelled";

export function createCampaigns({ db, isAmong }: Engine): CampaignStore {
  const ofRow = ({ accountId, id }: CampaignRef) =>
    db.updateTable("campaigns").where("account_id", "=", accountId).where("id", "=", id);
  const inAccount = (accountId: number) => db.selectFrom("campaigns").selectAll().where("account_id", "=", accountId);
  const findClaimed = async ({ accountId, id }: CampaignRef, claim: string): Promise<Campaign | null> => {
    const row = await inAccount(accountId)
      .where("id", "=", id)
      .where("claim", "=", claim)
      .where("state", "=", "running")
      .executeTakeFirst();
    return row ? campaignOf(row) : null;
  };

  /**
   * Messages under a name by columns of an index, which SQLite without statistics takes only if it covers the query. Those of
   * test keys are found among the first ones, because live messages can have the same name.
   */
  const underName = ({ accountId, name, test }: CampaignName, states?: readonly ("accepted" | "scheduled")[]) => {
    const named = db
      .selectFrom("messages")
      .select(["request_id", "n", "state"])
      .where("account_id", "=", accountId)
      .where("campaign_name", "=", name);
    const keys = states ? named.where("state", "in", states) : named;
    const found = db.selectFrom((test ? keys.limit(TEST_KEYS_MAX) : keys).as("found"));
    if (!test) return found;
    return found.where(
      sql<boolean>`exists (select 1 from messages where messages.account_id = ${accountId}
        and messages.request_id = found.request_id and messages.n = found.n and messages.test = 1)`,
    );
  };

  return {
    async countCampaignsOf(accountId) {
      const { count } = await db
        .selectFrom("campaigns")
        .select(sql<number>`cast(count(*) as bigint)`.as("count"))
        .where("account_id", "=", accountId)
        .executeTakeFirstOrThrow();
      return count;
    },

    async addCampaign(campaign) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto("campaigns")
        .values(rowOf(campaign))
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return numInsertedOrUpdatedRows === 1n;
    },

    async findCampaign({ accountId, id }) {
      const row = await inAccount(accountId).where("id", "=", id).executeTakeFirst();
      return row ? campaignOf(row) : null;
    },

    async listCampaigns(accountId, { test, state }, after, limit) {
      let found = inAccount(accountId);
      if (test) found = found.where("test", "=", 1);
      if (state !== undefined) found = found.where("state", "=", state);
      if (after !== null) found = found.where("id", "<", after);
      const rows = await found
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, campaignOf, ({ id }) => id);
    },

    async listCampaignNames(accountId, test, prefix) {
      const rows = await db
        .selectFrom("campaigns")
        .select("name")
        .where("account_id", "=", accountId)
        .where("test", "=", test ? 1 : 0)
        .where(sql<boolean>`substr(name, 1, ${Array.from(prefix).length}) = ${prefix}`)
        .execute();
      return rows.map(({ name }) => name);
    },

    async findCampaignOfAudience(accountId, audienceId) {
      const row = await db
        .selectFrom("campaigns")
        .select("name")
        .where("account_id", "=", accountId)
        .where("audience_id", "=", audienceId)
        .where(sql<boolean>`state in ('scheduled', 'running', 'paused')`)
        .limit(1)
        .executeTakeFirst();
      return row?.name ?? null;
    },

    async changeDraft(campaign, draft, at) {
      const { accountId, id, test, changedAt } = campaign;
      const { numUpdatedRows } = await ofRow(campaign)
        .set({ ...draftColumns(draft), changed_at: Math.max(at, changedAt + 1) })
        .where("state", "=", "draft")
        .where("changed_at", "=", changedAt)
        .where(
          sql<boolean>`not exists (select 1 from campaigns as other where other.account_id = ${accountId}
            and other.test = ${test ? 1 : 0} and other.name = ${draft.name} and other.id <> ${id})`,
        )
        .executeTakeFirst();
      if (numUpdatedRows === 1n) return "changed";
      const other = await inAccount(accountId)
        .where("test", "=", test ? 1 : 0)
        .where("name", "=", draft.name)
        .where("id", "<>", id)
        .executeTakeFirst();
      return other ? "name taken" : "outdated";
    },

    async moveCampaign(ref, from, to, { at, nextAt, scheduledAt }) {
      const { numUpdatedRows } = await ofRow(ref)
        .set({
          ...MOVED,
          state: to,
          changed_at: laterThan(at),
          ...(nextAt !== undefined && { next_at: nextAt }),
          ...(scheduledAt !== undefined && { scheduled_at: scheduledAt }),
          ...(to === "running" && {
            started_at: sql`coalesce(started_at, ${at})`,
            batch_key: sql`coalesce(batch_key, ${batchKeyOf(ref.id, 0)})`,
          }),
          ...(isEnd(to) && { ended_at: sql`coalesce(ended_at, ${at})`, batch_key: null }),
        })
        .where(isAmong("state", from))
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    async followCampaignName(accountId, name, status, at) {
      const named = db
        .updateTable("campaigns")
        .where("account_id", "=", accountId)
        .where("test", "=", 0)
        .where("name", "=", name);
      const change = { ...MOVED, state: status, changed_at: laterThan(at) };
      if (status === "paused") await named.set(change).where("state", "=", "running").execute();
      else if (status === "running") await named.set(change).where("state", "=", "paused").execute();
      else
        await named
          .set({ ...change, ended_at: at, batch_key: null })
          .where(sql<boolean>`state in ('running', 'paused')`)
          .execute();
    },

    async claimCampaign(claim, now, until) {
      // Literal states, so that the partial index serves both statements.
      const waits = sql<boolean>`state in ('scheduled', 'running') and next_at <= ${now}
        and (claimed_until < ${now} or claim = ${claim})`;
      const next = await db
        .selectFrom("campaigns")
        .select(["account_id", "id"])
        .where(waits)
        .orderBy("next_at")
        .limit(1)
        .executeTakeFirst();
      if (!next) return null;
      const ref = { accountId: next.account_id, id: next.id };
      await ofRow(ref)
        .set({
          claim,
          claimed_until: until,
          state: "running",
          started_at: sql`coalesce(started_at, ${now})`,
          batch_key: sql`coalesce(batch_key, ${batchKeyOf(ref.id, 0)})`,
        })
        .where(waits)
        .execute();
      return findClaimed(ref, claim);
    },

    findClaimedCampaign: findClaimed,

    async recordBatch(campaign, { from, to, accepted, skipped, requestId }, { at, claimedUntil }) {
      // First, because a repetition after a crash finds the batch recorded only after the update.
      if (requestId !== null && campaign.message.targets !== null)
        await db
          .insertInto("campaign_links")
          .values({ account_id: campaign.accountId, campaign_id: campaign.id, request_id: requestId })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      await ofRow(campaign)
        .set({
          position: to,
          batch_key: sql`case when batch_key is null then null else ${batchKeyOf(campaign.id, to)} end`,
          accepted: sql`accepted + ${accepted}`,
          skipped: sql`skipped + ${skipped.length}`,
          ...(skipped.length > 0 && { skips: JSON.stringify(withSkipped(campaign.skips, skipped)) }),
          next_at: at,
          claimed_until: sql`case when claim is null then claimed_until else ${claimedUntil} end`,
        })
        .where("position", "=", from)
        .execute();
    },

    async deferCampaign(campaign, nextAt) {
      await ofRow(campaign)
        .set({ next_at: nextAt })
        .where("state", "=", "running")
        .where("changed_at", "=", campaign.changedAt)
        .execute();
    },

    async markFed(campaign) {
      await ofRow(campaign).set({ is_fed: 1 }).where("position", "=", campaign.position).execute();
    },

    async finishCampaign(campaign, at) {
      await ofRow(campaign)
        .set({ ...MOVED, state: "finished", ended_at: at, changed_at: laterThan(at), batch_key: null })
        .where("state", "=", "running")
        .where("changed_at", "=", campaign.changedAt)
        .execute();
    },

    async pauseByItself(campaign, failure, at) {
      await ofRow(campaign)
        .set({
          ...MOVED,
          state: "paused",
          changed_at: laterThan(at),
          failure: failure && JSON.stringify(failure),
        })
        .where("state", "=", "running")
        .where("changed_at", "=", campaign.changedAt)
        .execute();
    },

    async countCampaignMessages(name, states, most) {
      const some = underName(name, states).select("n").limit(most);
      const { count } = await db
        .selectFrom(some.as("some"))
        .select(sql<number>`cast(count(*) as bigint)`.as("count"))
        .executeTakeFirstOrThrow();
      return count;
    },

    async listWaitingMessages({ accountId, ...name }, limit) {
      const rows = await underName({ accountId, ...name }, ["accepted", "scheduled"])
        .select(["request_id", "n"])
        .limit(limit)
        .execute();
      return rows.map(({ request_id: requestId, n }) => ({ accountId, requestId, n }));
    },

    async countTestMessages(accountId, campaignName) {
      const rows = await underName({ accountId, name: campaignName, test: true })
        .select(["state", sql<number>`cast(count(*) as bigint)`.as("count")])
        .groupBy("state")
        .execute();
      return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
    },
  };
}

/** Every change has its own time, also two within a millisecond. */
const laterThan = (at: number) => sql<number>`case when changed_at >= ${at} then changed_at + 1 else ${at} end`;

function withSkipped({ counts, rows }: Skips, skipped: readonly SkippedRow[]): Skips {
  const sums = { ...counts };
  for (const { code } of skipped) sums[code] = (sums[code] ?? 0) + 1;
  return { counts: sums, rows: [...rows, ...skipped].slice(0, SKIPPED_ROWS_MAX) };
}

const draftColumns = ({ name, message, audienceId, throttle, window, scheduledAt }: CampaignDraft) => ({
  name,
  message: JSON.stringify(message),
  audience_id: audienceId,
  throttle,
  send_window: window && JSON.stringify(window),
  scheduled_at: scheduledAt,
});

const rowOf = (campaign: Campaign): CampaignRow => ({
  ...draftColumns(campaign),
  account_id: campaign.accountId,
  id: campaign.id,
  test: campaign.test ? 1 : 0,
  state: campaign.state,
  position: campaign.position,
  accepted: campaign.accepted,
  skipped: campaign.skipped,
  skips: JSON.stringify(campaign.skips),
  is_fed: campaign.isFed ? 1 : 0,
  failure: campaign.failure && JSON.stringify(campaign.failure),
  batch_key: null,
  next_at: campaign.nextAt,
  created_at: campaign.createdAt,
  changed_at: campaign.changedAt,
  started_at: campaign.startedAt,
  ended_at: campaign.endedAt,
  opted_out: campaign.optedOut,
  claim: null,
  claimed_until: 0,
});

/** Messages that were stored before campaigns had these fields. */
const ADDED_LATER = { targets: null, ways: null, moveOnAfterSeconds: null } as const;

const campaignOf = (row: CampaignRow): Campaign => ({
  accountId: row.account_id,
  id: row.id,
  test: row.test === 1,
  name: row.name,
  state: row.state as CampaignState,
  message: { ...ADDED_LATER, ...(JSON.parse(row.message) as CampaignMessage) },
  audienceId: row.audience_id,
  throttle: row.throttle,
  window: row.send_window === null ? null : (JSON.parse(row.send_window) as SendWindow),
  scheduledAt: row.scheduled_at,
  position: row.position,
  accepted: row.accepted,
  skipped: row.skipped,
  skips: JSON.parse(row.skips) as Skips,
  isFed: row.is_fed === 1,
  nextAt: row.next_at,
  failure: row.failure === null ? null : (JSON.parse(row.failure) as CampaignFailure),
  createdAt: row.created_at,
  changedAt: row.changed_at,
  startedAt: row.started_at,
  endedAt: row.ended_at,
  optedOut: row.opted_out,
});
