import { sql, type CompiledQuery, type RawBuilder } from "kysely";
import { idFloor } from "../lib/ids.ts";
import { inboundIdOf, type Callback, type CallbackState, type EndpointHealth } from "../model/callback.ts";
import type { MessageRef } from "../model/message.ts";
import { listWindows, LOOK_AT_MOST } from "./bounded-window.ts";
import { callbackOf, callbackRow, OWN_COLUMNS, refRow, storedCallbackOf } from "./callback-rows.ts";
import type { ReportingBudget } from "./collect-page.ts";
import type { Engine } from "./engine.ts";
import { UNOWNED } from "./store.ts";
import type { CallbackRow } from "./tables.ts";

/** Failed callbacks that a list reads by their index. */
const FAILED_FEW = 1000;
/** Due time of callbacks whose endpoint is disabled: they wait until it is enabled again. */
export const HELD = Number.MAX_SAFE_INTEGER;

export type CallbackRef = Pick<Callback, "accountId" | "eventId" | "endpointId">;

/** The outcome of an attempt, or of a callback that gets no further attempt. */
export interface Settlement extends CallbackRef {
  /** Only if this node still owns the row. */
  ownedBy: number;
  /**
   * Only if the row counts this many attempts: a repeated write of an earlier attempt does not settle a later one that the
   * same node has begun.
   */
  attempts: number;
  state: CallbackState;
  at: number;
  /**
   * Time of the next attempt. Later callbacks of the same message wait until then too. Without an attempt the callback is only
   * deferred, and never becomes due earlier than before.
   */
  dueAt: number;
  /** The message of a waiting callback; null when the callback does not wait or reports no message. */
  message: Pick<MessageRef, "requestId" | "n"> | null;
  /** Counts one more attempt. */
  attempted: boolean;
  /** A line for the attempt log; empty adds none. */
  log: string;
}

/** A callback that a node owns, with its due time. */
export interface OwnedCallback extends CallbackRef {
  dueAt: number;
}

export interface CallbackFilter {
  endpointId?: string;
  state?: CallbackState;
  /** Epoch ms, inclusive. */
  from?: number;
  /** Epoch ms, exclusive. */
  to?: number;
}

/** A callback with its delivery state. */
export interface StoredCallback extends Callback {
  state: CallbackState;
  dueAt: number;
  doneAt: number | null;
  log: string | null;
}

/** One callback of an event, with its sequence number within its message. */
export interface StoredEvent extends Callback {
  seq: number;
}

export type CallbackPosition = Pick<Callback, "eventId" | "endpointId">;

/** Webhook deliveries. `MessageStore.transition` also stores callbacks, in the transaction of the state change. */
export interface CallbackStore {
  /** Stores callbacks that belong to no transition, unowned. A callback that exists already stays unchanged. */
  storeCallbacks(batch: readonly Callback[], dueAt: number): Promise<void>;
  /** Claims due callbacks of `from` (`UNOWNED` or a dead node) for `node`, except behind a waiting one of the same message. */
  claimCallbacks(claim: { node: number; from: number; dueBy: number; limit: number }): Promise<Callback[]>;
  /** Waiting callbacks of a node that were due by a time, ordered by due time. */
  listOwnedCallbacks(wanted: {
    node: number;
    dueBy: number;
    after: OwnedCallback | null;
    limit: number;
  }): Promise<readonly OwnedCallback[]>;
  /** Releases those that this node still owns and that wait; returns how many. */
  releaseOwnedCallbacks(node: number, refs: readonly CallbackRef[]): Promise<number>;
  settleCallbacks(batch: readonly Settlement[]): Promise<void>;
  findCallback(ref: CallbackRef): Promise<StoredCallback | null>;
  /** Newest event first. A page may be short before the end, if the filter matches few callbacks. */
  listCallbacks(
    accountId: number,
    filter: CallbackFilter,
    after: CallbackPosition | null,
    limit: number,
  ): Promise<{ rows: StoredCallback[]; next: CallbackPosition | null }>;
  /** Callbacks to every endpoint, in the order in which their transitions were committed. */
  listCallbacksOfMessage(ref: MessageRef, limit: number): Promise<readonly StoredCallback[]>;
  /** Newest event first: callbacks about any of some messages and inbound messages. */
  listCallbacksAbout(
    accountId: number,
    messages: readonly Pick<MessageRef, "requestId" | "n">[],
    inboundIds: readonly string[],
    limit: number,
  ): Promise<readonly StoredCallback[]>;
  /** Oldest event first, with one callback per event, regardless of the endpoint. */
  listEvents(accountId: number, after: string | null, limit: number): Promise<readonly StoredEvent[]>;
  /** Makes a callback due now if it has ended or waits for its next attempt; false when there is none. */
  resendCallback(ref: CallbackRef, at: number): Promise<boolean>;
  /**
   * Makes at most `limit` callbacks of events since a time due now: those that failed for good and those that wait for their
   * next attempt. Returns how many.
   */
  resendUndelivered(accountId: number, endpointId: string, since: number, at: number, limit: number): Promise<number>;
  findHealth(accountId: number, endpointId: string): Promise<EndpointHealth | null>;
  noteHealth(accountId: number, endpointId: string, health: EndpointHealth): Promise<void>;
  /** Makes the callbacks due that were held while the endpoint was disabled. */
  releaseHeld(accountId: number, endpointId: string, at: number): Promise<void>;
  /**
   * Claims held callbacks of an endpoint for a node that can deliver them, oldest first, except behind a waiting one of the same
   * message.
   */
  claimHeld(claim: {
    node: number;
    accountId: number;
    endpointId: string;
    at: number;
    limit: number;
  }): Promise<Callback[]>;
  /** Those of the given endpoints that have callbacks to claim by `claimHeld`. */
  listHeld(endpoints: readonly Endpoint[]): Promise<readonly Endpoint[]>;
  /** Includes held callbacks. */
  countWaitingOf(accountId: number, endpointId: string): Promise<number>;
  /** Counts waiting callbacks of all accounts. */
  countWaitingCallbacks(): Promise<number>;
}

