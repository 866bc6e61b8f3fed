import type { Carrier, Carriers, Outcome } from "../carriers/carrier.ts";
import type { Log } from "../lib/log.ts";
import type { Seal } from "../lib/seal.ts";
import {
  FAILURES,
  isFinal,
  isSealed,
  mediaOf,
  messageIdOf,
  type Message,
  type MessageContent,
  type RouteClass,
} from "../model/message.ts";
import { writeTrail, type PassedOver } from "../model/trail.ts";
import { NOBODY, type Move } from "../store/store.ts";
import type { Gates } from "../work/gates.ts";
import type { Membership } from "../work/membership.ts";
import { candidatesFor, type Candidate, type Choice } from "./choose-route.ts";
import { asText, callBack, fallbackDueAt, mayFallBack, notPastFallback } from "./fall-back.ts";
import { judgeAgain, type JudgeAgainNeeds } from "./judge-again.ts";
import { answerOf, erasing, movesFor, noteInDoubt, noteTaken, refOf } from "./note-taken.ts";
import type { ReportNeeds } from "./report.ts";

/** Pauses before the next try, by tries made; each is spread by a fifth so that a carrier's return is not a stampede. */
const RETRY_PAUSES_MS = [1000, 5000, 15_000, 60_000, 300_000];
/** A line that is down may be back at any moment, and what is urgent must not sleep past it. */
const LONGEST_WAIT_FOR_LINE_MS: Readonly<Record<RouteClass, number>> = { OTP: 5000, TRANS: 30_000, PROMO: 300_000 };

/**
 * A message in doubt is sent again so often, once after each pause: by then a carrier that takes messages and does not say so
 * has several of it. From then on it waits for its receipt.
 */
const REPEATS_MAX = RETRY_PAUSES_MS.length;

const ASK_AGAIN_MS = 1000;
/** How long a message stays out of this node's hands when it is others' to send. */
const LEFT_TO_OTHERS_MS = 500;
/** A carrier that stays down is noted on the trail so often, and then only waited for. */
const NOTED_TRIES = 5;

export interface DispatchNeeds extends ReportNeeds, Pick<JudgeAgainNeeds, "media" | "endOfCode"> {
  store: ReportNeeds["store"] & JudgeAgainNeeds["store"];
  membership: Membership;
  carriers: Carriers;
  gates: Gates;
  log: Log;
  /** Opens what lies sealed in the store until it is sent. */
  seal: Pick<Seal, "open">;
}

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
  try {
    await judgeAndSend(needs, message, admittedTo, passed);
  } finally {
    for (const carrier of passed) needs.gates.leave(carrier);
  }
}

