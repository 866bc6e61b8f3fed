import { FAILURES, unsentEnd, type Message } from "../../model/message.ts";
import { encodeTimeline, type SkippedRoute } from "../../model/timeline.ts";
import type { Fallback } from "../../model/fallback.ts";
import { UNOWNED } from "../../store/store.ts";
import type { Deferred, Ended, Submitting } from "../../store/transition.ts";
import type { DispatchDeps } from "./dispatch-deps.ts";
import { fallbackTransition, findFallback, noLaterThanFallback } from "./fallback.ts";
import type { recheckPolicies } from "../policy/recheck.ts";
import { eraseEncrypted, refOf, transitionBatcherFor } from "./record-submitted.ts";
import { linePauseMs } from "./retry.ts";

/** Attempts without a carrier appear in the timeline this often; later ones do not. */
const NOTED_TRIES = 5;

/** Fencing: the write applies only to this node's own attempt, so a repeated or late write never changes a later one. */
export type Fence = Pick<Submitting, "ownedBy" | "attemptIs">;

/** Leaves the state of a message that waits, or is in doubt, as it is. */
const waitingStep = (message: Message) =>
  ({ ...refOf(message), kind: "deferred", to: message.state as Deferred["to"], owner: UNOWNED }) as const;

/** Releases a message unchanged until a later time. */
export async function deferUnchanged(
  { commits, clock }: DispatchDeps,
  message: Message,
  node: number,
  dueAt: number,
  reason: Pick<Deferred, "leftToOthers"> = {},
): Promise<void> {
  const at = clock.now();
  const fence = { ownedBy: node, attemptIs: message.attempts };
  await transitionBatcherFor({ commits }, message).add({ ...waitingStep(message), at, ...fence, dueAt, ...reason });
}

/** The same for a caller that does not know whether the intent was committed. If it was, nothing changes and false is returned. */
export async function releaseUnsent(
  { commits, clock }: DispatchDeps,
  message: Message,
  node: number,
  dueAt: number,
): Promise<boolean> {
  const fence = { ownedBy: node, attemptIs: message.attempts };
  const release = { ...waitingStep(message), at: clock.now(), ...fence, dueAt };
  return (await transitionBatcherFor({ commits }, message).add(release)).moved;
}

/** No carrier can be used now: the message waits for one of its routes, and is rejected if it has none any more. */
export async function waitForRoute(
  deps: DispatchDeps,
  message: Message,
  node: number,
  passedOver: readonly SkippedRoute[],
): Promise<void> {
  const { commits, clock, metrics, claimYield: claimed } = deps;
  const at = clock.now();
  const step = encodeTimeline({ at, step: "attempt", route: "none", carrier: "none", passedOver });
  const timeline = message.attempts < NOTED_TRIES ? step : "";
  const move = { ...refOf(message), at, owner: UNOWNED, ownedBy: node, attemptIs: message.attempts, timeline };
  if (passedOver.length > 0 || message.state === "submitting") {
    claimed.recordDeferred(message);
    // Counted as an attempt, so that the pauses grow.
    const dueAt = noLaterThanFallback(message, at, at + linePauseMs(message));
    await transitionBatcherFor({ commits }, message).add({ ...move, ...waitingStep(message), attempt: true, dueAt });
    return;
  }
  const fallback = await findFallback(deps, message);
  if (fallback) {
    await switchToFallback(deps, message, fallback, node, FAILURES.NO_ROUTE);
    return;
  }
  const end = unsentEnd(message, "rejected", "NO_ROUTE");
  const { moved } = await transitionBatcherFor({ commits }, message).add({ ...move, kind: "ended", ...end });
  if (moved) metrics.moves(end.to).inc();
}

/** Refusals that concern one way of a message and not its recipient. */
const OF_ONE_WAY = new Set<keyof typeof FAILURES>(["SESSION_CLOSED", "MEDIA_TYPE_UNSUPPORTED", "MEDIA_TOO_LARGE"]);

