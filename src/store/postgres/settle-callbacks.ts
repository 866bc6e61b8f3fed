import { LOG_MAX, refRow } from "../callback-rows.ts";
import type { Settlement } from "../callbacks.ts";
import { UNOWNED } from "../store.ts";
import { waitsByItself } from "./transition-callbacks.ts";
import { columns } from "./columns.ts";
import type { ConnectionPool } from "./pool.ts";

const SETTLEMENTS = columns({
  account_id: "integer",
  event_id: "uuid",
  endpoint_id: "uuid",
  owned_by: "integer",
  attempts: "integer",
  state: "text",
  at: "bigint",
  due_at: "bigint",
  attempted: "integer",
  log: "text",
});

const SETTLE = `
  update callbacks set state = step.state, owner = ${UNOWNED}, attempts = callbacks.attempts + step.attempted,
    due_at = case when step.attempted = 0 and callbacks.due_at > step.due_at then callbacks.due_at else step.due_at end,
    done_at = case when step.state = 'waiting' then null else step.at end,
    log = case when length(coalesce(callbacks.log, '')) < ${LOG_MAX}
      then nullif(coalesce(callbacks.log, '') || step.log, '') else callbacks.log end
  from (select * from ${SETTLEMENTS.rows}) as step
  where callbacks.account_id = step.account_id and callbacks.event_id = step.event_id
    and callbacks.endpoint_id = step.endpoint_id and callbacks.owner = step.owned_by
    and callbacks.attempts = step.attempts and ${waitsByItself("callbacks")}`;

const LATER = columns({
  account_id: "integer",
  request_id: "uuid",
  n: "integer",
  endpoint_id: "uuid",
  event_id: "uuid",
  attempts: "integer",
  due_at: "bigint",
});

/**
 * Delays the later callbacks of the same message and endpoint until the settled one is due. It applies only if the callback is
 * as the previous statement left it, so a late settlement delays nothing.
 *
 * `skip locked` prevents deadlocks between transactions that lock rows of each other. The order holds without these rows,
 * because a claim checks for earlier callbacks.
 */
const HOLD_BACK = `
  with later as materialized (
    select following.account_id, following.event_id, following.endpoint_id, step.due_at from (select * from ${LATER.rows}) as step cross join lateral (
      select seq from callbacks as settled where settled.account_id = step.account_id and settled.event_id = step.event_id
        and settled.endpoint_id = step.endpoint_id and settled.owner = ${UNOWNED} and settled.attempts = step.attempts
      offset 0) as place cross join lateral (
      select account_id, event_id, endpoint_id from callbacks as after
      where after.account_id = step.account_id and after.request_id = step.request_id and after.n = step.n
        and after.endpoint_id = step.endpoint_id and (after.seq, after.event_id) > (place.seq, step.event_id)
        and ${waitsByItself("after")} and after.due_at < step.due_at
      offset 0 for update skip locked) as following)
  update callbacks set due_at = later.due_at from later
  where callbacks.account_id = later.account_id and callbacks.event_id = later.event_id and callbacks.endpoint_id = later.endpoint_id`;

export async function settleCallbacks(pool: ConnectionPool, batch: readonly Settlement[]): Promise<void> {
  const rows = batch.map((item) => ({
    ...refRow(item),
    owned_by: item.ownedBy,
    attempts: item.attempts,
    state: item.state,
    at: item.at,
    due_at: item.dueAt,
    attempted: item.attempted ? 1 : 0,
    log: item.log,
  }));
  const settle = { name: "settle callbacks", text: SETTLE, values: SETTLEMENTS.values(rows) };
  const later = batch.flatMap((item) => {
    if (!item.message) return [];
    const attempts = item.attempts + (item.attempted ? 1 : 0);
    const { requestId, n } = item.message;
    return [{ ...refRow(item), request_id: requestId, n, attempts, due_at: item.dueAt }];
  });
  if (later.length === 0) return void (await pool.query(settle));
  await pool.transaction(async (query) => {
    await query(settle);
    await query({ name: "hold callbacks back", text: HOLD_BACK, values: LATER.values(later) });
  });
}
