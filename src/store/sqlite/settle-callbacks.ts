import type { DatabaseSync } from "node:sqlite";
import { LOG_MAX } from "../callback-rows.ts";
import type { Settlement } from "../callback-store.ts";
import { NOBODY } from "../store.ts";

/** On its way to the writer it has no names: they cost as much as what they name. */
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
];

// prettier-ignore
export const packSettlement = (
  { accountId, eventId, endpointId, ownedBy, state, at, dueAt, attempted, log, message }: Settlement,
): PackedSettlement => [accountId, eventId, endpointId, ownedBy, state, at, dueAt, attempted, log, message];

type SettleCallbacks = (batch: readonly PackedSettlement[]) => void;

/** Writes down what became of telling customers, inside the writer's transaction. */
export function createSettleCallbacks(db: DatabaseSync): SettleCallbacks {
  const settle = db.prepare(
    `update callbacks set state = ?1, owner = ${NOBODY}, attempts = attempts + ?2,
       due_at = case when ?2 = 0 and due_at > ?3 then due_at else ?3 end, done_at = ?4,
       log = case when length(coalesce(log, '')) < ${LOG_MAX} then nullif(coalesce(log, '') || ?5, '') else log end
     where account_id = ?6 and event_id = ?7 and endpoint_id = ?8 and owner = ?9 and state = 'waiting'`,
  );
  const holdBack = db.prepare(
    `update callbacks indexed by callbacks_of_message set due_at = ?
     where account_id = ? and request_id = ? and n = ? and endpoint_id = ? and state = 'waiting' and event_id > ? and due_at < ?`,
  );
  return (batch) => {
    for (const [accountId, eventId, endpointId, ownedBy, state, at, dueAt, attempted, log] of batch) {
      const tries = attempted ? 1 : 0;
      const doneAt = state === "waiting" ? null : at;
      settle.run(state, tries, dueAt, doneAt, log, accountId, eventId, endpointId, ownedBy);
    }
    // What is to be told of the same message later comes after it.
    for (const [accountId, eventId, endpointId, , , , dueAt, , , message] of batch)
      if (message) holdBack.run(dueAt, accountId, message.requestId, message.n, endpointId, eventId, dueAt);
  };
}
