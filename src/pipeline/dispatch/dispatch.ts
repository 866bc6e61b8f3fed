import type { Carrier, MaySend, Outcome } from "../../carriers/carrier.ts";
import { mediaOf, messageIdOf, type Message } from "../../model/message.ts";
import { encodeTimeline, type SkippedRoute, type TimelineEntry } from "../../model/timeline.ts";
import type { Submitting } from "../../store/transition.ts";
import { candidatesFor, type Candidate, type Choice } from "./choose-route.ts";
import { recordOutcome } from "./record-outcome.ts";
import type { DispatchDeps } from "./dispatch-deps.ts";
import { revokeFromCarrier, fallbackDueAt, findFallback, noLaterThanFallback } from "./fallback.ts";
import { isStoppable, recheckPolicies } from "../policy/recheck.ts";
import { expectedOf, transitionBatcherFor, refOf } from "./record-submitted.ts";
import {
  endExpired,
  holdUnconfirmed,
  revertIntent,
  applyRecheck,
  switchToFallback,
  deferUnchanged,
  waitForRoute,
  type Fence,
} from "./defer.ts";
import { createSendCheck, handleRefusedIntent, renewLease, type SendLease } from "./send-lease.ts";
import { mayRepeat } from "./retry.ts";

const ASK_AGAIN_MS = 1000;
/** A message that only other nodes can send is not claimed here for this long. */
const LEFT_TO_OTHERS_MS = 500;

/**
 * Submits one message to its carrier, or to the next one if the first is down or refuses it. A message over the carrier's
 * rate waits in the carrier limiter and comes back with `admittedTo`. Next: src/carriers/carrier.ts
 */
export async function dispatch(deps: DispatchDeps, message: Message, admittedTo: string | null = null): Promise<void> {
  const turns: Turn[] = admittedTo === null ? [] : [{ carrier: admittedTo, isUsed: false }];
  const { node } = deps.membership;
  try {
    const choice = await chooseCandidates(deps, message, node, admittedTo);
    const [first] = choice?.usable ?? [];
    if (!choice || !first) return;
    if (first.carrier.name !== admittedTo) {
      if (!deps.carrierLimiter.acquire(first.carrier, message)) return;
      turns.push({ carrier: first.carrier.name, isUsed: false });
    }
    await tryCandidates(deps, message, node, { ...choice, turns });
  } finally {
    releaseTurns(deps, message, turns);
  }
}

/** A slot of the carrier limiter. */
interface Turn {
  carrier: string;
  /** The message was handed to the carrier. */
  isUsed: boolean;
}

/** Refunds unused slots: a message that was stopped takes nothing of the carrier's rate. */
function releaseTurns({ carrierLimiter }: DispatchDeps, message: Message, turns: readonly Turn[]): void {
  for (const { carrier, isUsed } of turns) {
    if (isUsed) carrierLimiter.release(carrier);
    else carrierLimiter.refund(carrier, message);
  }
}

/** Rechecks the policies and returns the carriers in order. Null means that the message stops here, and why is written. */
async function chooseCandidates(
  deps: DispatchDeps,
  message: Message,
  node: number,
  admittedTo: string | null,
): Promise<Choice | null> {
  const { clock, log } = deps;
  let now = clock.now();
  const inDoubt = message.state === "submitting";

  if (now >= message.expiresAt) return noneAfter(endExpired(deps, message, node, inDoubt ? "unknown" : "expired"));
  const choice = candidatesFor(deps, message, admittedTo);
  // The carrier was busy, down or silent until the time of the fallback.
  const isOverdue = message.attempts > 0 && now >= (fallbackDueAt(message) ?? Infinity);
  if (isOverdue) {
    const fallback = await findFallback(deps, message, { isCarrierDown: choice.usable.length === 0 });
    if (fallback) {
      // The carrier may have the message although its answer was lost.
      if (await switchToFallback(deps, message, fallback, node, "Not sent in time")) revokeFromCarrier(deps, message);
      return null;
    }
    now = clock.now();
  }
  if (inDoubt && !mayRepeat(message, choice.allowsRepeat)) {
    const fence = { ownedBy: node, attemptIs: message.attempts };
    return noneAfter(holdUnconfirmed(deps, message, fence, noLaterThanFallback(message, now, message.expiresAt)));
  }
  let second: Awaited<ReturnType<typeof recheckPolicies>> = null;
  try {
    const decision = inDoubt ? null : recheckPolicies(deps, message, now);
    second = decision instanceof Promise ? await decision : decision;
    if (decision instanceof Promise) now = clock.now();
  } catch (error) {
    log.warn({ err: error, messageId: messageIdOf(message) }, "policy recheck failed, message deferred");
    return noneAfter(deferUnchanged(deps, message, node, now + ASK_AGAIN_MS));
  }
  if (second) return noneAfter(applyRecheck(deps, message, node, second));
  if (now >= message.expiresAt) return noneAfter(endExpired(deps, message, node, inDoubt ? "unknown" : "expired"));

  // Unowned again, so that a node with a connection to the carrier claims it. Nothing was tried.
  if (choice.isFirstElsewhere)
    return noneAfter(deferUnchanged(deps, message, node, now + LEFT_TO_OTHERS_MS, { leftToOthers: true }));
  if (choice.usable.length === 0) return noneAfter(waitForRoute(deps, message, node, choice.passedOver));
  return choice;
}

