import { sql } from "kysely";
import type { Channel } from "../model/message.ts";
import {
  GRAINS,
  type CampaignName,
  type CodeText,
  type Counted,
  type Dimension,
  type Grain,
  type StatsRow,
} from "../model/stats.ts";
import type { Engine } from "./engine.ts";
import type { CampaignFigureRow, FigureGroupRow, FigureRow } from "./tables.ts";

/** A period, read in buckets of one grain; both ends are bucket boundaries. */
export interface StatsSpan {
  grain: Grain;
  /** Epoch ms, inclusive. */
  from: number;
  /** Epoch ms, exclusive. */
  to: number;
}

/** Identifies a batch of one writer, so that a repeated write is recognised. */
export interface StatsBatchId {
  /** One process; it writes its batches one after the other. */
  writer: string;
  /** Starts at 1 and only grows. */
  sequence: number;
  /** Epoch ms. */
  at: number;
}

export interface StatsTotal {
  what: Counted;
  channel: string;
  code: string;
  count: number;
}

export interface StatsPoint {
  /** Start of the bucket. */
  at: number;
  what: Counted;
  channel: string;
  count: number;
}

/** Which groups to read: those of one dimension, and of one channel if it is given. */
interface GroupFilter {
  dimension: Dimension;
  channel?: Channel;
}

export interface GroupTotal {
  name: string;
  what: Counted;
  code: string;
  count: number;
}

export interface GroupPoint {
  /** Start of the bucket. */
  at: number;
  name: string;
  what: Counted;
  count: number;
}

export interface CampaignTotal {
  what: Counted;
  carrier: string;
  code: string;
  count: number;
}

/** Statistics in time buckets. Queries never read messages, so their cost depends on the period alone. */
export interface StatsStore {
  /**
   * Adds to the stored counts, and replaces the texts of codes; any number of nodes may do so at once. Idempotent by batch id.
   */
  addStats(batch: readonly StatsRow[], writing: StatsBatchId, codeTexts?: readonly CodeText[]): Promise<void>;
  sumStats(accountId: number, span: StatsSpan): Promise<readonly StatsTotal[]>;
  /** The same by bucket and without codes, oldest first; empty buckets are omitted. */
  listStats(accountId: number, span: StatsSpan, what: readonly Counted[]): Promise<readonly StatsPoint[]>;
  sumGroups(accountId: number, span: StatsSpan, filter: GroupFilter): Promise<readonly GroupTotal[]>;
  /** The same for some groups by bucket and without codes, oldest first; empty buckets are omitted. */
  listGroups(
    accountId: number,
    span: StatsSpan,
    filter: GroupFilter & { names: readonly string[]; what: readonly Counted[] },
  ): Promise<readonly GroupPoint[]>;
  /** Counts of the messages under a campaign name, from their days on. */
  sumCampaign(accountId: number, campaign: CampaignName, from: number): Promise<readonly CampaignTotal[]>;
  /** The same by bucket and without carriers and codes, oldest first; empty buckets are omitted. */
  listCampaignSteps(
    accountId: number,
    campaign: CampaignName,
    span: StatsSpan,
    what: readonly Counted[],
  ): Promise<readonly { at: number; what: Counted; count: number }[]>;
  /** The latest text of each carrier for each of its codes. */
  listCodeTexts(accountId: number): Promise<readonly Omit<CodeText, "accountId">[]>;
}

const COLUMNS = {
  account_id: "integer",
  grain: "bigint",
  at: "bigint",
  what: "text",
  channel: "text",
  route_class: "text",
  code: "text",
  count: "bigint",
} as const;

const GROUP_COLUMNS = {
  account_id: "integer",
  dimension: "text",
  grain: "bigint",
  at: "bigint",
  name: "text",
  what: "text",
  channel: "text",
  code: "text",
  count: "bigint",
} as const;

const CAMPAIGN_COLUMNS = {
  account_id: "integer",
  name: "text",
  test: "integer",
  grain: "bigint",
  at: "bigint",
  what: "text",
  carrier: "text",
  code: "text",
  count: "bigint",
} as const;

const TEXT_COLUMNS = { account_id: "integer", carrier: "text", code: "text", text: "text", at: "bigint" } as const;

/** A bound for the response: an account has at most 100 codes a day, and few days have others. */
const CODE_TEXTS_MAX = 1000;

/** Retention of batch ids: older batches are never repeated. A starting process deletes the ids of ended ones. */
const WRITER_KEPT_MS = 7 * 86_400_000;

