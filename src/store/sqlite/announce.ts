import type { DatabaseSync } from "node:sqlite";
import type { Callback } from "../../model/callback.ts";
import { callbackOf } from "../callback-rows.ts";
import { isSession } from "../rows.ts";
import { NOBODY, type Announcement, type Move } from "../store.ts";
import type { CallbackRow, MessageRow } from "../tables.ts";

type Facts = Pick<
  MessageRow,
  "channel" | "carrier" | "sender" | "recipient" | "credits" | "created_at" | "content" | "operator" | "circle"
>;

/** Writes down who is to be told of a move that has just been made, inside the writer's transaction. */
export function createAnnounce(db: DatabaseSync): (move: Move, announcement: Announcement) => Callback[] {
  const findFacts = db.prepare(
    `select channel, carrier, sender, recipient, credits, created_at, content, operator, circle from messages
     where account_id = ? and request_id = ? and n = ?`,
  );
  const findEarlier = db.prepare(
    `select max(due_at) as due_at from callbacks
     where account_id = ? and request_id = ? and n = ? and endpoint_id = ? and state = 'waiting' and owner <> ?`,
  );
  // A second route may take a message that a first one has taken: that it was sent is told once. By itself SQLite would
  // read all callbacks of the account for it, because the index does not hold the kind.
  const findSame = db.prepare(
    `select 1 from callbacks indexed by callbacks_of_message
     where account_id = ? and request_id = ? and n = ? and endpoint_id = ? and kind = ? and status is ?`,
  );
  const insert = db.prepare(
    `insert into callbacks (account_id, event_id, endpoint_id, kind, status, request_id, n, at, error_code, description,
       carrier, facts, state, owner, attempts, due_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?, 0, ?) returning *`,
  );

  return (move, { owner, dueAt, targets }) => {
    const { accountId, requestId, n } = move;
    const row = findFacts.get(accountId, requestId, n) as unknown as Facts;
    const facts = JSON.stringify({
      messageId: `${requestId}:${n}`,
      channel: row.channel,
      recipient: row.recipient,
      sender: row.sender,
      credits: row.credits,
      createdAt: row.created_at,
      session: isSession(row),
      ...(row.operator === null ? {} : { operator: row.operator }),
      ...(row.circle === null ? {} : { circle: row.circle }),
    });
    const told: Callback[] = [];
    for (const { eventId, endpointId, kind, status, channel, carrier } of targets) {
      if (channel !== row.channel || (carrier !== null && carrier !== row.carrier)) continue;
      if (findSame.get(accountId, requestId, n, endpointId, kind, status)) continue;
      const earlier = findEarlier.get(accountId, requestId, n, endpointId, owner) as { due_at: number | null };
      // Something of this message that is not in this node's hands waits to be told first.
      const isBlocked = earlier.due_at !== null;
      const stored = insert.get(
        accountId,
        eventId,
        endpointId,
        kind,
        status,
        requestId,
        n,
        move.at,
        move.errorCode ?? null,
        move.description ?? null,
        row.carrier,
        facts,
        isBlocked ? NOBODY : owner,
        Math.max(dueAt, earlier.due_at ?? 0),
      ) as unknown as CallbackRow;
      if (!isBlocked && owner !== NOBODY) told.push(callbackOf(stored));
    }
    return told;
  };
}