async function noneAfter(written: Promise<void>): Promise<null> {
  await written;
  return null;
}

/** The carriers of a message that is submitted as soon as it is stored. */
export interface DispatchPlan extends Choice {
  carrier: string;
  /** The timeline entry of the attempt, which is stored with the message. */
  timeline: string;
}

/**
 * Direct dispatch: chooses the carrier before the message is stored, so that the first row is the intent and saves a write.
 * Null if the message has to wait. After a crash such a row is unconfirmed, so only a message that may be repeated qualifies.
 * The plan holds a slot of the carrier limiter until `sendPlanned` or `Dispatcher.cancelReservation`.
 */
export function planDirectDispatch(deps: DispatchDeps, message: Message): DispatchPlan | null {
  const choice = candidatesFor(deps, message);
  const [first] = choice.usable;
  if (!first || choice.isFirstElsewhere || !mayRepeat(message, choice.allowsRepeat)) return null;
  // A promotion or a campaign may be stopped at any moment, and a media file may not have been checked yet.
  if (isStoppable(message) || mediaOf(message.content) !== null) return null;
  if (deps.clock.now() >= message.expiresAt || !deps.carrierLimiter.tryAcquire(first.carrier, message)) return null;
  const timeline = attemptStep(first, choice.passedOver, message.createdAt);
  return { ...choice, carrier: first.carrier.name, timeline };
}

/** Submits a message that was stored with its intent. Next: src/carriers/carrier.ts */
export async function sendPlanned(deps: DispatchDeps, message: Message, plan: DispatchPlan): Promise<void> {
  const turns: Turn[] = [{ carrier: plan.carrier, isUsed: false }];
  const { node } = deps.membership;
  try {
    if (deps.clock.now() >= message.expiresAt) await endExpired(deps, message, node, "expired");
    else await tryCandidates(deps, message, node, { ...plan, turns, isIntended: true });
  } finally {
    releaseTurns(deps, message, turns);
  }
}

interface Progress {
  /** Slots acquired so far; the last one is for the carrier that is tried. */
  turns: Turn[];
  /** The row already holds the intent for the first carrier. */
  isIntended?: boolean;
}

/**
 * Tries the carriers in order. The intent is committed first: after a crash, a row in `accepted` was certainly not sent, and a
 * row in `submitting` may have been. Next: src/pipeline/dispatch/record-outcome.ts
 */
