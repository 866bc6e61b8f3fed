import type { LateAnswer } from "../../carriers/carrier.ts";
import { retryUntil } from "../../lib/async.ts";
import { encodeTimeline } from "../../model/timeline.ts";
import { isAway, UNOWNED } from "../../store/store.ts";
import type { ReceiptDeps } from "./apply-receipt.ts";
import { answerEntryOf, recordSubmitted, refOf, failoverAfterOf } from "../dispatch/record-submitted.ts";

/**
 * Handles a submit answer that came after its time-out. A submit ack is true whatever happened since, and its ids are kept so
 * that receipts match. A refusal counts only while the message is unconfirmed for this attempt and was not repeated.
 * Next: src/pipeline/receipts/receive-receipt.ts
 */
export async function handleLateAnswer(
  deps: ReceiptDeps,
  { message: ref, carrier, outcome }: LateAnswer,
): Promise<void> {
  const { store, commits, clock, metrics } = deps;
  // The carrier does not repeat its answer. Without it, the receipts would match no message.
  const message = await retryUntil(clock, isAway, () => store.findMessage(ref));
  if (!message) return;
  const at = clock.now();
  const timeline = encodeTimeline({ ...answerEntryOf(carrier, outcome, at), late: true });
  const common = { ...refOf(message), at, owner: UNOWNED, timeline };
  if (outcome.kind === "taken") {
    const failoverAfterSeconds = failoverAfterOf(deps, message, carrier);
    const step = { ...common, carrier, channel: message.channel };
    return recordSubmitted(deps, message, step, outcome, { failoverAfterSeconds });
  }
  const isOnlyTry = message.state === "submitting" && message.repeats === 0;
  if (!isOnlyTry) {
    const { owner: _, ...entry } = common;
    await commits.move.add({ ...entry, kind: "timeline" });
    return;
  }
  const fenced = {
    ...common,
    timelineAlways: true,
    // Unowned and unchanged since it was read, so no node has repeated it meanwhile.
    ownedBy: UNOWNED,
    dueIs: message.dueAt,
    carriedBy: carrier,
  };
  if (outcome.kind === "refused" && outcome.fault === "message") {
    const { code: errorCode, description } = outcome;
    const { moved } = await commits.move.add({ ...fenced, kind: "ended", to: "rejected", errorCode, description });
    if (moved) metrics.moves("rejected").inc();
    return;
  }
  // Certainly not sent, for a reason that may pass or concern this carrier only: it is `accepted` again.
  await commits.move.add({ ...fenced, kind: "deferred", to: "accepted", dueAt: at });
}
