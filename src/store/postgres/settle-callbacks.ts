import { LOG_MAX, refRow } from "../callback-rows.ts";
import type { Settlement } from "../callback-store.ts";
import { NOBODY } from "../store.ts";
import { waitsByItself } from "./announce.ts";
import { columns } from "./columns.ts";
import type { ConnectionPool } from "./pool.ts";

const SETTLEMENTS = columns({
  account_id: "integer",
  event_id: "uuid",
  endpoint_id: "uuid",
  owned_by: "integer",
  state: "text",
  at: "bigint",
  due_at: "bigint",
  attempted: "integer",
  log: "text",
});

const SETTLE = `
  update callbacks set state = step.state, owner = ${NOBODY}, attempts = callbacks.attempts + step.attempted,
    due_at = case when step.attempted = 0 and callbacks.due_at > step.due_at then callbacks.due_at else step.due_at end,
    done_at = case when step.state = 'waiting' then null else step.at end,
    log = case when length(coalesce(callbacks.log, '')) < ${LOG_MAX}
      then nullif(coalesce(callbacks.log, '') || step.log, '') else callbacks.log end
  from (select * from ${SETTLEMENTS.rows}) as step
  where callbacks.account_id = step.account_id and callbacks.event_id = step.event_id
    and callbacks.endpoint_id = step.endpoint_id and callbacks.owner = step.owned_by and ${waitsByItself("callbacks")}`;

const LATER = columns({
  account_id: "integer",
  request_id: "uuid",
  n: "integer",
  endpoint_id: "uuid",
  event_id: "uuid",
  due_at: "bigint",
});

/** What is to be told of the same message later comes after it. */
const HOLD_BACK = `
  update callbacks set due_at = step.due_at from (select * from ${LATER.rows}) as step cross join lateral (
    select event_id from callbacks as told
    where told.account_id = step.account_id and told.request_id = step.request_id and told.n = step.n
      and told.endpoint_id = step.endpoint_id and told.event_id > step.event_id
    offset 0) as later
  where callbacks.account_id = step.account_id and callbacks.event_id = later.event_id
    and callbacks.endpoint_id = step.endpoint_id and ${waitsByItself("callbacks")} and callbacks.due_at < step.due_at`;

export async function settleCallbacks(pool: ConnectionPool, batch: readonly Settlement[]): Promise<void> {
  const rows = batch.map((item) => ({
    ...refRow(item),
    owned_by: item.ownedBy,
    state: item.state,
    at: item.at,
    due_at: item.dueAt,
    attempted: item.attempted ? 1 : 0,
    log: item.log,
  }));
  const settle = { name: "settle callbacks", text: SETTLE, values: SETTLEMENTS.values(rows) };
  const later = batch.flatMap((item) =>
    item.message
      ? [{ ...refRow(item), request_id: item.message.requestId, n: item.message.n, due_at: item.dueAt }]
      : [],
  );
  if (later.length === 0) return void (await pool.query(settle));
  await pool.transaction(async (query) => {
    await query(settle);
    await query({ name: "hold callbacks back", text: HOLD_BACK, values: LATER.values(later) });
  });
}
