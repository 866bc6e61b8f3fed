import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { messageIdOf, ROUTE_CLASSES, type RouteClass } from "../../model/message.ts";
import type { MessageStore, OwnedRow } from "../../store/store.ts";
import type { Membership } from "../../cluster/membership.ts";
import type { Metrics } from "../../metrics.ts";
import type { Dispatcher } from "./dispatcher.ts";

interface RecoveryDeps {
  store: Pick<MessageStore, "listOwned" | "releaseOwned">;
  membership: Membership;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  dispatcher: Pick<Dispatcher, "messages">;
  /** Requests whose commit is in progress. */
  reserved: ReadonlySet<string>;
}

/** A due row that this node owns for longer than this and does not hold in memory is an orphan of a commit whose result was lost. */
const ORPHANED_MS = 60_000;
/** Rows per class and run; the next run continues after them. */
const ROWS_AT_ONCE = 2000;

/**
 * Releases orphans: rows that the store assigns to this node and that the process does not hold. The next claim takes them: an
 * `accepted` row is sent, a `submitting` row is unconfirmed. A commit whose result was lost, or that outlived its time-out,
 * leaves orphans, possibly long after its caller got an error.
 *
 * Must not run concurrently with a claim. Every other path holds the row in memory before the store assigns it, and drops it
 * after the store has written the new owner. A row found in the store and not in memory afterwards is therefore an orphan.
 */
export function createRecovery(deps: RecoveryDeps): () => Promise<void> {
  const after = new Map<RouteClass, OwnedRow>();
  return async () => {
    if (!deps.membership.alive) return;
    for (const routeClass of ROUTE_CLASSES) await recoverClass(deps, routeClass, after);
  };
}

async function recoverClass(
  { store, membership, clock, log, metrics, dispatcher, reserved }: RecoveryDeps,
  routeClass: RouteClass,
  after: Map<RouteClass, OwnedRow>,
): Promise<void> {
  const { node } = membership;
  const dueBy = clock.now() - ORPHANED_MS;
  const rows = await store.listOwned({
    node,
    routeClass,
    dueBy,
    after: after.get(routeClass) ?? null,
    limit: ROWS_AT_ONCE,
  });
  const last = rows.at(-1);
  if (last && rows.length === ROWS_AT_ONCE) after.set(routeClass, last);
  else after.delete(routeClass);
  if (rows.length === 0) return;
  const held = new Set(Array.from(dispatcher.messages(), messageIdOf));
  const orphans = rows.filter((row) => !held.has(messageIdOf(row)) && !reserved.has(row.requestId));
  if (orphans.length === 0) return;
  const released = await store.releaseOwned(node, orphans);
  if (released === 0) return;
  metrics.recovered(routeClass).inc(released);
  log.warn({ messages: released, type: routeClass }, "orphaned messages recovered");
}
