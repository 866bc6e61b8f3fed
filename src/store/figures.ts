import { sql } from "kysely";
import { GRAINS, type Counted, type Figure } from "../model/figure.ts";
import type { Engine } from "./engine.ts";
import type { FigureSpan, FigureStore } from "./figure-store.ts";
import type { FigureRow } from "./tables.ts";

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

/** Nobody writes again what is older; a process that begins removes what others left behind. */
const WRITER_KEPT_MS = 7 * 86_400_000;

/** What happened, counted: the same queries on both engines. */
export function createFigures({ db, atomically, rowsOf, isAmong }: Engine): FigureStore {
  const names = sql.join(Object.keys(COLUMNS).map((name) => sql.ref(name)));
  const within = (accountId: number, { grain, from, to }: FigureSpan) =>
    db
      .selectFrom("figures")
      .where("account_id", "=", accountId)
      .where("grain", "=", GRAINS[grain])
      .where("at", ">=", from)
      .where("at", "<", to);
  const total = sql<number>`cast(sum(count) as bigint)`.as("count");

  return {
    async addFigures(batch, { writer, sequence, at }) {
      // First, because it waits for a write of the same batch whose answer was lost, and which may still be under way.
      const note = sql`insert into figure_writers (writer, sequence, fresh, at) values (${writer}, ${sequence}, 1, ${at})
        on conflict (writer) do update set
          fresh = case when excluded.sequence > figure_writers.sequence then 1 else 0 end,
          sequence = case when excluded.sequence > figure_writers.sequence then excluded.sequence else figure_writers.sequence end,
          at = excluded.at`;
      const rows = rowsOf(COLUMNS, byGrains(batch));
      // Nodes that add to the same rows take them in the same order, and so wait for each other instead of deadlocking.
      const add = sql`insert into figures (${names}) select ${names} from ${rows} as batch
        where exists (select 1 from figure_writers where writer = ${writer} and fresh = 1)
        order by account_id, grain, at, what, channel, route_class, code
        on conflict (account_id, grain, at, what, channel, route_class, code) do update set count = figures.count + excluded.count`;
      const forget = sql`delete from figure_writers where at < ${at - WRITER_KEPT_MS}`;
      await atomically([note, add, ...(sequence === 1 ? [forget] : [])].map((query) => query.compile(db)));
    },

    async sumFigures(accountId, span) {
      const rows = await within(accountId, span)
        .select(["what", "channel", "code", total])
        .groupBy(["what", "channel", "code"])
        .execute();
      return rows.map((row) => ({ ...row, what: row.what as Counted }));
    },

    async listFigures(accountId, span, what) {
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

    async forgetFigures(accountId, before, limit) {
      let gone = 0;
      for (const grain of Object.values(GRAINS)) {
        const old = db
          .selectFrom("figures")
          .select(["at", "what", "channel", "route_class", "code"])
          .where("account_id", "=", accountId)
          .where("grain", "=", grain)
          .where("at", "<", before)
          .orderBy("at")
          .limit(limit - gone);
        const { numDeletedRows } = await db
          .deleteFrom("figures")
          .where("account_id", "=", accountId)
          .where("grain", "=", grain)
          .where(sql<boolean>`(at, what, channel, route_class, code) in (${old})`)
          .executeTakeFirst();
        gone += Number(numDeletedRows);
        if (gone >= limit) break;
      }
      return gone;
    },
  };
}

/** Each figure in the stretches of every grain that it lies in, those of one stretch together. */
function byGrains(batch: readonly Figure[]): FigureRow[] {
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
