import type { Outcome } from "../carriers/carrier.ts";
import type { Message } from "../model/message.ts";
import { writeTrail } from "../model/trail.ts";
import { NOBODY, type Move } from "../store/store.ts";
import type { Candidate } from "./choose-route.ts";
import type { DispatchNeeds } from "./dispatch-needs.ts";
import { mayFallBack } from "./fall-back.ts";
import { answerOf, noteInDoubt, noteTaken, refOf } from "./note-taken.ts";
import { turnToText } from "./put-off.ts";
import { nextTryOf } from "./try-again.ts";

/**
 * Writes what the carrier answered. That it was taken is true whoever owns the row by now; anything else is ours to say
 * only while the row is still ours, because another node may be sending it. Next: src/messages/report.ts
 */
export async function conclude(
  needs: DispatchNeeds,
  message: Message,
  node: number,
  { carrier, route }: Candidate,
  outcome: Outcome,
  repeats: boolean,
): Promise<void> {
  const { commits, clock, meters, claimed } = needs;
  const at = clock.now();
  const nextTryAt = nextTryOf(message, outcome, repeats || carrier.repeatsSafely === true, at);
  const move = {
    ...refOf(message),
    at,
    owner: NOBODY,
    carrier: carrier.name,
    trail: writeTrail(
      isEnd(outcome) ? answerOf(carrier.name, outcome, at) : { ...answerOf(carrier.name, outcome, at), nextTryAt },
    ),
  };
  switch (outcome.kind) {
    case "taken":
      return await noteTaken(needs, message, {
        ...move,
        ...whatIsKnown(needs, message),
        taken: outcome,
        failoverAfterSeconds: route?.content.failoverAfterSeconds,
      });
    case "refused": {
      // A carrier that refuses a repeat for its own reasons says nothing about the first try: its receipt may still come.
      if (message.state === "submitting" && outcome.fault === "carrier") {
        await commits.move.add({ ...move, to: "submitting", ownedBy: node, dueAt: message.expiresAt, repeat: -1 });
        return;
      }
      const { code: errorCode, description } = outcome;
      if (await mayFallBack(needs, message)) {
        await turnToText(needs, message, node, description, move.trail);
        return;
      }
      const { moved } = await commits.move.add({ ...move, to: "rejected", ownedBy: node, errorCode, description });
      if (moved) meters.moves("rejected").inc();
      return;
    }
    case "busy":
    case "down":
      if (outcome.kind === "down") claimed.putOff(message);
      await commits.move.add({
        ...move,
        // A repeat that was not taken says nothing about the first try: that one stays in doubt.
        ...(message.state === "submitting" ? { to: "submitting", repeat: -1 } : { to: "accepted" }),
        ownedBy: node,
        dueAt: nextTryAt,
      });
      return;
    case "unknown":
      return noteInDoubt(needs, message, { ...move, unknown: outcome, ownedBy: node, dueAt: nextTryAt });
  }
}

/** So that the store need not look, where it has nothing to settle with it but the message itself. */
function whatIsKnown({ accountOf }: DispatchNeeds, message: Message): Pick<Move, "known"> {
  const { accountId, channel, routeClass, recipient } = message;
  if (accountOf(accountId)?.settings.credits === "metered") return {};
  return { known: { channel, routeClass, recipient } };
}

const isEnd = ({ kind }: Outcome): boolean => kind === "taken" || kind === "refused";