/** Identifies an endpoint. */
export interface Endpoint {
  accountId: number;
  endpointId: string;
}

const NEW_COLUMNS = { account_id: "integer", request_id: "uuid", ...OWN_COLUMNS } as const;
/** Adds the place in the batch, which orders callbacks of one message, and the inbound id that conditions use. */
const BATCH_COLUMNS = { ...NEW_COLUMNS, place: "integer", inbound_id: "uuid" } as const;

/** Stores callbacks that belong to no transition, unowned. A callback that exists already stays unchanged. */
export function insertCallbacks(
  { db, rowsOf }: Pick<Engine, "db" | "rowsOf">,
  batch: readonly Callback[],
  dueAt: number,
  condition: RawBuilder<boolean> = sql`true`,
): CompiledQuery {
  const rows = rowsOf(
    BATCH_COLUMNS,
    batch.map((callback, index) => ({
      ...callbackRow(callback),
      place: index + 1,
      inbound_id: inboundIdOf(callback.happening),
    })),
  );
  const columns = sql.join(Object.keys(NEW_COLUMNS).map((name) => sql.ref(name)));
  // Selects the ids first: the index by message lacks `seq`, so SQLite would read all callbacks of the account.
  const lastSeq = sql`select max(earlier.seq) from callbacks as earlier where earlier.account_id = batch.account_id
    and earlier.event_id in (select event_id from callbacks as same where same.account_id = batch.account_id
      and same.request_id = batch.request_id and same.n = batch.n)`;
  // SQLite parses "on conflict" after a select as part of a join, unless a where clause stands between them.
  return sql`insert into callbacks (${columns}, state, owner, attempts, due_at, seq)
    select ${columns}, 'waiting', ${sql.lit(UNOWNED)}, 0, ${sql.lit(dueAt)}, coalesce((${lastSeq}), 0) + batch.place
    from ${rows} as batch where ${condition}
    on conflict (account_id, event_id, endpoint_id) do nothing`.compile(db);
}

/** Makes held callbacks of an account due, for one endpoint or all. The next attempt holds them again if it is disabled. */
export function releaseHeld(
  { db }: Pick<Engine, "db">,
  accountId: number,
  endpointId: string | null,
  at: number,
): CompiledQuery {
  const held = db
    .updateTable("callbacks")
    .set({ due_at: at })
    // These conditions match the partial index of waiting callbacks, which groups held ones. A callback behind a held one is
    // held with its owner, which may have ended since.
    .where("owner", "in", sql<number>`(select ${sql.lit(UNOWNED)} union all select id from nodes)`)
    .where("due_at", "=", HELD)
    .where("state", "=", sql.lit("waiting"))
    .where("account_id", "=", accountId);
  return (endpointId === null ? held : held.where("endpoint_id", "=", endpointId)).compile();
}

