import type { Carrier, Outcome } from "../carriers/carrier.ts";
import { mediaOf, messageIdOf, type Message } from "../model/message.ts";
import { writeTrail, type PassedOver, type TrailEntry } from "../model/trail.ts";
import type { Move } from "../store/store.ts";
import { candidatesFor, type Candidate, type Choice } from "./choose-route.ts";
import { conclude } from "./conclude.ts";
import type { DispatchNeeds } from "./dispatch-needs.ts";
import { callBack, fallbackDueAt, mayFallBack, notPastFallback } from "./fall-back.ts";
import { judgeAgain } from "./judge-again.ts";
import { knownOf, movesFor, refOf } from "./note-taken.ts";
import { end, hold, putBack, stopShort, turnToText, wait, waitForRoute } from "./put-off.ts";
import { mayRepeat } from "./try-again.ts";

const ASK_AGAIN_MS = 1000;
/** How long a message stays out of this node's hands when it is others' to send. */
const LEFT_TO_OTHERS_MS = 500;

/**
 * Hands one message to its carrier, or to the next one where the first is down or will not have it. A message for a carrier
 * that is at its contracted speed waits at the gate and comes back as admitted to it. Next: src/carriers/carrier.ts
 */
export async function dispatch(
  needs: DispatchNeeds,
  message: Message,
  admittedTo: string | null = null,
): Promise<void> {
  const passed = admittedTo === null ? [] : [admittedTo];
  const { node } = needs.membership;
  try {
    const choice = await chooseWay(needs, message, node, admittedTo);
    const [first] = choice?.usable ?? [];
    if (!choice || !first) return;
    if (first.carrier.name !== admittedTo) {
      if (!needs.gates.admit(first.carrier, message)) return;
      passed.push(first.carrier.name);
    }
    await tryEach(needs, message, node, { ...choice, passed });
  } finally {
    for (const carrier of passed) needs.gates.leave(carrier);
  }
}

/** Judges the message once more and gives its carriers in their order; null where it does not go on, which is written then. */
async function chooseWay(
  needs: DispatchNeeds,
  message: Message,
  node: number,
  admittedTo: string | null,
): Promise<Choice | null> {
  const { clock, log } = needs;
  let now = clock.now();
  const inDoubt = message.state === "submitting";

  if (now >= message.expiresAt) return nowhere(end(needs, message, node, inDoubt ? "unknown" : "expired"));
  const choice = candidatesFor(needs, message, admittedTo);
  // Its carrier has been busy, down or silent about it for as long as whoever sent it wanted to wait.
  const isOverdue = message.attempts > 0 && now >= (fallbackDueAt(message) ?? Infinity);
  if (isOverdue) {
    if (await mayFallBack(needs, message)) {
      // The carrier may have it all the same: it was handed over, and the answer was lost or not believed.
      if (await turnToText(needs, message, node, "Not sent in time")) callBack(needs, message);
      return null;
    }
    now = clock.now();
  }
  if (inDoubt && !mayRepeat(message, choice.repeats))
    return nowhere(hold(needs, message, node, notPastFallback(message, now, message.expiresAt)));
  let second: Awaited<ReturnType<typeof judgeAgain>> = null;
  try {
    const judged = inDoubt ? null : judgeAgain(needs, message, now);
    second = judged instanceof Promise ? await judged : judged;
    if (judged instanceof Promise) now = clock.now();
  } catch (error) {
    log.warn({ err: error, messageId: messageIdOf(message) }, "policies could not be asked, message waits");
    return nowhere(wait(needs, message, node, now + ASK_AGAIN_MS));
  }
  if (second) return nowhere(stopShort(needs, message, node, second));
  if (now >= message.expiresAt) return nowhere(end(needs, message, node, inDoubt ? "unknown" : "expired"));

  // Nobody's again, so that a node that has the line may take it; nothing has been tried.
  if (choice.elsewhere) return nowhere(wait(needs, message, node, now + LEFT_TO_OTHERS_MS));
  if (choice.usable.length === 0) return nowhere(waitForRoute(needs, message, node, choice.passedOver));
  return choice;
}

async function nowhere(written: Promise<void>): Promise<null> {
  await written;
  return null;
}

/** Where a message goes that is handed over as soon as it is stored. */
export interface Departure extends Choice {
  carrier: string;
  /** The step that its trail begins its way with. */
  trail: string;
}

/**
 * Chooses where a message goes that is about to be stored, so that its first row is its intent and costs no write of its own;
 * null where it has to wait. After a crash such a row is in doubt, so it has to be one that may be sent again. It has taken its
 * turn at the carrier's gate, which it leaves with `depart` or by `stayBehind`.
 */
