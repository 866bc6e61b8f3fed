import type { Carriers } from "../carriers/carrier.ts";
import type { Clock } from "../lib/clock.ts";
import { carrierNameOf } from "../model/catalog.ts";
import { FAILURES, type MessageRef } from "../model/message.ts";
import { encodeTimeline } from "../model/timeline.ts";
import { UNOWNED, type MessageStore, type StoredMessage } from "../store/store.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { Metrics } from "../metrics.ts";
import { eraseEncrypted, refOf } from "./dispatch/record-submitted.ts";

export interface CancelDeps {
  store: Pick<MessageStore, "findMessage" | "listRequest">;
  commits: Pick<GroupCommit, "move">;
  clock: Clock;
  metrics: Metrics;
  /** Calls messages back that a carrier has; absent where only waiting messages are cancelled. */
  carriers?: Carriers;
}

interface Cancelled {
  /** Messages that are never sent, by this call or an earlier one. */
  cancelled: number;
  /** Messages that their carrier called back. A delivery may still be reported. */
  revoked: number;
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

/** Messages that are called back at the same time: a platform limits the requests of a sender. */
const REVOKED_AT_ONCE = 20;

async function cancelAll(deps: CancelDeps, messages: readonly StoredMessage[]): Promise<Cancelled> {
  const areCancelled = await Promise.all(messages.map((message) => cancelWaiting(deps, message)));
  const left = messages.filter((_, index) => !areCancelled[index]);
  let revoked = 0;
  for (let start = 0; start < left.length; start += REVOKED_AT_ONCE) {
    const some = left.slice(start, start + REVOKED_AT_ONCE);
    const results = await Promise.all(some.map((message) => revoke(deps, message)));
    revoked += results.filter(Boolean).length;
  }
  return { cancelled: messages.length - left.length, revoked, tooLate: left.length - revoked };
}

/**
 * Ends a message as expired after its carrier accepted to call it back. A delivery that was faster is reported later, and
 * changes that: see the legal transitions.
 */
async function revoke(
  { store, carriers, commits, clock, metrics }: CancelDeps,
  message: StoredMessage,
): Promise<boolean> {
  const { carrier, state, attempts } = message;
  if (isRevoked(message)) return true;
  if (carrier === null || (state !== "submitted" && state !== "enroute")) return false;
  const outcome = await carriers?.find(message.accountId, carrierNameOf(carrier))?.revoke?.(message);
  if (outcome?.kind !== "accepted") return false;
  const at = clock.now();
  const { moved } = await commits.move.add({
    ...refOf(message),
    kind: "ended",
    to: "expired",
    at,
    owner: UNOWNED,
    carriedBy: carrier,
    attemptIs: attempts,
    unlessSubmitting: true,
    errorCode: REVOKED,
    description: FAILURES[REVOKED],
    // Without this, a planned fallback would be sent.
    failoverAt: null,
    timeline: encodeTimeline({ at, step: "changed", what: "revoked" }),
    ...eraseEncrypted(message),
  });
  if (moved) metrics.moves("expired").inc();
  // Two concurrent calls both succeed, and one of them makes the transition.
  return moved || isRevoked(await store.findMessage(refOf(message)));
}

const REVOKED = "REVOKED";

const isRevoked = (message: StoredMessage | null): boolean =>
  message?.state === "expired" && message.errorCode === REVOKED;

/**
 * The row decides: a node that holds the message in memory finds its intent refused. A message that waits for its second route
 * was with the first carrier and can no longer be cancelled.
 */
async function cancelWaiting({ store, commits, clock, metrics }: CancelDeps, message: StoredMessage): Promise<boolean> {
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