/** Writes the decision of a policy that stops the message before it is sent. */
export async function applyRecheck(
  deps: DispatchDeps,
  message: Message,
  node: number,
  { to, dueAt, extendMs, errorCode, entry }: NonNullable<Awaited<ReturnType<typeof recheckPolicies>>>,
): Promise<void> {
  const { commits, clock, metrics } = deps;
  const fallback = errorCode && OF_ONE_WAY.has(errorCode) ? await findFallback(deps, message) : null;
  if (fallback && errorCode) {
    const timeline = entry ? encodeTimeline(entry) : "";
    await switchToFallback(deps, message, fallback, node, FAILURES[errorCode], timeline);
    return;
  }
  const step = {
    ...refOf(message),
    at: clock.now(),
    owner: UNOWNED,
    ownedBy: node,
    attemptIs: message.attempts,
    ...(entry ? { timeline: encodeTimeline(entry) } : {}),
  };
  if (errorCode === undefined) {
    const waits = { ...(dueAt === undefined ? {} : { dueAt }), ...(extendMs === undefined ? {} : { extendMs }) };
    await transitionBatcherFor({ commits }, message).add({
      ...step,
      kind: "deferred",
      to: to as Deferred["to"],
      ...waits,
    });
    return;
  }
  const end = unsentEnd(message, to as Ended["to"], errorCode);
  const { moved } = await transitionBatcherFor({ commits }, message).add({ ...step, kind: "ended", ...end });
  if (moved) metrics.moves(end.to).inc();
}

/** Keeps an unconfirmed message in `submitting`: it is sent again later, or ends with its validity if no receipt comes. */
export async function holdUnconfirmed(
  { commits, clock }: DispatchDeps,
  message: Message,
  fence: Pick<Deferred, "ownedBy" | "attemptIs">,
  dueAt: number,
  unsent: Pick<Deferred, "repeat"> = {},
): Promise<void> {
  const at = clock.now();
  const step = { ...refOf(message), kind: "deferred", to: "submitting", at, owner: UNOWNED } as const;
  await transitionBatcherFor({ commits }, message).add({ ...step, ...fence, dueAt, ...unsent });
}

/** Undoes an intent: the message was certainly not sent and is `accepted` again. */
export async function revertIntent(
  { commits }: DispatchDeps,
  message: Message,
  fence: Fence,
  at: number,
): Promise<void> {
  const step = { ...refOf(message), kind: "deferred", to: "accepted", at, owner: UNOWNED } as const;
  await transitionBatcherFor({ commits }, message).add({ ...step, ...fence, dueAt: at });
}

/** Continues a message as its fallback. */
export async function switchToFallback(
  { commits, clock }: DispatchDeps,
  message: Message,
  fallback: Fallback,
  node: number,
  reason: string,
  answer = "",
): Promise<boolean> {
  const step = fallbackTransition(message, fallback, clock.now(), reason);
  return (
    await transitionBatcherFor({ commits }, message).add({ ...step, ownedBy: node, timeline: answer + step.timeline })
  ).moved;
}

/** Ends a message after its validity: as `expired` before any submit, as `unknown` after one without an answer. */
export async function endExpired(
  { commits, clock, metrics }: DispatchDeps,
  message: Message,
  node: number,
  to: "unknown" | "expired",
): Promise<void> {
  const errorCode = "SUBMIT_UNCONFIRMED";
  const unconfirmed = { to, errorCode, description: FAILURES[errorCode] } as const;
  const { moved } = await transitionBatcherFor({ commits }, message).add({
    ...refOf(message),
    kind: "ended",
    at: clock.now(),
    owner: UNOWNED,
    ownedBy: node,
    ...(to === "expired" ? unsentEnd(message, to, "EXPIRED_IN_QUEUE") : unconfirmed),
    // It is never sent again, although a late receipt may still report a delivery.
    ...eraseEncrypted(message),
  });
  if (moved) metrics.moves(to).inc();
}