export function planDeparture(needs: DispatchNeeds, message: Message): Departure | null {
  const choice = candidatesFor(needs, message);
  const [first] = choice.usable;
  if (!first || choice.elsewhere || !mayRepeat(message, choice.repeats)) return null;
  // A campaign may be stopped at any moment, and what lies behind a link may still have to be looked at.
  if (message.campaignName !== null || mediaOf(message.content) !== null) return null;
  if (needs.clock.now() >= message.expiresAt || !needs.gates.passes(first.carrier, message)) return null;
  const trail = attemptStep(first, choice.passedOver, message.createdAt);
  return { ...choice, carrier: first.carrier.name, trail };
}

/** Hands over a message that has been stored with its intent. Next: src/carriers/carrier.ts */
export async function depart(needs: DispatchNeeds, message: Message, departure: Departure): Promise<void> {
  const passed = [departure.carrier];
  const { node } = needs.membership;
  try {
    if (needs.clock.now() >= message.expiresAt) await end(needs, message, node, "expired");
    else await tryEach(needs, message, node, { ...departure, passed, isIntended: true });
  } finally {
    for (const carrier of passed) needs.gates.leave(carrier);
  }
}

interface Progress {
  /** Carriers whose gates it has passed. */
  passed: string[];
  /** Its row says already that the first carrier is about to have it. */
  isIntended?: boolean;
}

/**
 * Tries the carriers in their order. The intent is committed first: after a crash, a row in `accepted` was certainly not sent,
 * and a row in `submitting` may have been. Next: src/messages/conclude.ts
 */
async function tryEach(
  needs: DispatchNeeds,
  message: Message,
  node: number,
  { usable, passedOver: before, repeats, passed, isIntended = false }: Omit<Choice, "elsewhere"> & Progress,
): Promise<void> {
  const { membership, gates, clock, meters } = needs;
  const inDoubt = message.state === "submitting";
  const passedOver = [...before];
  for (const [place, candidate] of usable.entries()) {
    const { carrier, route } = candidate;
    const at = clock.now();
    // The first has passed its gate; the next one's contracted speed counts as well.
    if (place > 0) {
      if (!gates.passes(carrier, message)) return putBack(needs, message, node, at + ASK_AGAIN_MS);
      passed.push(carrier.name);
    }
    const isWritten = place === 0 && isIntended;
    if (!isWritten) {
      const intent: Move = {
        ...refOf(message),
        to: "submitting",
        at,
        owner: node,
        ownedBy: node,
        carrier: carrier.name,
        attempt: true,
        trail: attemptStep(candidate, passedOver, at),
        known: knownOf(message),
      };
      // Counted before it is sent, as everything is: one that ends the process each time ends with the count.
      if (inDoubt && place === 0) intent.repeat = 1;
      if (!(await movesFor(needs, message).add(intent)).moved) return;
    }
    if (!membership.alive)
      return inDoubt ? hold(needs, message, node, at, { repeat: -1 }) : putBack(needs, message, node, at);

    if (inDoubt) meters.ambiguous(message.routeClass).inc();
    if (place === 0) meters.queueMs(message.routeClass).observe(clock.now() - message.dueAt);
    const outcome = await submit(needs, carrier, message);
    meters.outcomes(carrier.name, outcome.kind).inc();
    const isLast = place === usable.length - 1;
    if (isLast || !mayTryNext(outcome)) return void (await conclude(needs, message, node, candidate, outcome, repeats));
    passedOver.push({ route: route?.name ?? "", carrier: carrier.name, reason: describe(outcome) });
  }
}

function attemptStep({ route, carrier }: Candidate, passedOver: readonly PassedOver[], at: number): string {
  const step = { at, step: "attempt", route: route?.name ?? "test key", carrier: carrier.name, passedOver } as const;
  return passedOver.length > 0 ? writeTrail(step) : recalledStep(step);
}

let last = { at: Number.NaN, route: "", carrier: "", written: "" };

/** Many messages set out by the same way within a millisecond. */
function recalledStep(step: Extract<TrailEntry, { step: "attempt" }>): string {
  const { at, route, carrier } = step;
  if (last.at !== at || last.route !== route || last.carrier !== carrier)
    last = { at, route, carrier, written: writeTrail(step) };
  return last.written;
}

/** The carrier certainly does not have the message, for reasons that another carrier need not share. */
const mayTryNext = (outcome: Outcome): boolean =>
  outcome.kind === "down" || (outcome.kind === "refused" && outcome.fault === "carrier");

const describe = (outcome: Outcome): string => ("description" in outcome ? outcome.description : outcome.kind);

/** A carrier that throws has told us nothing about the message, which is what `unknown` means. */
async function submit({ log, words }: DispatchNeeds, carrier: Carrier, message: Message): Promise<Outcome> {
  try {
    return await carrier.submit(opened(words, message));
  } catch (error) {
    log.warn({ err: error, carrier: carrier.name, messageId: messageIdOf(message) }, "carrier threw");
    return { kind: "unknown", description: error instanceof Error ? error.message : String(error) };
  }
}

/** A message with its words, which are in nobody's hands but the carrier's from here on. */
function opened(words: DispatchNeeds["words"], message: Message): Message {
  const content = words.open(message.content);
  return content === message.content ? message : { ...message, content };
}
