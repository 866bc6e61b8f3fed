import { sql, type CompiledQuery, type RawBuilder } from "kysely";
import { idFloor } from "../lib/ids.ts";
import type { Callback } from "../model/callback.ts";
import { edgeOf, LOOK_AT_MOST } from "./bounded-window.ts";
import { callbackOf, callbackRow, OWN_COLUMNS, storedCallbackOf } from "./callback-rows.ts";
import type { CallbackStore } from "./callback-store.ts";
import type { Engine } from "./engine.ts";
import { NOBODY } from "./store.ts";
import type { CallbackRow } from "./tables.ts";

const NEW_COLUMNS = { account_id: "integer", request_id: "uuid", ...OWN_COLUMNS } as const;

/** Writes down callbacks that no move announces, as nobody's. One that is there already stays as it is. */
export function insertCallbacks(
  { db, rowsOf }: Pick<Engine, "db" | "rowsOf">,
  batch: readonly Callback[],
  dueAt: number,
  condition: RawBuilder<boolean> = sql`true`,
): CompiledQuery {
  const rows = rowsOf(NEW_COLUMNS, batch.map(callbackRow));
  const columns = sql.join(Object.keys(NEW_COLUMNS).map((name) => sql.ref(name)));
  // SQLite would take "on conflict" for a condition of a join, were there no "where" before it.
  return sql`insert into callbacks (${columns}, state, owner, attempts, due_at)
    select ${columns}, 'waiting', ${sql.lit(NOBODY)}, 0, ${sql.lit(dueAt)} from ${rows} as batch where ${condition}
    on conflict (account_id, event_id, endpoint_id) do nothing`.compile(db);
}

