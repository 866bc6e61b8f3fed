import { FAILURES, isFinal, type Message } from "../model/message.ts";
import { writeTrail, type PassedOver } from "../model/trail.ts";
import { NOBODY, type Move } from "../store/store.ts";
import type { DispatchNeeds } from "./dispatch-needs.ts";
import { asText, mayFallBack, notPastFallback } from "./fall-back.ts";
import type { judgeAgain } from "./judge-again.ts";
import { erasing, refOf } from "./note-taken.ts";
import { linePauseMs } from "./try-again.ts";

/** A carrier that stays down is noted on the trail so often, and then only waited for. */
const NOTED_TRIES = 5;

/** Leaves a message as it is until a later time: nothing has been done with it. */
export async function wait(
  { commits, clock }: DispatchNeeds,
  message: Message,
  node: number,
  dueAt: number,
): Promise<void> {
  const at = clock.now();
  await commits.move.add({ ...refOf(message), to: message.state, at, owner: NOBODY, ownedBy: node, dueAt });
}

/** No carrier can be used now: if there is a route at all, the message waits for it; if there is none any more, it fails. */
export async function waitForRoute(
  needs: DispatchNeeds,
  message: Message,
  node: number,
  passedOver: readonly PassedOver[],
): Promise<void> {
  const { commits, clock, meters, claimed } = needs;
  const at = clock.now();
  const step = writeTrail({ at, step: "attempt", route: "none", carrier: "none", passedOver });
  const trail = message.attempts < NOTED_TRIES ? step : "";
  const move = { ...refOf(message), at, owner: NOBODY, ownedBy: node, trail };
  if (passedOver.length > 0 || message.state === "submitting") {
    claimed.putOff(message);
    // Counted as a try, so that the pauses grow.
    const dueAt = notPastFallback(message, at, at + linePauseMs(message));
    await commits.move.add({ ...move, to: message.state, attempt: true, dueAt });
    return;
  }
  if (await mayFallBack(needs, message)) {
    await turnToText(needs, message, node, FAILURES.NO_ROUTE);
    return;
  }
  const errorCode = "NO_ROUTE";
  const { moved } = await commits.move.add({ ...move, to: "rejected", errorCode, description: FAILURES[errorCode] });
  if (moved) meters.moves("rejected").inc();
}

/** A policy has changed its mind since the message was accepted. */
export async function stopShort(
  { commits, clock, meters }: DispatchNeeds,
  message: Message,
  node: number,
  { to, dueAt, extendMs, errorCode, entry }: NonNullable<Awaited<ReturnType<typeof judgeAgain>>>,
): Promise<void> {
  const { moved } = await commits.move.add({
    ...refOf(message),
    to,
    at: clock.now(),
    owner: NOBODY,
    ownedBy: node,
    ...(dueAt === undefined ? {} : { dueAt }),
    ...(extendMs === undefined ? {} : { extendMs }),
    ...(errorCode === undefined ? {} : { errorCode, description: FAILURES[errorCode] }),
    ...(entry ? { trail: writeTrail(entry) } : {}),
  });
  if (moved && isFinal(to)) meters.moves(to).inc();
}

/** Leaves a message in doubt: sent again later, or ended when its time is over and no receipt has come. */
export async function hold(
  { commits, clock }: DispatchNeeds,
  message: Message,
  node: number,
  dueAt: number,
  unsent: Pick<Move, "repeat"> = {},
): Promise<void> {
  const at = clock.now();
  await commits.move.add({ ...refOf(message), to: "submitting", at, owner: NOBODY, ownedBy: node, dueAt, ...unsent });
}

/** Undoes an intent that nothing came of: the message was certainly not sent and is as good as new. */
export async function putBack({ commits }: DispatchNeeds, message: Message, node: number, at: number): Promise<void> {
  await commits.move.add({ ...refOf(message), to: "accepted", at, owner: NOBODY, ownedBy: node, dueAt: at });
}

/** An RCS message that will not arrive as such goes on as the text that was given for this case. */
export async function turnToText(
  { commits, clock }: DispatchNeeds,
  message: Message,
  node: number,
  reason: string,
  answer = "",
): Promise<boolean> {
  const step = asText(message, clock.now(), reason);
  return (await commits.move.add({ ...step, ownedBy: node, trail: answer + step.trail })).moved;
}

/** Its time is over: nobody has it, or nobody knows whether somebody has. */
export async function end(
  { commits, clock, meters }: DispatchNeeds,
  message: Message,
  node: number,
  to: "unknown" | "expired",
): Promise<void> {
  const errorCode = to === "expired" ? "EXPIRED_IN_QUEUE" : "SUBMIT_UNCONFIRMED";
  const { moved } = await commits.move.add({
    ...refOf(message),
    to,
    at: clock.now(),
    owner: NOBODY,
    ownedBy: node,
    errorCode,
    description: FAILURES[errorCode],
    // Nobody sends it any more, also where a late report may still say that it has arrived.
    ...erasing(message),
  });
  if (moved) meters.moves(to).inc();
}
