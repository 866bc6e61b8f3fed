import type { Outcome } from "../../carriers/carrier.ts";
import type { Message, RouteClass } from "../../model/message.ts";
import { noLaterThanFallback } from "./fallback.ts";

/** Pauses by number of attempts, with 20 % jitter against a thundering herd when a carrier returns. */
const RETRY_PAUSES_MS = [1000, 5000, 15_000, 60_000, 300_000];
/** A person waits for a one-time password and asks for another after half a minute: six attempts come before that. */
const OTP_RETRY_PAUSES_MS = [500, 1000, 2000, 5000, 10_000, 15_000];
/** A carrier that is down may return at any moment, so urgent messages wait for it less long. */
const LONGEST_WAIT_FOR_LINE_MS: Readonly<Record<RouteClass, number>> = { OTP: 5000, TRANS: 30_000, PROMO: 300_000 };

/** An unconfirmed message is repeated once per pause, then it waits for its receipt: a mute carrier may have several copies. */
const REPEATS_MAX = RETRY_PAUSES_MS.length;

/** The time of the next attempt. An unconfirmed message that must not be repeated waits for its receipt until it expires. */
export function nextTryOf(message: Message, outcome: Outcome, repeats: boolean, at: number): number {
  const wasRepeat = message.state === "submitting";
  const sofar = wasRepeat ? { ...message, repeats: message.repeats + 1 } : message;
  if (outcome.kind === "unknown" && !mayRepeat(sofar, repeats))
    return noLaterThanFallback(message, at, message.expiresAt);
  return noLaterThanFallback(message, at, at + pauseMsOf(message, outcome));
}

function pauseMsOf(message: Message, outcome: Outcome): number {
  if (outcome.kind === "down") return linePauseMs(message);
  if (outcome.kind === "busy") return outcome.retryAfterMs ?? retryPauseMs(message);
  // Repeated sooner, an unconfirmed one-time password would arrive several times.
  return pauseMs(RETRY_PAUSES_MS, message);
}

/**
 * Passwords and transactions are repeated: a second copy is a nuisance, a missing one is a failure. Promotions are not, unless
 * the route allows it or the carrier recognises a repeat.
 */
export const mayRepeat = (message: Message, repeats: boolean): boolean =>
  message.repeats < REPEATS_MAX && (message.routeClass !== "PROMO" || repeats);

const retryPauseMs = (message: Message): number =>
  pauseMs(message.routeClass === "OTP" ? OTP_RETRY_PAUSES_MS : RETRY_PAUSES_MS, message);

function pauseMs(pauses: readonly number[], { attempts }: Message): number {
  const pause = pauses[Math.min(attempts, pauses.length - 1)] ?? 0;
  return Math.round(pause * (0.8 + Math.random() * 0.4));
}

export const linePauseMs = (message: Message): number =>
  Math.min(retryPauseMs(message), LONGEST_WAIT_FOR_LINE_MS[message.routeClass]);