/** Statistics queries for both engines. */
export function createStatsQueries({ db, atomically, rowsOf, isAmong }: Engine): StatsStore {
  const names = sql.join(Object.keys(COLUMNS).map((name) => sql.ref(name)));
  const groupNames = sql.join(Object.keys(GROUP_COLUMNS).map((name) => sql.ref(name)));
  const campaignNames = sql.join(Object.keys(CAMPAIGN_COLUMNS).map((name) => sql.ref(name)));
  const ofCampaign = (accountId: number, { name, test }: CampaignName, grain: Grain) =>
    db
      .selectFrom("campaign_figures")
      .where("account_id", "=", accountId)
      .where("name", "=", name)
      .where("test", "=", test ? 1 : 0)
      .where("grain", "=", GRAINS[grain]);
  const within = (accountId: number, { grain, from, to }: StatsSpan) =>
    db
      .selectFrom("figures")
      .where("account_id", "=", accountId)
      .where("grain", "=", GRAINS[grain])
      .where("at", ">=", from)
      .where("at", "<", to);
  const groupsWithin = (accountId: number, { grain, from, to }: StatsSpan, { dimension, channel }: GroupFilter) =>
    db
      .selectFrom("figure_groups")
      .where("account_id", "=", accountId)
      .where("dimension", "=", dimension)
      .where("grain", "=", GRAINS[grain])
      .where("at", ">=", from)
      .where("at", "<", to)
      .$if(channel !== undefined, (query) => query.where("channel", "=", channel ?? ""));
  const total = sql<number>`cast(sum(count) as bigint)`.as("count");

  return {
    async addStats(batch, { writer, sequence, at }, codeTexts = []) {
      // First, because it waits for an earlier write of the same batch that may still be running after its response was lost.
      const note = sql`insert into figure_writers (writer, sequence, fresh, at) values (${writer}, ${sequence}, 1, ${at})
        on conflict (writer) do update set
          fresh = case when excluded.sequence > figure_writers.sequence then 1 else 0 end,
          sequence = case when excluded.sequence > figure_writers.sequence then excluded.sequence else figure_writers.sequence end,
          at = excluded.at`;
      const rows = rowsOf(COLUMNS, byGrains(batch));
      // Nodes that add to the same rows lock them in the same order, which avoids deadlocks.
      const add = sql`insert into figures (${names}) select ${names} from ${rows} as batch
        where exists (select 1 from figure_writers where writer = ${writer} and fresh = 1)
        order by account_id, grain, at, what, channel, route_class, code
        on conflict (account_id, grain, at, what, channel, route_class, code) do update set count = figures.count + excluded.count`;
      const groupRows = rowsOf(GROUP_COLUMNS, groupsByGrains(batch));
      const addGroups = sql`insert into figure_groups (${groupNames}) select ${groupNames} from ${groupRows} as batch
        where exists (select 1 from figure_writers where writer = ${writer} and fresh = 1)
        order by account_id, dimension, grain, at, name, what, channel, code
        on conflict (account_id, dimension, grain, at, name, what, channel, code)
        do update set count = figure_groups.count + excluded.count`;
      const campaignRows = rowsOf(CAMPAIGN_COLUMNS, campaignsByGrains(batch));
      const addCampaigns = sql`insert into campaign_figures (${campaignNames}) select ${campaignNames} from ${campaignRows} as batch
        where exists (select 1 from figure_writers where writer = ${writer} and fresh = 1)
        order by account_id, name, test, grain, at, what, carrier, code
        on conflict (account_id, name, test, grain, at, what, carrier, code)
        do update set count = campaign_figures.count + excluded.count`;
      // A batch over midnight has the text of a code twice, and PostgreSQL updates no row twice in one statement.
      const latest = new Map(codeTexts.map((each) => [`${each.accountId}\n${each.carrier}\n${each.code}`, each]));
      const textRows = rowsOf(
        TEXT_COLUMNS,
        [...latest.values()].map(({ accountId, ...fields }) => ({ account_id: accountId, ...fields, at })),
      );
      const putTexts = sql`insert into code_texts (account_id, carrier, code, text, at)
        select account_id, carrier, code, text, at from ${textRows} as batch
        where true order by account_id, carrier, code
        on conflict (account_id, carrier, code) do update set text = excluded.text, at = excluded.at`;
      const forget = sql`delete from figure_writers where at < ${at - WRITER_KEPT_MS}`;
      const statements = [
        note,
        add,
        addGroups,
        ...(batch.some(({ campaign }) => campaign) ? [addCampaigns] : []),
        ...(codeTexts.length > 0 ? [putTexts] : []),
        ...(sequence === 1 ? [forget] : []),
      ];
      await atomically(statements.map((query) => query.compile(db)));
    },

    async sumStats(accountId, span) {
      const rows = await within(accountId, span)
        .select(["what", "channel", "code", total])
        .groupBy(["what", "channel", "code"])
        .execute();
      return rows.map((row) => ({ ...row, what: row.what as Counted }));
    },

    async listStats(accountId, span, what) {
      const rows = await within(accountId, span)
        .where(isAmong("what", what))
        .select(["at", "what", "channel", total])
        .groupBy(["at", "what", "channel"])
        .orderBy("at")
        .orderBy("what")
        .orderBy("channel")
        .execute();
      return rows.map((row) => ({ ...row, what: row.what as Counted }));
    },

    async sumGroups(accountId, span, filter) {
      const rows = await groupsWithin(accountId, span, filter)
        .select(["name", "what", "code", total])
        .groupBy(["name", "what", "code"])
        .execute();
      return rows.map((row) => ({ ...row, what: row.what as Counted }));
    },

    async listGroups(accountId, span, { names: chosen, what, ...filter }) {
      const rows = await groupsWithin(accountId, span, filter)
        .where(isAmong("name", chosen))
        .where(isAmong("what", what))
        .select(["at", "name", "what", total])
        .groupBy(["at", "name", "what"])
        .orderBy("at")
        .orderBy("name")
        .orderBy("what")
        .execute();
      return rows.map((row) => ({ ...row, what: row.what as Counted }));
    },

    async sumCampaign(accountId, campaign, from) {
      const rows = await ofCampaign(accountId, campaign, "day")
        .where("at", ">=", from - (from % GRAINS.day))
        .select(["what", "carrier", "code", total])
        .groupBy(["what", "carrier", "code"])
        .execute();
      return rows.map((row) => ({ ...row, what: row.what as Counted }));
    },

    async listCampaignSteps(accountId, campaign, { grain, from, to }, what) {
      const rows = await ofCampaign(accountId, campaign, grain)
        .where("at", ">=", from)
        .where("at", "<", to)
        .where(isAmong("what", what))
        .select(["at", "what", total])
        .groupBy(["at", "what"])
        .orderBy("at")
        .orderBy("what")
        .execute();
      return rows.map((row) => ({ ...row, what: row.what as Counted }));
    },

    async listCodeTexts(accountId) {
      return db
        .selectFrom("code_texts")
        .where("account_id", "=", accountId)
        .select(["carrier", "code", "text"])
        .orderBy("carrier")
        .orderBy("code")
        .limit(CODE_TEXTS_MAX)
        .execute();
    },
  };
}