async function tryCandidates(
  deps: DispatchDeps,
  message: Message,
  node: number,
  {
    usable,
    passedOver: before,
    allowsRepeat: repeats,
    turns,
    isIntended = false,
  }: Omit<Choice, "elsewhere"> & Progress,
): Promise<void> {
  const { membership, carrierLimiter, clock, metrics } = deps;
  const inDoubt = message.state === "submitting";
  const passedOver = [...before];
  for (const [place, candidate] of usable.entries()) {
    const { carrier, route } = candidate;
    const at = clock.now();
    const attemptIs = message.attempts + place;
    // The first carrier's slot is taken already; the next carrier has its own rate.
    if (place > 0) {
      // A repeat that the carrier before did not take says nothing about the first attempt.
      if (!carrierLimiter.tryAcquire(carrier, message))
        return undoIntent(deps, message, { ownedBy: node, attemptIs }, at + ASK_AGAIN_MS);
      turns.push({ carrier: carrier.name, isUsed: false });
    }
    const isWritten = place === 0 && isIntended;
    let lease: SendLease | null = isStoppable(message) ? deps.stopGuard.issueLease(message) : null;
    if (!isWritten) {
      // A repeat is counted before it is sent: a message that ends the process each time ends with the count.
      const isRepeat = inDoubt && place === 0;
      const intent: Submitting = {
        ...refOf(message),
        kind: "submitting",
        at,
        owner: node,
        ownedBy: node,
        carrier: carrier.name,
        attemptIs,
        timeline: attemptStep(candidate, passedOver, at),
        expected: expectedOf(message),
      };
      if (lease) intent.unlessStopped = true;
      const counted: Submitting = isRepeat ? { ...intent, expected: undefined, repeat: 1 } : intent;
      if (!(await transitionBatcherFor(deps, message).add(counted)).moved) {
        if (!lease) return;
        // After the first carrier the row is in `submitting` already.
        return place === 0
          ? handleRefusedIntent(deps, message, node)
          : undoIntent(deps, message, { ownedBy: node, attemptIs });
      }
    }
    const fence = { ownedBy: node, attemptIs: attemptIs + 1 };
    // The others may have expired this node while the intent was written. After it has joined again it is alive under a new
    // id, and the row is still the old id's: any node may claim it.
    if (!membership.alive || membership.node !== node) return undoIntent(deps, message, fence, at);

    if (lease && !lease()) {
      lease = await renewLease(deps, message);
      if (!lease) return undoIntent(deps, message, fence);
    }
    const mayLeave = lease ? createSendCheck(lease) : undefined;

    if (candidate.isLiveSimulated) deps.simulatedLive.record(message, route?.name ?? "");
    if (inDoubt) metrics.ambiguous(message.routeClass).inc();
    if (place === 0) metrics.queueSeconds(message.routeClass).observe((clock.now() - message.dueAt) / 1000);
    const outcome = await submit(deps, carrier, message, mayLeave);
    if (mayLeave?.isWithdrawn()) return undoIntent(deps, message, fence);
    const turn = turns.at(-1);
    if (turn) turn.isUsed = true;
    metrics.outcomes(carrier.name, outcome.kind).inc();
    const isLast = place === usable.length - 1;
    if (isLast || !mayTryNext(outcome))
      return void (await recordOutcome(deps, message, fence, candidate, outcome, repeats));
    passedOver.push({ route: route?.name ?? "", carrier: carrier.name, reason: describe(outcome) });
  }
}

function attemptStep(
  { route, carrier, isLiveSimulated }: Candidate,
  passedOver: readonly SkippedRoute[],
  at: number,
): string {
  const step = { at, step: "attempt", route: route?.name ?? "test key", carrier: carrier.name, passedOver } as const;
  if (isLiveSimulated) return encodeTimeline({ ...step, simulated: true });
  return passedOver.length > 0 ? encodeTimeline(step) : memoizedStep(step);
}

let last = { at: Number.NaN, route: "", carrier: "", written: "" };

/** Memo of the last entry: many messages take the same route within a millisecond. */
function memoizedStep(step: Extract<TimelineEntry, { step: "attempt" }>): string {
  const { at, route, carrier } = step;
  if (last.at !== at || last.route !== route || last.carrier !== carrier)
    last = { at, route, carrier, written: encodeTimeline(step) };
  return last.written;
}

/** Undoes an intent that was not used. The next attempt checks for stops again. */
function undoIntent(deps: DispatchDeps, message: Message, fence: Fence, at: number = deps.clock.now()): Promise<void> {
  return message.state === "submitting"
    ? holdUnconfirmed(deps, message, fence, at, { repeat: -1 })
    : revertIntent(deps, message, fence, at);
}

/** The carrier certainly does not have the message, for a reason that may not apply to another carrier. */
const mayTryNext = (outcome: Outcome): boolean =>
  outcome.kind === "down" || (outcome.kind === "refused" && outcome.fault === "carrier");

const describe = (outcome: Outcome): string => ("description" in outcome ? outcome.description : outcome.kind);

/** An exception does not say whether the carrier has the message: the outcome is `unknown`. */
async function submit(
  { log, encryptedTexts: words }: DispatchDeps,
  carrier: Carrier,
  message: Message,
  mayLeave: (MaySend & { isWithdrawn(): boolean }) | undefined,
): Promise<Outcome> {
  try {
    return await carrier.submit(decrypted(words, message), mayLeave);
  } catch (error) {
    if (mayLeave?.isWithdrawn()) return { kind: "busy" };
    log.warn({ err: error, carrier: carrier.name, messageId: messageIdOf(message) }, "carrier submit failed");
    return { kind: "unknown", description: error instanceof Error ? error.message : String(error) };
  }
}

function decrypted(words: DispatchDeps["encryptedTexts"], message: Message): Message {
  const content = words.decrypt(message.content);
  return content === message.content ? message : { ...message, content };
}
