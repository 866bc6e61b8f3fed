import { sql } from "kysely";
import { GRAINS, type Counted, type StatsRow, type Grain } from "../model/stats.ts";
import type { Engine } from "./engine.ts";
import type { FigureRow } from "./tables.ts";

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

/** Statistics in time buckets. Queries never read messages, so their cost depends on the period alone. */
export interface StatsStore {
  /** Adds to the stored counts; any number of nodes may do so at once. Idempotent by batch id. */
  addStats(batch: readonly StatsRow[], writing: StatsBatchId): Promise<void>;
  sumStats(accountId: number, span: StatsSpan): Promise<readonly StatsTotal[]>;
  /** The same by bucket and without codes, oldest first; empty buckets are omitted. */
  listStats(accountId: number, span: StatsSpan, what: readonly Counted[]): Promise<readonly StatsPoint[]>;
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

/** Retention of batch ids: older batches are never repeated. A starting process deletes the ids of ended ones. */
const WRITER_KEPT_MS = 7 * 86_400_000;

/** Statistics queries for both engines. */
export function createStatsQueries({ db, atomically, rowsOf, isAmong }: Engine): StatsStore {
  const names = sql.join(Object.keys(COLUMNS).map((name) => sql.ref(name)));
  const within = (accountId: number, { grain, from, to }: StatsSpan) =>
    db
      .selectFrom("figures")
      .where("account_id", "=", accountId)
      .where("grain", "=", GRAINS[grain])
      .where("at", ">=", from)
      .where("at", "<", to);
  const total = sql<number>`cast(sum(count) as bigint)`.as("count");

  return {
    async addStats(batch, { writer, sequence, at }) {
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
      const forget = sql`delete from figure_writers where at < ${at - WRITER_KEPT_MS}`;
      await atomically([note, add, ...(sequence === 1 ? [forget] : [])].map((query) => query.compile(db)));
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
  };
}

/** Expands each count to the buckets of every grain and sums those of the same bucket. */
function byGrains(batch: readonly StatsRow[]): FigureRow[] {
  const rows = new Map<string, FigureRow>();
  for (const { accountId, at, what, channel, routeClass, code, count } of batch) {
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
