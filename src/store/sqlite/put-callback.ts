import type { DatabaseSync } from "node:sqlite";
import type { CallbackRow } from "../tables.ts";

type NewCallbackRow = Omit<CallbackRow, "state" | "attempts" | "done_at" | "log">;

/** Stores a callback of a new request or of a transition, inside the writer's transaction. */
export function createPutCallback(db: DatabaseSync): (row: NewCallbackRow) => void {
  const insert = db.prepare(
    `insert into callbacks (account_id, event_id, endpoint_id, kind, status, request_id, n, at, error_code, description,
       carrier, facts, owner, due_at, seq, state, attempts)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', 0)`,
  );
  return (row) => {
    insert.run(
      row.account_id,
      row.event_id,
      row.endpoint_id,
      row.kind,
      row.status,
      row.request_id,
      row.n,
      row.at,
      row.error_code,
      row.description,
      row.carrier,
      row.facts,
      row.owner,
      row.due_at,
      row.seq,
    );
  };
}
