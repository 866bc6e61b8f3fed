import type { DatabaseSync } from "node:sqlite";
import { movesInto } from "../../model/message.ts";
import { TRAIL_MAX } from "../rows.ts";
import { saysOnly } from "../says-only.ts";
import type { Move } from "../store.ts";
import type { AsKnown } from "../as-known.ts";

/** What an intent says. */
const FIELDS = new Set<string>([
  "accountId", "requestId", "n", "to", "at", "owner", "ownedBy", "carrier", "attempt", "trail", "known",
] satisfies (keyof Move)[]); // prettier-ignore

type Intent = AsKnown & Required<Pick<Move, "ownedBy" | "carrier">>;

/** The intents of neighbours, or one alone: recipients of one request, in their order, that go to the same carrier at the same moment. */
export interface Intents {
  first: Intent;
  count: number;
}

/** A bulk on its way out is made of runs of intents: each of these crosses to the writer as one. */
export function gatherIntents(batch: readonly Move[]): (Move | Intents)[] {
  const gathered: (Move | Intents)[] = [];
  for (let at = 0; at < batch.length;) {
    const run = runFrom(batch, at);
    const step = run ?? batch[at];
    if (step) gathered.push(step);
    at += run?.count ?? 1;
  }
  return gathered;
}

export const isRun = (step: Move | Intents): step is Intents => "count" in step;

/** The intents one by one, without what is known of the first alone. */
export function eachOf({ first, count }: Intents): Move[] {
  const { known: _, ...shared } = first;
  return Array.from({ length: count }, (__, distance) => ({ ...shared, n: shared.n + distance }));
}

const isIntent = (move: Move): move is Intent =>
  move.to === "submitting" &&
  move.ownedBy !== undefined &&
  move.carrier !== undefined &&
  move.known !== undefined &&
  move.attempt === true &&
  saysOnly(move, FIELDS);

/** Null where it is no intent. */
function runFrom(batch: readonly Move[], from: number): Intents | null {
  const first = batch[from];
  if (!first || !isIntent(first)) return null;
  let count = 1;
  for (let next = batch[from + count]; next && follows(first, next, count); next = batch[from + count]) count += 1;
  return { first, count };
}

const follows = (first: Intent, next: Move, distance: number): boolean =>
  next.n === first.n + distance &&
  next.requestId === first.requestId &&
  next.accountId === first.accountId &&
  next.carrier === first.carrier &&
  next.at === first.at &&
  next.trail === first.trail &&
  next.owner === first.owner &&
  next.ownedBy === first.ownedBy &&
  isIntent(next);

/** Writes intents as one statement and without a look, inside the writer's transaction; throws where one of them cannot be. */
export function createIntend(db: DatabaseSync): (run: Intents) => true {
  const isFree = movesInto("submitting")
    .map((state) => `state = '${state}'`)
    .join(" or ");
  // By their key: to look through all that waits with an owner, for which there is an index, is never quicker.
  const intend = db.prepare(
    `update messages set state = 'submitting', owner = ?, carrier = ?, attempts = attempts + 1, error_code = null,
       description = null,
       trail = case when length(coalesce(trail, '')) < ${TRAIL_MAX} then nullif(coalesce(trail, '') || ?, '') else trail end
     where account_id = ? and request_id = ? and n between ? and ? and +owner = ? and (${isFree})`,
  );
  return ({ first, count }) => {
    const { accountId, requestId, n, owner, ownedBy, carrier, trail = "" } = first;
    const { changes } = intend.run(owner, carrier, trail, accountId, requestId, n, n + count - 1, ownedBy);
    // That all are still free is not asked beforehand, for they nearly always are.
    if (changes < count) throw new Error("not all of these messages are still to be sent");
    return true;
  };
}
