import type { Clock } from "../../lib/clock.ts";
import { FAILURES, type State } from "../../model/message.ts";
import { encodeTimeline } from "../../model/timeline.ts";
import type { AwaitedStore } from "../../store/awaited-receipts.ts";
import type { RecordStore } from "../../store/records.ts";
import { UNOWNED, type StoredMessage } from "../../store/store.ts";
import type { GroupCommit } from "../group-commit.ts";
import type { Membership } from "../../cluster/membership.ts";
import type { Metrics } from "../../metrics.ts";
import { eraseEncrypted, refOf } from "../dispatch/record-submitted.ts";

export interface EndUnreportedDeps {
  store: AwaitedStore & Pick<RecordStore, "listAccounts">;
  commits: Pick<GroupCommit, "move">;
  membership: Pick<Membership, "rank" | "alive">;
  clock: Clock;
  metrics: Metrics;
  /** Time after the validity in which a receipt may still come. */
  receiptGraceMs: number;
}

const AT_ONCE = 500;
const LOOKED_AT_ONCE = 2000;
/** Bounds one run, so that a shutdown does not wait long; the next run continues. */
const LOOKS_MAX = 500;
const TURNS_MAX = 50;
/** Most messages have ended by this age, and cost only one read. */
const SETTLED_MS = 600_000;
/** A message that changes while it is examined is examined again after this. */
const LOOK_AGAIN_MS = 60_000;

/**
 * Ends submitted messages without a receipt as `unknown` after their validity and the grace period. A late receipt still
 * counts. One node does this for all; every write is conditional, so two nodes at once do no harm.
 */
export async function endUnreported(deps: EndUnreportedDeps): Promise<void> {
  const { store, membership, clock, receiptGraceMs } = deps;
  if (!membership.alive || membership.rank > 0) return;
  const before = clock.now() - SETTLED_MS;
  let looks = 0;
  for (const { id } of await store.listAccounts())
    while ((looks += 1) <= LOOKS_MAX && (await store.setUnendedAside(id, before, receiptGraceMs, LOOKED_AT_ONCE)));
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    const messages = await store.listAwaited(clock.now(), AT_ONCE);
    await settle(deps, messages);
    if (messages.length < AT_ONCE) return;
  }
}

async function settle(deps: EndUnreportedDeps, messages: readonly StoredMessage[]): Promise<void> {
  const { store, clock, receiptGraceMs } = deps;
  const at = clock.now();
  const verdicts = await Promise.all(
    messages.map(async (message) => {
      if (!isUnended(message.state)) return { message, laterAt: null };
      const endsAt = message.expiresAt + receiptGraceMs;
      if (!isTaken(message.state)) return { message, laterAt: Math.max(endsAt, at + LOOK_AGAIN_MS) };
      if (at < endsAt) return { message, laterAt: endsAt };
      return { message, laterAt: (await end(deps, message, at)) ? null : at + LOOK_AGAIN_MS };
    }),
  );
  const ended = verdicts.filter(({ laterAt }) => laterAt === null).map(({ message }) => message);
  const later = verdicts.flatMap(({ message, laterAt }) =>
    laterAt === null ? [] : [{ ...refOf(message), dueAt: laterAt }],
  );
  await store.settleAwaited(ended, later);
}

const isTaken = (state: State): boolean => state === "submitted" || state === "enroute";

/** Waiting messages end by themselves when they expire. */
const isUnended = (state: State): boolean =>
  isTaken(state) || state === "accepted" || state === "scheduled" || state === "submitting";

async function end({ commits, metrics }: EndUnreportedDeps, message: StoredMessage, at: number): Promise<boolean> {
  const carrier = message.carrier ?? "";
  const errorCode = "NOT_REPORTED";
  const { moved } = await commits.move.add({
    ...refOf(message),
    kind: "ended",
    to: "unknown",
    at,
    owner: UNOWNED,
    // After a failover meanwhile, the receipt of the new carrier is awaited.
    carriedBy: carrier,
    attemptIs: message.attempts,
    unlessSubmitting: true,
    errorCode,
    description: FAILURES[errorCode],
    failoverAt: null,
    timeline: encodeTimeline({ at, step: "unreported", carrier }),
    ...eraseEncrypted(message),
  });
  if (moved) metrics.moves("unknown").inc();
  return moved;
}
