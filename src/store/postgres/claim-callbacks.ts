import { callbackOf } from "../callback-rows.ts";
import type { CallbackStore } from "../callbacks.ts";
import type { CallbackRow } from "../tables.ts";
import { waitsByItself } from "./transition-callbacks.ts";
import type { Query } from "./pool.ts";

/**
 * Claims the callbacks of one message in order; `skip locked` passes over rows that another claim has locked. A materialized
 * CTE selects the rows before the join. Evaluated once per joined row, it would select other rows each time and exceed the
 * limit.
 */
const CLAIM = `
  with due as materialized (
    select account_id, event_id, endpoint_id from callbacks as due
    where owner = $2 and due_at <= $3 and state = 'waiting' and not exists (
      select 1 from callbacks as earlier
      where earlier.account_id = due.account_id and earlier.request_id = due.request_id and earlier.n = due.n
        and earlier.endpoint_id = due.endpoint_id and ${waitsByItself("earlier")} and (earlier.seq, earlier.event_id) < (due.seq, due.event_id)
      -- An optimisation fence: keeps this a lookup per callback instead of a join with all of an account.
      offset 0)
    order by due_at limit $4 for update skip locked)
  update callbacks set owner = $1 from due
  where callbacks.account_id = due.account_id and callbacks.event_id = due.event_id and callbacks.endpoint_id = due.endpoint_id
  returning callbacks.*`;

export const createClaimCallbacks =
  (query: Query): CallbackStore["claimCallbacks"] =>
  async ({ node, from, dueBy, limit }) => {
    const { rows } = await query<CallbackRow>({ text: CLAIM, values: [node, from, dueBy, limit] });
    return rows.toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1)).map(callbackOf);
  };
