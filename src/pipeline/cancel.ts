import type { Clock } from "../lib/clock.ts";
import { FAILURES, type MessageRef } from "../model/message.ts";
import { encodeTimeline } from "../model/timeline.ts";
import { UNOWNED, type MessageStore, type StoredMessage } from "../store/store.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { Metrics } from "../metrics.ts";

export interface CancelDeps {
  store: Pick<MessageStore, "findMessage" | "listRequest">;
  commits: Pick<GroupCommit, "move">;
  clock: Clock;
  metrics: Metrics;
}

interface Cancelled {
  /** Messages that are never sent, by this call or an earlier one. */
  cancelled: number;
  /** Messages that a carrier has or had, and those that have ended. */
  tooLate: number;
}

/** Cancels one message; null when there is none. */
export async function cancelMessage(deps: CancelDeps, ref: MessageRef): Promise<Cancelled | null> {
  const message = await deps.store.findMessage(ref);
  return message && cancelAll(deps, [message]);
}

/** Cancels every message of a request that can still be cancelled; null when there is no such request. */
export async function cancelRequest(deps: CancelDeps, accountId: number, requestId: string): Promise<Cancelled | null> {
  const messages = await deps.store.listRequest(accountId, requestId);
  return messages.length === 0 ? null : cancelAll(deps, messages);
}

async function cancelAll(deps: CancelDeps, messages: readonly StoredMessage[]): Promise<Cancelled> {
  const results = await Promise.all(messages.map((message) => cancel(deps, message)));
  const cancelled = results.filter(Boolean).length;
  return { cancelled, tooLate: results.length - cancelled };
}

/**
 * The row decides: a node that holds the message in memory finds its intent refused. A message that waits for its second route
 * was with the first carrier and can no longer be cancelled.
 */
async function cancel({ store, commits, clock, metrics }: CancelDeps, message: StoredMessage): Promise<boolean> {
  const { accountId, requestId, n, state, submittedAt } = message;
  if (state === "cancelled") return true;
  if (submittedAt !== null) return false;
  const at = clock.now();
  const { moved } = await commits.move.add({
    accountId,
    requestId,
    n,
    kind: "ended",
    to: "cancelled",
    at,
    owner: UNOWNED,
    errorCode: "CANCELLED",
    description: FAILURES.CANCELLED,
    timeline: encodeTimeline({ at, step: "changed", what: "cancelled" }),
  });
  if (moved) metrics.moves("cancelled").inc();
  // Two concurrent calls both succeed, and one of them makes the transition.
  return moved || (await store.findMessage({ accountId, requestId, n }))?.state === "cancelled";
}
