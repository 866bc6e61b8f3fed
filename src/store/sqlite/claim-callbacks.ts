import type { DatabaseSync } from "node:sqlite";
import type { Callback } from "../../model/callback.ts";
import { callbackOf } from "../callback-rows.ts";
import type { CallbackStore } from "../callbacks.ts";
import type { CallbackRow } from "../tables.ts";

/** Claims callbacks, those of one message in order, inside the writer's transaction. */
export function createClaimCallbacks(db: DatabaseSync) {
  const claim = db.prepare(
    `update callbacks set owner = ? where (account_id, event_id, endpoint_id) in (
       select account_id, event_id, endpoint_id from callbacks as due
       where owner = ? and due_at <= ? and state = 'waiting' and not exists (
         select 1 from callbacks as earlier indexed by callbacks_of_message
         where earlier.account_id = due.account_id and earlier.request_id = due.request_id and earlier.n = due.n
           and earlier.endpoint_id = due.endpoint_id and earlier.state = 'waiting'
           and (earlier.seq, earlier.event_id) < (due.seq, due.event_id))
       order by due_at limit ?)
     returning *`,
  );
  return ({ node, from, dueBy, limit }: Parameters<CallbackStore["claimCallbacks"]>[0]): Callback[] => {
    const rows = claim.all(node, from, dueBy, limit) as unknown as CallbackRow[];
    return rows.toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1)).map(callbackOf);
  };
}