/** Expands each count of a group to the buckets of every grain and sums those of the same bucket. */
function groupsByGrains(batch: readonly StatsRow[]): FigureGroupRow[] {
  const rows = new Map<string, FigureGroupRow>();
  for (const { accountId, at, what, channel, code, count, group } of batch) {
    if (!group) continue;
    const { dimension, name } = group;
    for (const grain of Object.values(GRAINS)) {
      const begins = at - (at % grain);
      const key = [accountId, dimension, grain, begins, name, what, channel, code].join("\n");
      const row = rows.get(key);
      if (row) row.count += count;
      else rows.set(key, { account_id: accountId, dimension, grain, at: begins, name, what, channel, code, count });
    }
  }
  return [...rows.values()];
}

/** The same for the counts of all messages. */
function byGrains(batch: readonly StatsRow[]): FigureRow[] {
  const rows = new Map<string, FigureRow>();
  for (const { accountId, at, what, channel, routeClass, code, count, group, campaign } of batch) {
    if (group || campaign) continue;
    for (const grain of Object.values(GRAINS)) {
      const begins = at - (at % grain);
      const key = [accountId, grain, begins, what, channel, routeClass, code].join("\n");
      const row = rows.get(key);
      if (row) row.count += count;
      else
        rows.set(key, {
          account_id: accountId,
          grain,
          at: begins,
          what,
          channel,
          route_class: routeClass,
          code,
          count,
        });
    }
  }
  return [...rows.values()];
}

/** The same for campaigns. Only days have carriers and codes, so that the steps of a plot are few rows. */
function campaignsByGrains(batch: readonly StatsRow[]): CampaignFigureRow[] {
  const rows = new Map<string, CampaignFigureRow>();
  for (const { accountId, at, what, code, count, campaign } of batch) {
    if (!campaign) continue;
    const { name, test } = campaign;
    for (const grain of Object.values(GRAINS)) {
      const begins = at - (at % grain);
      const detail = grain === GRAINS.day ? { carrier: campaign.carrier, code } : { carrier: "", code: "" };
      const key = [accountId, name, test, grain, begins, what, detail.carrier, detail.code].join("\n");
      const row = rows.get(key);
      if (row) row.count += count;
      else
        rows.set(key, {
          account_id: accountId,
          name,
          test: test ? 1 : 0,
          grain,
          at: begins,
          what,
          ...detail,
          count,
        });
    }
  }
  return [...rows.values()];
}
