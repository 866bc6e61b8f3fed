import type { DatabaseSync } from "node:sqlite";
import { movesInto } from "../../model/message.ts";
import { movedOf, TRAIL_MAX, type MovedRow } from "../rows.ts";
import type { Move, MoveResult } from "../store.ts";
import type { MessageRow } from "../tables.ts";
import { saysOnly } from "../says-only.ts";

type Row = MovedRow & Pick<MessageRow, "n">;

const NOT_MOVED: MoveResult = { moved: false, message: null, parked: [], told: [] };

/** What an intent says. */
const FIELDS = new Set(["accountId", "requestId", "n", "to", "at", "owner", "ownedBy", "carrier", "attempt", "trail"]);

/**
 * How many moves from a place on are the intents of neighbours: recipients of one request, in their order, that go to the same
 * carrier at the same moment. A bulk on its way out is made of these.
 */
export function runOfIntents(batch: readonly Move[], from: number): number {
  const first = batch[from];
  if (first?.to !== "submitting" || first.ownedBy === undefined || first.carrier === undefined || !first.attempt)
    return 0;
  if (!saysOnly(first, FIELDS)) return 0;
  let length = 1;
  for (let next = batch[from + length]; next && follows(first, next, length); next = batch[from + length]) length += 1;
  return length;
}

const follows = (first: Move, next: Move, distance: number): boolean =>
  next.n === first.n + distance &&
  next.to === first.to &&
  next.requestId === first.requestId &&
  next.accountId === first.accountId &&
  next.carrier === first.carrier &&
  next.trail === first.trail &&
  next.owner === first.owner &&
  next.ownedBy === first.ownedBy &&
  next.attempt === first.attempt &&
  saysOnly(next, FIELDS);

/** Writes the intents of neighbours down as one statement, inside the writer's transaction: a third of the work. */
export function createIntend(db: DatabaseSync): (run: readonly Move[]) => MoveResult[] {
  const origins = movesInto("submitting").map((state) => `'${state}'`);
  const intend = db.prepare(
    `update messages set state = 'submitting', owner = ?, carrier = ?, attempts = attempts + 1, error_code = null,
       description = null,
       trail = case when length(coalesce(trail, '')) < ${TRAIL_MAX} then nullif(coalesce(trail, '') || ?, '') else trail end
     where account_id = ? and request_id = ? and n between ? and ? and owner = ? and state in (${origins.join(", ")})
     returning n, channel, lane, recipient`,
  );
  return (run) => {
    const [first] = run;
    if (!first) return [];
    const { accountId, requestId, n, owner, ownedBy = owner, carrier = null, trail = "" } = first;
    const last = n + run.length - 1;
    const rows = intend.all(owner, carrier, trail, accountId, requestId, n, last, ownedBy) as unknown as Row[];
    const moved = new Map(rows.map((row) => [row.n, row]));
    return run.map((move) => {
      const row = moved.get(move.n);
      return row ? { ...NOT_MOVED, moved: true, message: movedOf(row, false) } : NOT_MOVED;
    });
  };
}