/** Every carrier whose gate the message passes on the way is added to `passed`. */
async function judgeAndSend(
  needs: DispatchNeeds,
  message: Message,
  admittedTo: string | null,
  passed: string[],
): Promise<void> {
  const { membership, gates, clock, log } = needs;
  const now = clock.now();
  const { node } = membership;
  const inDoubt = message.state === "submitting";

  if (now >= message.expiresAt) return end(needs, message, node, inDoubt ? "unknown" : "expired");
  const { usable, passedOver, elsewhere, repeats } = candidatesFor(needs, message, admittedTo);
  // Its carrier has been busy, down or silent about it for as long as whoever sent it wanted to wait.
  const isOverdue = message.attempts > 0 && now >= (fallbackDueAt(message) ?? Infinity);
  if (isOverdue && (await mayFallBack(needs, message))) {
    // The carrier may have it all the same: it was handed over, and the answer was lost or not believed.
    if (await turnToText(needs, message, node, "Not sent in time")) callBack(needs, message);
    return;
  }
  if (inDoubt && !mayRepeat(message, repeats))
    return hold(needs, message, node, notPastFallback(message, now, message.expiresAt));
  let second: Awaited<ReturnType<typeof judgeAgain>> = null;
  try {
    if (!inDoubt) second = await judgeAgain(needs, message);
  } catch (error) {
    log.warn({ err: error, messageId: messageIdOf(message) }, "policies could not be asked, message waits");
    return wait(needs, message, node, now + ASK_AGAIN_MS);
  }
  if (second) return stopShort(needs, message, node, second);
  if (clock.now() >= message.expiresAt) return end(needs, message, node, inDoubt ? "unknown" : "expired");

  // Nobody's again, so that a node that has the line may take it; nothing has been tried.
  if (elsewhere) return wait(needs, message, node, clock.now() + LEFT_TO_OTHERS_MS);
  const [first] = usable;
  if (!first) return waitForRoute(needs, message, node, passedOver);
  if (first.carrier.name !== admittedTo) {
    if (!gates.admit(first.carrier, message)) return;
    passed.push(first.carrier.name);
  }
  return tryEach(needs, message, node, { usable, passedOver, repeats, passed });
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

/** Leaves a message as it is until a later time: nothing has been done with it. */
async function wait({ commits, clock }: DispatchNeeds, message: Message, node: number, dueAt: number): Promise<void> {
  const at = clock.now();
  await commits.move.add({ ...refOf(message), to: message.state, at, owner: NOBODY, ownedBy: node, dueAt });
}

interface Progress {
  /** Carriers whose gates it has passed. */
  passed: string[];
  /** Its row says already that the first carrier is about to have it. */
  isIntended?: boolean;
}

/**
 * Tries the carriers in their order. The intent is committed first: after a crash, a row in `accepted` was certainly not sent,
 * and a row in `submitting` may have been.
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
    const intent: Move = {
      ...refOf(message),
      to: "submitting",
      at,
      owner: node,
      ownedBy: node,
      carrier: carrier.name,
      attempt: true,
      // Counted before it is sent, as everything is: one that ends the process each time ends with the count.
      ...(inDoubt && place === 0 ? { repeat: 1 } : {}),
      trail: attemptStep(candidate, passedOver, at),
    };
    const isWritten = place === 0 && isIntended;
    if (!isWritten && !(await movesFor(needs, message).add(intent)).moved) return;
    if (!membership.alive)
      return inDoubt ? hold(needs, message, node, at, { repeat: -1 }) : putBack(needs, message, node, at);

    if (inDoubt) meters.ambiguous(message.routeClass).inc();
    if (place === 0) meters.queueMs(message.routeClass).observe(clock.now() - message.dueAt);
    const outcome = await submit(needs, carrier, message);
    meters.outcomes(carrier.name, outcome.kind).inc();
    const isLast = place === usable.length - 1;
    if (isLast || !mayTryNext(outcome)) return conclude(needs, message, node, candidate, outcome, repeats);
    passedOver.push({ route: route?.name ?? "", carrier: carrier.name, reason: describe(outcome) });
  }
}

const attemptStep = ({ route, carrier }: Candidate, passedOver: readonly PassedOver[], at: number): string =>
  writeTrail({ at, step: "attempt", route: route?.name ?? "test key", carrier: carrier.name, passedOver });

/** The carrier certainly does not have the message, for reasons that another carrier need not share. */
const mayTryNext = (outcome: Outcome): boolean =>
  outcome.kind === "down" || (outcome.kind === "refused" && outcome.fault === "carrier");

const describe = (outcome: Outcome): string => ("description" in outcome ? outcome.description : outcome.kind);

/** A carrier that throws has told us nothing about the message, which is what `unknown` means. */
async function submit({ log, seal }: DispatchNeeds, carrier: Carrier, message: Message): Promise<Outcome> {
  try {
    return await carrier.submit(opened(seal, message));
  } catch (error) {
    log.warn({ err: error, carrier: carrier.name, messageId: messageIdOf(message) }, "carrier threw");
    return { kind: "unknown", description: error instanceof Error ? error.message : String(error) };
  }
}

/** A message with its words, which are in nobody's hands but the carrier's from here on. */
function opened(seal: Pick<Seal, "open">, message: Message): Message {
  if (!isSealed(message.content)) return message;
  return { ...message, content: JSON.parse(seal.open(message.content.sealed)) as MessageContent };
}

/**
 * Writes what the carrier answered. That it was taken is true whoever owns the row by now; anything else is ours to say
 * only while the row is still ours, because another node may be sending it. Next: src/messages/report.ts
 */
async function conclude(
  needs: DispatchNeeds,
  message: Message,
  node: number,
  { carrier, route }: Candidate,
  outcome: Outcome,
  repeats: boolean,
): Promise<void> {
  const { commits, clock, meters } = needs;
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
      return noteTaken(needs, message, {
        ...move,
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

const isEnd = ({ kind }: Outcome): boolean => kind === "taken" || kind === "refused";

/** An RCS message that will not arrive as such goes on as the text that was given for this case. */
async function turnToText(
  { commits, clock }: DispatchNeeds,
  message: Message,
  node: number,
  reason: string,
  answer = "",
): Promise<boolean> {
  const step = asText(message, clock.now(), reason);
  return (await commits.move.add({ ...step, ownedBy: node, trail: answer + step.trail })).moved;
}

/** When the message is looked at again. One in doubt that must not be sent twice waits for its receipt as long as it is valid. */
function nextTryOf(message: Message, outcome: Outcome, repeats: boolean, at: number): number {
  const wasRepeat = message.state === "submitting";
  const sofar = wasRepeat ? { ...message, repeats: message.repeats + 1 } : message;
  if (outcome.kind === "unknown" && !mayRepeat(sofar, repeats)) return notPastFallback(message, at, message.expiresAt);
  const pauseMs =
    outcome.kind === "busy"
      ? (outcome.retryAfterMs ?? retryPauseMs(message))
      : outcome.kind === "down"
        ? linePauseMs(message)
        : retryPauseMs(message);
  return notPastFallback(message, at, at + pauseMs);
}

/** No carrier can be used now: if there is a route at all, the message waits for it; if there is none any more, it fails. */
async function waitForRoute(
  needs: DispatchNeeds,
  message: Message,
  node: number,
  passedOver: readonly PassedOver[],
): Promise<void> {
  const { commits, clock, meters } = needs;
  const at = clock.now();
  const step = writeTrail({ at, step: "attempt", route: "none", carrier: "none", passedOver });
  const trail = message.attempts < NOTED_TRIES ? step : "";
  const move = { ...refOf(message), at, owner: NOBODY, ownedBy: node, trail };
  if (passedOver.length > 0 || message.state === "submitting") {
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
async function stopShort(
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
async function putBack({ commits }: DispatchNeeds, message: Message, node: number, at: number): Promise<void> {
  await commits.move.add({ ...refOf(message), to: "accepted", at, owner: NOBODY, ownedBy: node, dueAt: at });
}

async function end(
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

/**
 * A second password or order confirmation is a nuisance, a missing one is a failure; a second advertisement is the worse of the
 * two, unless the route says otherwise or the carrier knows a repeat. A sixth of anything is too many.
 */
const mayRepeat = (message: Message, repeats: boolean): boolean =>
  message.repeats < REPEATS_MAX && (message.routeClass !== "PROMO" || repeats);

function retryPauseMs(message: Message): number {
  const pause = RETRY_PAUSES_MS[Math.min(message.attempts, RETRY_PAUSES_MS.length - 1)] ?? 0;
  return Math.round(pause * (0.8 + Math.random() * 0.4));
}

const linePauseMs = (message: Message): number =>
  Math.min(retryPauseMs(message), LONGEST_WAIT_FOR_LINE_MS[message.routeClass]);
