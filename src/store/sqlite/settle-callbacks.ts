import type { DatabaseSync } from "node:sqlite";
import { LOG_MAX } from "../callback-rows.ts";
import type { Settlement } from "../callbacks.ts";
import { UNOWNED } from "../store.ts";

/** A tuple on its way to the writer, because field names cost as much as the values. */
type PackedSettlement = readonly [
  accountId: number,
  eventId: string,
  endpointId: string,
  ownedBy: number,
  state: Settlement["state"],
  at: number,
  dueAt: number,
  attempted: boolean,
  log: string,
  message: Settlement["message"],
  attempts: number,
];

// prettier-ignore
export const packSettlement = (
  { accountId, eventId, endpointId, ownedBy, state, at, dueAt, attempted, log, message, attempts }: Settlement,
): PackedSettlement => [accountId, eventId, endpointId, ownedBy, state, at, dueAt, attempted, log, message, attempts];

type SettleCallbacks = (batch: readonly PackedSettlement[]) => void;

/** Stores the outcomes of callback attempts, inside the writer's transaction. */
export function createSettleCallbacks(db: DatabaseSync): SettleCallbacks {
  const settle = db.prepare(
    `update callbacks set state = ?1, owner = ${UNOWNED}, attempts = attempts + ?2,
       due_at = case when ?2 = 0 and due_at > ?3 then due_at else ?3 end, done_at = ?4,
       log = case when length(coalesce(log, '')) < ${LOG_MAX} then nullif(coalesce(log, '') || ?5, '') else log end
     where account_id = ?6 and event_id = ?7 and endpoint_id = ?8 and owner = ?9 and attempts = ?10 and state = 'waiting'`,
  );
  const holdBack = db.prepare(
    `update callbacks indexed by callbacks_of_message set due_at = ?
     where account_id = ? and request_id = ? and n = ? and endpoint_id = ? and state = 'waiting' and due_at < ?
       and (seq, event_id) > (select seq, event_id from callbacks where account_id = ? and event_id = ? and endpoint_id = ?)`,
  );
  return (batch) => {
    const settled: PackedSettlement[] = [];
    for (const item of batch) {
      const [accountId, eventId, endpointId, ownedBy, state, at, dueAt, attempted, log, , attempts] = item;
      const tries = attempted ? 1 : 0;
      const doneAt = state === "waiting" ? null : at;
      const own = [accountId, eventId, endpointId, ownedBy, attempts];
      if (settle.run(state, tries, dueAt, doneAt, log, ...own).changes > 0) settled.push(item);
    }
    // Defers later callbacks of the same message too. A late settlement defers none.
    for (const [accountId, eventId, endpointId, , , , dueAt, , , message] of settled)
      if (message) {
        const own = [accountId, eventId, endpointId];
        holdBack.run(dueAt, accountId, message.requestId, message.n, endpointId, dueAt, ...own);
      }
  };
}