/** What customers are told: the same queries on both engines, but for what is hot. Everything is asked for by account. */
export function createCallbacks({
  db,
  atomically,
  rowsOf,
}: Engine): Omit<CallbackStore, "claimCallbacks" | "settleCallbacks"> {
  const ofAccount = (accountId: number) => db.selectFrom("callbacks").where("account_id", "=", accountId);

  return {
    storeCallbacks: (batch, dueAt) => atomically([insertCallbacks({ db, rowsOf }, batch, dueAt)]),

    async findCallback({ accountId, eventId, endpointId }) {
      const row = await ofAccount(accountId)
        .selectAll()
        .where("event_id", "=", eventId)
        .where("endpoint_id", "=", endpointId)
        .executeTakeFirst();
      return row ? storedCallbackOf(row) : null;
    },

    async listCallbacks(accountId, { endpointId, state, from, to }, after, limit) {
      let window = ofAccount(accountId).select(["event_id", "endpoint_id", "state"]);
      if (from !== undefined) window = window.where("event_id", ">=", idFloor(from));
      if (to !== undefined) window = window.where("event_id", "<", idFloor(to));
      if (after) window = window.where(sql<boolean>`(event_id, endpoint_id) < (${after.eventId}, ${after.endpointId})`);
      window = window.orderBy("event_id", "desc").orderBy("endpoint_id", "desc").limit(LOOK_AT_MOST);
      let found = db.selectFrom(window.as("seen")).select(["event_id", "endpoint_id"]);
      if (endpointId) found = found.where("endpoint_id", "=", endpointId);
      if (state) found = found.where("state", "=", state);
      const page = found.orderBy("event_id", "desc").orderBy("endpoint_id", "desc").limit(limit);
      const rows = await ofAccount(accountId)
        .selectAll()
        .where(sql<boolean>`(event_id, endpoint_id) in (${page})`)
        .orderBy("event_id", "desc")
        .orderBy("endpoint_id", "desc")
        .execute();
      const last = rows.at(-1);
      if (last && rows.length === limit) return { rows: rows.map(storedCallbackOf), next: positionOf(last) };
      const edge = await edgeOf<Pick<CallbackRow, "event_id" | "endpoint_id">>(window, ["event_id", "endpoint_id"]);
      return { rows: rows.map(storedCallbackOf), next: edge ? positionOf(edge) : null };
    },

    async listCallbacksOfMessage({ accountId, requestId, n }, limit) {
      const page = ofAccount(accountId)
        .select(["event_id", "endpoint_id"])
        .where("request_id", "=", requestId)
        .where("n", "=", n)
        .orderBy("event_id")
        .limit(limit);
      const rows = await ofAccount(accountId)
        .selectAll()
        .where(sql<boolean>`(event_id, endpoint_id) in (${page})`)
        .orderBy("event_id")
        .execute();
      return rows.map(storedCallbackOf);
    },

    async listEvents(accountId, after, limit) {
      let page = ofAccount(accountId).select([
        "event_id",
        sql<string>`min(cast(endpoint_id as text))`.as("endpoint_id"),
      ]);
      if (after) page = page.where("event_id", ">", after);
      const first = page.groupBy("event_id").orderBy("event_id").limit(limit);
      const rows = await ofAccount(accountId)
        .selectAll()
        // As text, because PostgreSQL knows no least of several UUIDs.
        .where(sql<boolean>`(event_id, cast(endpoint_id as text)) in (${first})`)
        .orderBy("event_id")
        .execute();
      return rows.map(callbackOf);
    },

    async resendCallback({ accountId, eventId, endpointId }, at) {
      const { numUpdatedRows } = await db
        .updateTable("callbacks")
        .set({ state: "waiting", owner: NOBODY, attempts: 0, due_at: at, done_at: null })
        .where("account_id", "=", accountId)
        .where("event_id", "=", eventId)
        .where("endpoint_id", "=", endpointId)
        // What waits for its next try is tried now; what a node has in hand is being tried already.
        .where((row) => row.or([row("state", "!=", "waiting"), row("owner", "=", NOBODY)]))
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async resendFailed(accountId, endpointId, since, at, limit) {
      const failed = ofAccount(accountId)
        .select("event_id")
        .where("event_id", ">=", idFloor(since))
        .where("endpoint_id", "=", endpointId)
        .where(hasFailed)
        .orderBy("event_id")
        .limit(limit);
      const { numUpdatedRows } = await db
        .updateTable("callbacks")
        .set({ state: "waiting", owner: NOBODY, attempts: 0, due_at: at, done_at: null })
        .where("account_id", "=", accountId)
        .where("endpoint_id", "=", endpointId)
        .where("event_id", "in", failed)
        .where(hasFailed)
        .executeTakeFirst();
      return Number(numUpdatedRows);
    },

    async findHealth(accountId, endpointId) {
      const row = await db
        .selectFrom("endpoint_health")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("endpoint_id", "=", endpointId)
        .executeTakeFirst();
      if (!row) return null;
      return {
        failingSince: row.failing_since,
        lastSuccessAt: row.last_success_at,
        lastFailureAt: row.last_failure_at,
        lastFailure: row.last_failure,
      };
    },

    async noteHealth(accountId, endpointId, { failingSince, lastSuccessAt, lastFailureAt, lastFailure }) {
      const health = {
        failing_since: failingSince,
        last_success_at: lastSuccessAt,
        last_failure_at: lastFailureAt,
        last_failure: lastFailure,
      };
      await db
        .insertInto("endpoint_health")
        .values({ account_id: accountId, endpoint_id: endpointId, ...health })
        .onConflict((conflict) => conflict.columns(["account_id", "endpoint_id"]).doUpdateSet(health))
        .execute();
    },

    async countWaitingCallbacks() {
      const row = await db
        .selectFrom("callbacks")
        .select(sql<number>`cast(count(*) as bigint)`.as("waiting"))
        .where("state", "=", sql.lit("waiting"))
        .executeTakeFirst();
      return row?.waiting ?? 0;
    },

    async forgetCallbacks(accountId, before, limit) {
      const old = ofAccount(accountId)
        .select(["event_id", "endpoint_id"])
        .where("event_id", "<", idFloor(before))
        .where("state", "!=", "waiting")
        .orderBy("event_id")
        .limit(limit);
      const { numDeletedRows } = await db
        .deleteFrom("callbacks")
        .where("account_id", "=", accountId)
        .where(sql<boolean>`(event_id, endpoint_id) in (${old})`)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}

/** As it stands in the index of what failed: only then does SQLite see that the index holds them all. */
const hasFailed = sql<boolean>`state in ('exhausted', 'dropped')`;

const positionOf = (row: Pick<CallbackRow, "event_id" | "endpoint_id">) => ({
  eventId: row.event_id,
  endpointId: row.endpoint_id,
});
