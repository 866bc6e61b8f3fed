import { sql, type RawBuilder } from "kysely";
import type { Engine } from "./engine.ts";
import { laneOf, TRAIL_MAX } from "./rows.ts";
import { NOBODY, type MessageStore } from "./store.ts";

/** As it stands in the index of what waits. */
const isWaiting = sql<boolean>`state in ('accepted', 'scheduled', 'submitting')`;

/**
 * What waits for lines that are down, on both engines: rows under owners below nobody's number. `lock` is how an engine with
 * several writers passes over rows that another has its hand on.
 */
export function createSidings(
  { db }: Pick<Engine, "db">,
  lock: RawBuilder<unknown> = sql``,
): Pick<MessageStore, "sideline" | "listSidings" | "clearSiding"> {
  return {
    async sideline({ to, like, at, limit, trail }) {
      const { accountId, channel, sender, routeClass } = like;
      // Of a bounded number of rows that are due, so that one statement is short whatever stands in front.
      const { numAffectedRows } = await sql`
        update messages set state = 'accepted', owner = ${to}, due_at = expires_at, attempts = attempts + 1,
          trail = case when length(coalesce(trail, '')) < ${sql.lit(TRAIL_MAX)} then coalesce(trail, '') || ${trail} else trail end
        where (account_id, request_id, n) in (
          select account_id, request_id, n from (
            select account_id, request_id, n, channel, sender, test, tried, state, expires_at from messages
            where owner = ${sql.lit(NOBODY)} and lane = ${laneOf(routeClass)} and due_at <= ${at} and ${isWaiting}
            order by due_at limit ${limit} ${lock}) as due
          where account_id = ${accountId} and channel = ${channel} and sender = ${sender} and test = 0 and tried is null
            and state <> 'submitting' and expires_at > ${at})`.execute(db);
      return Number(numAffectedRows ?? 0);
    },

    async listSidings() {
      // From one owner to the next: a million rows of one cost as much as one.
      const found = sql<{ owner: number | null }>`(
        with recursive found(owner) as (
          select (select min(owner) from messages where owner < ${sql.lit(NOBODY)} and ${isWaiting})
          union all
          select (select min(owner) from messages where owner > found.owner and owner < ${sql.lit(NOBODY)} and ${isWaiting})
          from found where found.owner is not null)
        select owner from found)`;
      const rows = await db.selectFrom(found.as("found")).select("owner").where("owner", "is not", null).execute();
      return rows.flatMap(({ owner }) => owner ?? []);
    },

    async clearSiding(owner, at, limit) {
      const { numAffectedRows } = await sql`
        update messages set owner = ${sql.lit(NOBODY)}, due_at = case when due_at > ${at} then ${at} else due_at end
        where (account_id, request_id, n) in (
          select account_id, request_id, n from messages where owner = ${owner} and ${isWaiting} limit ${limit} ${lock})`.execute(
        db,
      );
      return Number(numAffectedRows ?? 0);
    },
  };
}
