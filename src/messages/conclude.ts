import type { Outcome } from "../carriers/carrier.ts";
import type { Message } from "../model/message.ts";
import { writeTrail } from "../model/trail.ts";
import { NOBODY } from "../store/store.ts";
import type { Candidate } from "./choose-route.ts";
import type { DispatchNeeds } from "./dispatch-needs.ts";
import { mayFallBack } from "./fall-back.ts";
import { answerOf, knownOf, noteInDoubt, noteTaken, refOf, type Step } from "./note-taken.ts";
import { turnToText } from "./put-off.ts";
import { nextTryOf } from "./try-again.ts";

/**
 * Writes what the carrier answered. That it was taken is true whoever owns the row by now; anything else is ours to say
 * only while the row is still ours, because another node may be sending it. Next: src/messages/report.ts
 */
export function conclude(
  needs: DispatchNeeds,
  message: Message,
  node: number,
  { carrier, route }: Candidate,
  outcome: Outcome,
  repeats: boolean,
): Promise<unknown> {
  const { commits, clock, claimed } = needs;
  const at = clock.now();
  const nextTryAt = nextTryOf(message, outcome, repeats || carrier.repeatsSafely === true, at);
  const answer = answerOf(carrier.name, outcome, at);
  const trail = writeTrail(isEnd(outcome) ? answer : { ...answer, nextTryAt });
  const move = { ...refOf(message), at, owner: NOBODY, carrier: carrier.name, trail };
  switch (outcome.kind) {
    case "taken": {
      const step = mustLook(needs, message) ? move : { ...move, known: knownOf(message) };
      const { reportsNothing } = carrier;
      const failoverAfterSeconds = route?.content.failoverAfterSeconds;
      return noteTaken(needs, message, step, outcome, { failoverAfterSeconds, reportsNothing });
    }
    case "refused":
      return noteRefused(needs, message, { ...move, ownedBy: node }, outcome);
    case "busy":
    case "down":
      if (outcome.kind === "down") claimed.putOff(message);
      return commits.move.add({
        ...move,
        // A repeat that was not taken says nothing about the first try: that one stays in doubt.
        ...(message.state === "submitting" ? { to: "submitting", repeat: -1 } : { to: "accepted" }),
        ownedBy: node,
        dueAt: nextTryAt,
      });
    case "unknown":
    default:
      return noteInDoubt(needs, message, { ...move, ownedBy: node, dueAt: nextTryAt }, outcome);
  }
}

async function noteRefused(
  needs: DispatchNeeds,
  message: Message,
  step: Step & { ownedBy: number },
  { fault, code: errorCode, description }: Extract<Outcome, { kind: "refused" }>,
): Promise<void> {
  const { commits, meters } = needs;
  // A carrier that refuses a repeat for its own reasons says nothing about the first try: its receipt may still come.
  if (message.state === "submitting" && fault === "carrier") {
    await commits.move.add({ ...step, to: "submitting", dueAt: message.expiresAt, repeat: -1 });
    return;
  }
  if (await mayFallBack(needs, message)) {
    await turnToText(needs, message, step.ownedBy, description, step.trail);
    return;
  }
  const { moved } = await commits.move.add({ ...step, to: "rejected", errorCode, description });
  if (moved) meters.moves("rejected").inc();
}

/** Whether the store has something to settle with the message, for which it has to look at it. */
const mustLook = ({ accountOf }: DispatchNeeds, { accountId }: Message): boolean =>
  accountOf(accountId)?.settings.credits === "metered";

const isEnd = ({ kind }: Outcome): boolean => kind === "taken" || kind === "refused";
