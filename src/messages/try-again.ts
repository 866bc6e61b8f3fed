import type { Outcome } from "../carriers/carrier.ts";
import type { Message, RouteClass } from "../model/message.ts";
import { notPastFallback } from "./fall-back.ts";

/** Pauses before the next try, by tries made; each is spread by a fifth so that a carrier's return is not a stampede. */
const RETRY_PAUSES_MS = [1000, 5000, 15_000, 60_000, 300_000];
/** A line that is down may be back at any moment, and what is urgent must not sleep past it. */
const LONGEST_WAIT_FOR_LINE_MS: Readonly<Record<RouteClass, number>> = { OTP: 5000, TRANS: 30_000, PROMO: 300_000 };

/**
 * A message in doubt is sent again so often, once after each pause: by then a carrier that takes messages and does not say so
 * has several of it. From then on it waits for its receipt.
 */
const REPEATS_MAX = RETRY_PAUSES_MS.length;

/** When the message is looked at again. One in doubt that must not be sent twice waits for its receipt as long as it is valid. */
export function nextTryOf(message: Message, outcome: Outcome, repeats: boolean, at: number): number {
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

/**
 * A second password or order confirmation is a nuisance, a missing one is a failure; a second advertisement is the worse of the
 * two, unless the route says otherwise or the carrier knows a repeat. A sixth of anything is too many.
 */
export const mayRepeat = (message: Message, repeats: boolean): boolean =>
  message.repeats < REPEATS_MAX && (message.routeClass !== "PROMO" || repeats);

function retryPauseMs(message: Message): number {
  const pause = RETRY_PAUSES_MS[Math.min(message.attempts, RETRY_PAUSES_MS.length - 1)] ?? 0;
  return Math.round(pause * (0.8 + Math.random() * 0.4));
}

/** How long it waits for a line that is down. */
export const linePauseMs = (message: Message): number =>
  Math.min(retryPauseMs(message), LONGEST_WAIT_FOR_LINE_MS[message.routeClass]);
