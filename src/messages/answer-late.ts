import type { LateAnswer } from "../carriers/carrier.ts";
import { carrierKey } from "../model/catalog.ts";
import { writeTrail } from "../model/trail.ts";
import { NOBODY, type StoredMessage } from "../store/store.ts";
import { routesFor } from "./choose-route.ts";
import { answerOf, noteTaken, refOf } from "./note-taken.ts";
import { NEVER, type ReportNeeds } from "./report.ts";

/**
 * Takes a carrier's answer that came when nobody waited for it any more. That a message was taken is true whatever has been
 * done since, and its ids are kept, so that receipts match. That it was not is true of this one try only: it counts while the
 * message is in doubt about that try and nobody has sent it again. Next: src/messages/report.ts
 */
export async function answerLate(needs: ReportNeeds, { message: ref, carrier, outcome }: LateAnswer): Promise<void> {
  const { store, commits, clock, meters } = needs;
  const message = await store.findMessage(ref);
  if (!message) return;
  const at = clock.now();
  const trail = writeTrail({ ...answerOf(carrier, outcome, at), late: true });
  const common = { ...refOf(message), at, owner: NOBODY, trail };
  if (outcome.kind === "taken") {
    const failoverAfterSeconds = silenceOf(needs, message, carrier);
    // A message that has gone on to another carrier stays with that one.
    return noteTaken(needs, message, { ...common, carrier, carriedBy: carrier }, outcome, { failoverAfterSeconds });
  }
  const isAlone = message.state === "submitting" && message.repeats === 0;
  const fenced = {
    ...common,
    trailAlways: true,
    // In nobody's hands, and untouched since it was read: so nobody has sent it again meanwhile.
    ownedBy: NOBODY,
    dueIs: message.dueAt,
    carriedBy: isAlone ? carrier : NEVER,
  };
  if (outcome.kind === "refused" && outcome.fault === "message") {
    const { code: errorCode, description } = outcome;
    const { moved } = await commits.move.add({ ...fenced, to: "rejected", errorCode, description });
    if (moved) meters.moves("rejected").inc();
    return;
  }
  // Certainly not sent, for a reason that may pass or that another carrier need not share: it is as good as new.
  await commits.move.add({ ...fenced, to: "accepted", dueAt: at });
}

/** How long the route that leads to this carrier may stay silent. */
function silenceOf({ catalog }: ReportNeeds, message: StoredMessage, carrier: string): number | null {
  const { accountId } = message;
  const route = routesFor(catalog.of(accountId), message).find(
    ({ content }) => carrierKey(accountId, content.carrier) === carrier,
  );
  return route?.content.failoverAfterSeconds ?? null;
}
