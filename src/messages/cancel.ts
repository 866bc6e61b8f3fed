import type { Clock } from "../lib/clock.ts";
import { FAILURES, type MessageRef } from "../model/message.ts";
import { writeTrail } from "../model/trail.ts";
import { NOBODY, type MessageStore, type StoredMessage } from "../store/store.ts";
import type { GroupCommit } from "../work/group-commit.ts";
import type { Meters } from "../work/meters.ts";

interface CancelNeeds {
  store: Pick<MessageStore, "findMessage" | "listRequest">;
  commits: Pick<GroupCommit, "move">;
  clock: Clock;
  meters: Meters;
}

interface Cancelled {
  /** Messages that are never sent, whether this call or an earlier one saw to it. */
  cancelled: number;
  /** Messages that a carrier has, or had, and those that ended by themselves. */
  tooLate: number;
}

/** Cancels one message; null when there is none. */
export async function cancelMessage(needs: CancelNeeds, ref: MessageRef): Promise<Cancelled | null> {
  const message = await needs.store.findMessage(ref);
  return message && cancelAll(needs, [message]);
}

/** Cancels every message of a request that can still be cancelled; null when there is no such request. */
export async function cancelRequest(
  needs: CancelNeeds,
  accountId: number,
  requestId: string,
): Promise<Cancelled | null> {
  const messages = await needs.store.listRequest(accountId, requestId);
  return messages.length === 0 ? null : cancelAll(needs, messages);
}

async function cancelAll(needs: CancelNeeds, messages: readonly StoredMessage[]): Promise<Cancelled> {
  const results = await Promise.all(messages.map((message) => cancel(needs, message)));
  const cancelled = results.filter(Boolean).length;
  return { cancelled, tooLate: results.length - cancelled };
}

/**
 * Whoever has the message in memory, on this node or another, finds that its intent to send is refused: the row decides.
 * One that waits for its second route has been with the first carrier, so it is no longer ours to call back.
 */
async function cancel({ store, commits, clock, meters }: CancelNeeds, message: StoredMessage): Promise<boolean> {
  const { accountId, requestId, n, state, submittedAt } = message;
  if (state === "cancelled") return true;
  if (submittedAt !== null) return false;
  const at = clock.now();
  const { moved } = await commits.move.add({
    accountId,
    requestId,
    n,
    to: "cancelled",
    at,
    owner: NOBODY,
    errorCode: "CANCELLED",
    description: FAILURES.CANCELLED,
    trail: writeTrail({ at, step: "changed", what: "cancelled" }),
  });
  if (moved) meters.moves("cancelled").inc();
  // Of two calls at the same moment one moves it, and both have what they asked for.
  return moved || (await store.findMessage({ accountId, requestId, n }))?.state === "cancelled";
}
