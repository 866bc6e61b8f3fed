import type { MediaVerdict } from "../../egress/media.ts";
import type { Account } from "../../model/account.ts";
import { isSessionOpen } from "../../model/chatapp.ts";
import type { FAILURES, RouteClass } from "../../model/message.ts";
import type { PolicyName, TimelineEntry, Verdict } from "../../model/timeline.ts";
import type { RouteContent } from "../../model/catalog.ts";
import { countryOf, isPossible } from "./country.ts";
import { quietUntil } from "./quiet-hours.ts";
import { zonesOf } from "./zones.ts";

type Failure = keyof typeof FAILURES;

/** The decision of one policy about one recipient. */
export interface PolicyDecision {
  policy: PolicyName;
  verdict: Verdict;
  detail: string;
  /** The error code of a refusal. */
  failure?: Failure;
  /** The end of the hold, for `held`. */
  until?: number;
}

/**
 * The facts that policies decide by. Acceptance knows other facts than the check before sending; a policy whose fact is absent
 * does not apply at that stage.
 */
export interface PolicyFacts {
  number: string;
  routeClass: RouteClass;
  /** The time at which the message is to be sent. */
  at: number;
  /** Limits refuse and hold; otherwise they only note what they would do on a real carrier. */
  binding: boolean;
  /** Countries that the account may send to; null means all. */
  allowedCountries?: Account["settings"]["allowedCountries"];
  optedOut?: boolean;
  /** The number was not checked for its length yet. */
  isNumberUnchecked?: boolean;
  /** Number of times that the text went to this number within the window, this one included. */
  sameText?: { count: number; max: number; windowSeconds: number } | null;
  media?: MediaVerdict;
  /** The last time the recipient wrote to the sender; null means never. Only for free-form chat messages. */
  lastWrittenAt?: number | null;
  /** The final state of the one-time password that the message carries; null while it can be used. */
  codeState?: string | null;
  quietHours?: RouteContent["quietHours"];
}

type Policy = (facts: PolicyFacts) => PolicyDecision | null;

/** Every policy, in the order of evaluation. The same list decides at acceptance and before sending. */
const POLICIES: readonly Policy[] = [
  checkCountry,
  checkOptOut,
  checkNumber,
  checkSameText,
  checkMedia,
  checkSession,
  checkCode,
  checkQuietHours,
];

/** Evaluates all policies up to the first refusal, which is the last decision then. */
export function evaluatePolicies(facts: PolicyFacts): PolicyDecision[] {
  const decisions: PolicyDecision[] = [];
  for (const check of POLICIES) {
    const decision = check(facts);
    if (!decision) continue;
    decisions.push(decision);
    if (decision.verdict === "refused") break;
  }
  return decisions;
}

function checkCountry({ allowedCountries, number }: PolicyFacts): PolicyDecision | null {
  if (!allowedCountries) return null;
  const country = countryOf(number) ?? "unknown";
  if (allowedCountries.includes(country)) return { policy: "country", verdict: "passed", detail: country };
  return refusal("country", "COUNTRY_NOT_ALLOWED", `${country} is not among ${allowedCountries.join(", ")}`);
}

function checkOptOut({ optedOut, routeClass }: PolicyFacts): PolicyDecision | null {
  if (optedOut === undefined || routeClass !== "PROMO") return null;
  if (optedOut) return refusal("opt-out", "RECIPIENT_OPTED_OUT", "The number is on the opt-out list");
  return { policy: "opt-out", verdict: "passed", detail: "Not on the list" };
}

function checkNumber({ isNumberUnchecked, number, binding }: PolicyFacts): PolicyDecision | null {
  if (!isNumberUnchecked || isPossible(number)) return null;
  return limited("number", "INVALID_RECIPIENT", "No country gives out such a number", binding);
}

function checkSameText({ sameText, binding }: PolicyFacts): PolicyDecision | null {
  if (!sameText || sameText.count <= sameText.max) return null;
  const { count, max, windowSeconds } = sameText;
  const detail = `The same text ${count} times within ${windowSeconds} s; ${max} are allowed`;
  return limited("same text", "SAME_TEXT_FLOOD", detail, binding);
}

function checkMedia({ media }: PolicyFacts): PolicyDecision | null {
  return media ? mediaRefusal(media) : null;
}

/** The refusal of a file by its type or size; null when it fits, or its server does not say. */
export function mediaRefusal(
  media: MediaVerdict,
): (PolicyDecision & { failure: "MEDIA_TYPE_UNSUPPORTED" | "MEDIA_TOO_LARGE" }) | null {
  switch (media.kind) {
    case "wrong type":
      return refusal("media", "MEDIA_TYPE_UNSUPPORTED", `Its server says ${media.found}.`);
    case "too large":
      return refusal("media", "MEDIA_TOO_LARGE", `It has ${media.bytes} bytes; at most ${media.bytesMax} are allowed.`);
    case "fine":
    case "unknown":
    default:
      return null;
  }
}

function checkSession({ lastWrittenAt, at }: PolicyFacts): PolicyDecision | null {
  return lastWrittenAt === undefined ? null : sessionRefusal(lastWrittenAt, at);
}

/** The platform takes free-form messages only within 24 hours of the recipient's last message. */
export const sessionRefusal = (lastWrittenAt: number | null, at: number): PolicyDecision | null =>
  isSessionOpen(lastWrittenAt, at)
    ? null
    : refusal("session", "SESSION_CLOSED", "The recipient has not written to this number within 24 hours");

/** A code that was used or replaced while its message waited would only confuse its reader. */
function checkCode({ codeState }: PolicyFacts): PolicyDecision | null {
  if (codeState === undefined || codeState === null) return null;
  return refusal("code", "CANCELLED", `The one-time password is ${codeState} already`);
}

function checkQuietHours({ quietHours, routeClass, number, at, binding }: PolicyFacts): PolicyDecision | null {
  if (!quietHours || routeClass !== "PROMO") return null;
  const policy = "quiet hours";
  const detail = `${quietHours.from} to ${quietHours.to} where the recipient is`;
  const until = quietUntil(quietHours, zonesOf(number), at);
  if (until === null) return { policy, verdict: "passed", detail };
  return binding ? { policy, verdict: "held", detail, until } : { policy, verdict: "noted", detail };
}

export const refusal = <F extends Failure>(
  policy: PolicyName,
  failure: F,
  detail: string,
): PolicyDecision & { failure: F } => ({ policy, verdict: "refused", detail, failure });

const limited = (policy: PolicyName, failure: Failure, detail: string, binding: boolean): PolicyDecision =>
  binding ? refusal(policy, failure, detail) : { policy, verdict: "noted", detail };

/** A decision as an entry of the message's timeline. */
export const timelineOf = ({ policy, verdict, detail, until }: PolicyDecision, at: number): TimelineEntry => ({
  at,
  step: "policy",
  policy,
  verdict,
  detail: until === undefined ? detail : `${detail}; held until ${new Date(until).toISOString()}`,
});
