import type { Outcome } from "../../carriers/carrier.ts";
import type { Message } from "../../model/message.ts";
import { encodeTimeline } from "../../model/timeline.ts";
import { UNOWNED } from "../../store/store.ts";
import type { Deferred } from "../../store/transition.ts";
import type { Candidate } from "./choose-route.ts";
import type { DispatchDeps } from "./dispatch-deps.ts";
import { findFallback } from "./fallback.ts";
import {
  answerEntryOf,
  expectedOf,
  recordUnknown,
  recordSubmitted,
  refOf,
  transitionBatcherFor,
} from "./record-submitted.ts";
import { switchToFallback, type Fence } from "./defer.ts";
import { nextTryOf } from "./retry.ts";

/**
 * Writes the carrier's answer. A submit ack is true whichever node owns the row by now, as long as this carrier has the
 * message. Every other answer is written only while this node owns the row, because another node may be sending it.
 * Next: src/pipeline/receipts/receive-receipt.ts
 */
export function recordOutcome(
  deps: DispatchDeps,
  message: Message,
  fence: Fence,
  { carrier, route }: Candidate,
  outcome: Outcome,
  repeats: boolean,
): Promise<unknown> {
  const { clock, claimYield: claimed } = deps;
  const at = clock.now();
  const nextTryAt = nextTryOf(message, outcome, repeats || carrier.repeatsSafely === true, at);
  const answer = answerEntryOf(carrier.name, outcome, at);
  const timeline = encodeTimeline(isEnd(outcome) ? answer : { ...answer, nextTryAt });
  const move = { ...refOf(message), at, owner: UNOWNED, carrier: carrier.name, timeline };
  switch (outcome.kind) {
    case "taken": {
      // It does not count where the message was rerouted meanwhile.
      const submitAck = { ...move, channel: message.channel };
      const step = isMetered(deps, message) ? submitAck : { ...submitAck, expected: expectedOf(message) };
      const { sendsNoReceipts } = carrier;
      const failoverAfterSeconds = route?.content.failoverAfterSeconds;
      return recordSubmitted(deps, message, step, outcome, { failoverAfterSeconds, sendsNoReceipts });
    }
    case "refused":
      return recordRefused(deps, message, { ...move, ...fence }, outcome);
    case "busy":
    case "down":
      if (outcome.kind === "down") claimed.recordDeferred(message);
      return transitionBatcherFor(deps, message).add({
        ...move,
        kind: "deferred",
        // A repeat that was not taken says nothing about the first attempt, which stays unconfirmed.
        ...(message.state === "submitting" ? { to: "submitting", repeat: -1 } : { to: "accepted" }),
        ...fence,
        dueAt: nextTryAt,
      });
    case "unknown":
    default:
      return recordUnknown(deps, message, { ...move, ...fence, dueAt: nextTryAt }, outcome);
  }
}

async function recordRefused(
  deps: DispatchDeps,
  message: Message,
  step: Omit<Deferred, "kind" | "to"> & Fence,
  { fault, code: errorCode, description }: Extract<Outcome, { kind: "refused" }>,
): Promise<void> {
  const { metrics } = deps;
  // A carrier that refuses a repeat for its own reasons says nothing about the first attempt: its receipt may still come.
  if (message.state === "submitting" && fault === "carrier") {
    await transitionBatcherFor(deps, message).add({
      ...step,
      kind: "deferred",
      to: "submitting",
      dueAt: message.expiresAt,
      repeat: -1,
    });
    return;
  }
  const fallback = await findFallback(deps, message);
  if (fallback) {
    await switchToFallback(deps, message, fallback, step.ownedBy, description, step.timeline);
    return;
  }
  const { moved } = await transitionBatcherFor(deps, message).add({
    ...step,
    kind: "ended",
    to: "rejected",
    errorCode,
    description,
  });
  if (moved) metrics.moves("rejected").inc();
}

/** The store has to read the row of a metered account to settle its credits. */
const isMetered = ({ accountOf }: DispatchDeps, { accountId }: Message): boolean =>
  accountOf(accountId)?.settings.credits === "metered";

const isEnd = ({ kind }: Outcome): boolean => kind === "taken" || kind === "refused";