/** Callback queries for both engines, except the hot ones. Every query is scoped to an account. */
export function createCallbacks(
  { db, atomically, rowsOf }: Engine,
  budget: ReportingBudget | null,
): Omit<CallbackStore, "claimCallbacks" | "settleCallbacks"> {
  const ofAccount = (accountId: number) => db.selectFrom("callbacks").where("account_id", "=", accountId);

  const within = (accountId: number, { from, to }: CallbackFilter) => {
    let rows = ofAccount(accountId).select(["event_id", "endpoint_id", "state"]);
    if (from !== undefined) rows = rows.where("event_id", ">=", idFloor(from));
    if (to !== undefined) rows = rows.where("event_id", "<", idFloor(to));
    return rows;
  };

  /**
   * Failed callbacks, in the order of their partial index. Without statistics, SQLite uses it only for a range of endpoints: for
   * one endpoint it would read all callbacks of the account, 1.5 s for a million of them.
   */
  const failedOf = (accountId: number, endpointId?: string) => {
    let failed = ofAccount(accountId).where(hasFailed).orderBy("endpoint_id").orderBy("event_id");
    if (endpointId) failed = failed.where("endpoint_id", ">=", endpointId).where("endpoint_id", "<=", endpointId);
    return failed;
  };

  /** The keys of all failed callbacks; null if they are many. */
  const fewFailed = async (accountId: number, endpointId: string | undefined) => {
    const failed = failedOf(accountId, endpointId).select(["event_id", "endpoint_id"]);
    const keys = await failed.limit(FAILED_FEW + 1).execute();
    return keys.length > FAILED_FEW ? null : rowsOf({ event_id: "uuid", endpoint_id: "uuid" }, keys);
  };

  return {
    storeCallbacks: (batch, dueAt) => atomically([insertCallbacks({ db, rowsOf }, batch, dueAt)]),

    async listOwnedCallbacks({ node, dueBy, after, limit }) {
      let owned = db
        .selectFrom("callbacks")
        .select(["account_id", "event_id", "endpoint_id", "due_at"])
        .where("owner", "=", node)
        .where("due_at", "<=", dueBy)
        .where("state", "=", sql.lit("waiting"));
      if (after) {
        const { dueAt, accountId, eventId, endpointId } = after;
        owned = owned
          .where("due_at", ">=", dueAt)
          .where(
            sql<boolean>`(due_at, account_id, event_id, endpoint_id) > (${dueAt}, ${accountId}, ${eventId}, ${endpointId})`,
          );
      }
      const rows = await owned
        .orderBy("due_at")
        .orderBy("account_id")
        .orderBy("event_id")
        .orderBy("endpoint_id")
        .limit(limit)
        .execute();
      return rows.map((row) => ({ accountId: row.account_id, ...positionOf(row), dueAt: row.due_at }));
    },

    async releaseOwnedCallbacks(node, refs) {
      const types = { account_id: "integer", event_id: "uuid", endpoint_id: "uuid" } as const;
      const keys = rowsOf(types, refs.map(refRow));
      const { numUpdatedRows } = await db
        .updateTable("callbacks")
        .set({ owner: UNOWNED })
        .where(sql<boolean>`(account_id, event_id, endpoint_id) in ${keys}`)
        .where("owner", "=", node)
        .where("state", "=", sql.lit("waiting"))
        .executeTakeFirst();
      return Number(numUpdatedRows);
    },

    async findCallback({ accountId, eventId, endpointId }) {
      const row = await ofAccount(accountId)
        .selectAll()
        .where("event_id", "=", eventId)
        .where("endpoint_id", "=", endpointId)
        .executeTakeFirst();
      return row ? storedCallbackOf(row) : null;
    },

    async listCallbacks(accountId, filter, after, limit) {
      const { endpointId, state } = filter;
      const failed = state === "exhausted" || state === "dropped" ? await fewFailed(accountId, endpointId) : null;
      const { rows, next } = await listWindows(
        {
          windowBelow(position: CallbackPosition | null) {
            let window = within(accountId, filter);
            if (failed) window = window.where(sql<boolean>`(event_id, endpoint_id) in ${failed}`);
            if (position)
              window = window.where(
                sql<boolean>`(event_id, endpoint_id) < (${position.eventId}, ${position.endpointId})`,
              );
            return window.orderBy("event_id", "desc").orderBy("endpoint_id", "desc").limit(LOOK_AT_MOST);
          },
          matchesIn(window, most) {
            let found = db.selectFrom(window.as("seen")).select(["event_id", "endpoint_id"]);
            if (endpointId) found = found.where("endpoint_id", "=", endpointId);
            if (state) found = found.where("state", "=", state);
            const page = found.orderBy("event_id", "desc").orderBy("endpoint_id", "desc").limit(most);
            return ofAccount(accountId)
              .selectAll()
              .where(sql<boolean>`(event_id, endpoint_id) in (${page})`)
              .orderBy("event_id", "desc")
              .orderBy("endpoint_id", "desc")
              .execute();
          },
          key: ["event_id", "endpoint_id"],
          positionOf,
        },
        { after, limit, budget },
      );
      return { rows: rows.map(storedCallbackOf), next };
    },

    async listCallbacksOfMessage({ accountId, requestId, n }, limit) {
      // Sorted by the outer query: the index by message lacks `seq`, so SQLite would read all callbacks of the account.
      const ofMessage = ofAccount(accountId)
        .select(["event_id", "endpoint_id"])
        .where("request_id", "=", requestId)
        .where("n", "=", n);
      const rows = await ofAccount(accountId)
        .selectAll()
        .where(sql<boolean>`(event_id, endpoint_id) in (${ofMessage})`)
        .orderBy("seq")
        .orderBy("event_id")
        .limit(limit)
        .execute();
      return rows.map(storedCallbackOf);
    },

    async listCallbacksAbout(accountId, messages, inboundIds, limit) {
      const wanted = rowsOf(
        { request_id: "uuid", n: "integer" },
        messages.map(({ requestId, n }) => ({ request_id: requestId, n })),
      );
      const received = rowsOf(
        { id: "uuid" },
        inboundIds.map((id) => ({ id })),
      );
      // Sorted here: to sort by event, the planner would read the callbacks of the account in the order of their key.
      const found = await Promise.all([
        sql<CallbackRow>`select callbacks.* from ${wanted} as wanted
          join callbacks on callbacks.account_id = ${accountId} and callbacks.request_id = wanted.request_id
            and callbacks.n = wanted.n where callbacks.request_id is not null limit ${limit}`.execute(db),
        sql<CallbackRow>`select callbacks.* from ${received} as received
          join inbound on inbound.account_id = ${accountId} and inbound.id = received.id
          join callbacks on callbacks.account_id = ${accountId} and callbacks.event_id = inbound.event_id
          limit ${limit}`.execute(db),
      ]);
      // An answer to a message is found by both.
      const rows = new Map(
        found.flatMap((each) => each.rows).map((row) => [`${row.event_id} ${row.endpoint_id}`, row]),
      );
      const newestFirst = [...rows].toSorted(([one], [other]) => (one < other ? 1 : -1));
      return newestFirst.slice(0, limit).map(([, row]) => storedCallbackOf(row));
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
        // As text, because PostgreSQL has no min() for UUIDs.
        .where(sql<boolean>`(event_id, cast(endpoint_id as text)) in (${first})`)
        .orderBy("event_id")
        .execute();
      return rows.map((row) => ({ ...callbackOf(row), seq: row.seq }));
    },

    async resendCallback({ accountId, eventId, endpointId }, at) {
      const { numUpdatedRows } = await db
        .updateTable("callbacks")
        .set({ state: "waiting", owner: UNOWNED, attempts: 0, due_at: at, done_at: null })
        .where("account_id", "=", accountId)
        .where("event_id", "=", eventId)
        .where("endpoint_id", "=", endpointId)
        // A callback that waits for its next attempt is retried now; an owned one is being attempted already.
        .where((row) => row.or([row("state", "!=", "waiting"), row("owner", "=", UNOWNED)]))
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async resendUndelivered(accountId, endpointId, since, at, limit) {
      const resend = async (found: ReturnType<typeof failedOf>, condition: RawBuilder<boolean>): Promise<number> => {
        const ids = found.select("event_id").where("event_id", ">=", idFloor(since));
        const { numUpdatedRows } = await db
          .updateTable("callbacks")
          .set({ state: "waiting", owner: UNOWNED, attempts: 0, due_at: at, done_at: null })
          .where("account_id", "=", accountId)
          .where("endpoint_id", "=", endpointId)
          .where("event_id", "in", ids)
          .where(condition)
          .executeTakeFirst();
        return Number(numUpdatedRows);
      };
      const failed = await resend(failedOf(accountId, endpointId).limit(limit), hasFailed);
      if (failed === limit) return failed;
      // An owned callback is being attempted already, and a held one waits for its endpoint.
      const waits = sql<boolean>`state = 'waiting' and owner = ${sql.lit(UNOWNED)} and due_at > ${at} and due_at < ${HELD}`;
      const waiting = db
        .selectFrom("callbacks")
        .where("endpoint_id", "=", endpointId)
        // The sign hides the key from the planner: SQLite would read all callbacks of the account, and few of them wait.
        .where(sql<boolean>`+account_id = ${accountId}`)
        .where(waits);
      return failed + (await resend(waiting.limit(limit - failed), waits));
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

    releaseHeld: (accountId, endpointId, at) => atomically([releaseHeld({ db }, accountId, endpointId, at)]),

    async claimHeld({ node, accountId, endpointId, at, limit }) {
      const isFirst = sql<boolean>`not exists (select 1 from callbacks as earlier
        where earlier.account_id = callbacks.account_id and earlier.request_id = callbacks.request_id
          and earlier.n = callbacks.n and earlier.endpoint_id = callbacks.endpoint_id and earlier.state = 'waiting'
          and (earlier.seq, earlier.event_id) < (callbacks.seq, callbacks.event_id))`;
      const held = ofAccount(accountId)
        .select("event_id")
        .where("endpoint_id", "=", endpointId)
        .where(isHeld)
        .where(isFirst)
        .orderBy("event_id")
        .limit(limit);
      const claimed = await db
        .updateTable("callbacks")
        .set({ owner: node, due_at: at })
        .where("account_id", "=", accountId)
        .where("endpoint_id", "=", endpointId)
        .where("event_id", "in", held)
        .where(isHeld)
        .returningAll()
        .execute();
      return claimed.toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1)).map(callbackOf);
    },

    async listHeld(endpoints) {
      const given = endpoints.map(({ accountId, endpointId }) => ({ account_id: accountId, endpoint_id: endpointId }));
      const asked = rowsOf({ account_id: "integer", endpoint_id: "uuid" }, given);
      // Each endpoint is one look at the index of held callbacks, which is empty while all receivers are connected.
      const rows = await db
        .selectFrom(asked.as("asked"))
        .selectAll()
        .where(
          sql<boolean>`exists (select 1 from callbacks where callbacks.account_id = asked.account_id
            and callbacks.endpoint_id = asked.endpoint_id and ${isHeld})`,
        )
        .execute();
      return rows.map((row) => ({ accountId: row.account_id, endpointId: row.endpoint_id }));
    },

    async countWaitingOf(accountId, endpointId) {
      const row = await db
        .selectFrom("callbacks")
        .select(sql<number>`cast(count(*) as bigint)`.as("waiting"))
        .where("state", "=", sql.lit("waiting"))
        // The sign hides the key from the planner: SQLite would read all callbacks of the account, and few of them wait.
        .where(sql<boolean>`+account_id = ${accountId}`)
        .where("endpoint_id", "=", endpointId)
        .executeTakeFirst();
      return row?.waiting ?? 0;
    },

    async countWaitingCallbacks() {
      const row = await db
        .selectFrom("callbacks")
        .select(sql<number>`cast(count(*) as bigint)`.as("waiting"))
        .where("state", "=", sql.lit("waiting"))
        .executeTakeFirst();
      return row?.waiting ?? 0;
    },
  };
}

/** One behind a held one is held with its owner. If that node ended, no other claim would take it. */
const isHeld = sql<boolean>`state = 'waiting' and due_at = ${sql.lit(HELD)}
  and (owner = ${sql.lit(UNOWNED)} or owner not in (select id from nodes where dead = 0))`;

/** Repeats the condition of the partial index of failed callbacks: SQLite uses the index only for the same expression. */
const hasFailed = sql<boolean>`state in ('exhausted', 'dropped')`;

const positionOf = (row: Pick<CallbackRow, "event_id" | "endpoint_id">) => ({
  eventId: row.event_id,
  endpointId: row.endpoint_id,
});
