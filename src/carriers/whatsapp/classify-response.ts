import type { HttpExchange } from "../http-exchange.ts";
import type { HealthVerdict } from "../connection-health.ts";
import { meaningOf, type ErrorClass } from "./error-codes.ts";
import { fieldsOf, jsonOf, listOf, wholeOf, stringOf } from "./read-json.ts";

export interface ClassifyWhatsappDeps {
  /** Earlier attempts of the message. */
  attempts: number;
  /** Records a pair rate limit and returns the wait. */
  pairRefused(): number;
  /** Removes secrets and numbers from the platform's text. */
  hide(text: string): string;
}

/** Attempts for errors that may be caused by the message itself. */
const ATTEMPTS_MAX = 8;
const SELDOM_MS = 60_000;
const QUOTA_PAUSE_MS = 60_000;
const RETRY_AFTER_MAX_MS = 3_600_000;
const DETAILS_MAX = 300;

/**
 * Classifies a submit response. The platform does not deduplicate, so every response that leaves open whether it accepted
 * the message is `unknown`. This includes errors of proxies and of the platform itself, which may follow an acceptance.
 */
export function classifyWhatsappResponse(deps: ClassifyWhatsappDeps, exchange: HttpExchange): HealthVerdict {
  if (exchange.kind === "unreached")
    return { outcome: { kind: "down", description: `The platform cannot be reached: ${deps.hide(exchange.reason)}` } };
  if (exchange.kind === "broken")
    return { outcome: { kind: "unknown", description: `The answer did not come: ${deps.hide(exchange.reason)}` } };
  const { status, retryAfter, text } = exchange;
  const body = fieldsOf(jsonOf(text));
  const error = fieldsOf(body["error"]);
  const code = wholeOf(error["code"]);
  const retryAfterMs = retryAfterOf(retryAfter);
  if (code !== null) return classifyError(deps, { status, code, details: detailsOf(deps, error), retryAfterMs });
  if (status >= 200 && status < 300) return classifySuccess(body);
  if (status === 429)
    return {
      outcome: { kind: "busy", ...(retryAfterMs === null ? {} : { retryAfterMs }) },
      code: "HTTP 429",
      effect: "throttled",
      ...(retryAfterMs === null ? {} : { pauseMs: retryAfterMs }),
    };
  return classifyStatus(status);
}

/** A message held for quality assessment counts as accepted; its status webhook reports the outcome. */
function classifySuccess(body: Readonly<Record<string, unknown>>): HealthVerdict {
  const [message] = listOf(body["messages"]);
  const carrierMessageId = stringOf(fieldsOf(message)["id"]);
  if (carrierMessageId === null)
    return {
      outcome: { kind: "unknown", description: "The platform said yes, and no id under which it has the message" },
    };
  return { outcome: { kind: "taken", carrierMessageId } };
}

/** A response without an error object comes from a proxy or another server. */
function classifyStatus(status: number): HealthVerdict {
  const code = `HTTP ${status}`;
  if (status >= 500 || status === 408)
    return { outcome: { kind: "unknown", description: `The platform answered with ${code} and nothing else` }, code };
  if (status === 400 || status === 413 || status === 422)
    return {
      outcome: {
        kind: "refused",
        fault: "carrier",
        code,
        description: `The platform refused the message with ${code} and does not say why`,
      },
      code,
    };
  // Redirects, missing authorisation and unknown URLs affect every message.
  const description = `The platform answered with ${code}: check baseUrl, version and token of the line`;
  return { outcome: { kind: "down", description }, code, effect: "halted" };
}

interface GraphError {
  status: number;
  code: number;
  details: string;
  retryAfterMs: number | null;
}

/** Errors that may follow an acceptance if the server reports a failure as well. */
const OPEN_CLASSES: ReadonlySet<ErrorClass> = new Set(["again", "bounded", "not known"]);

function classifyError(deps: ClassifyWhatsappDeps, { status, code, details, retryAfterMs }: GraphError): HealthVerdict {
  const { errorClass, description } = meaningOf(code);
  const written = String(code);
  if (status >= 500 && OPEN_CLASSES.has(errorClass))
    return { outcome: { kind: "unknown", description: description + details }, code: written };
  const busy = (usualMs?: number): HealthVerdict => {
    const ms = retryAfterMs ?? usualMs;
    return { outcome: { kind: "busy", ...(ms === undefined ? {} : { retryAfterMs: ms }) }, code: written };
  };
  const refused = (fault: "message" | "carrier"): HealthVerdict => ({
    outcome: { kind: "refused", fault, code: written, description: description + details },
    code: written,
  });
  switch (errorClass) {
    case "again":
      return busy();
    case "seldom":
      return busy(SELDOM_MS);
    case "bounded":
      return deps.attempts < ATTEMPTS_MAX ? busy() : refused("carrier");
    case "faster than allowed":
      return { ...busy(), effect: "throttled", ...(retryAfterMs === null ? {} : { pauseMs: retryAfterMs }) };
    case "quota":
      return { ...busy(QUOTA_PAUSE_MS), effect: "throttled", pauseMs: retryAfterMs ?? QUOTA_PAUSE_MS };
    case "pair":
      return busy(deps.pairRefused());
    case "halted":
      return { outcome: { kind: "down", description }, code: written, effect: "halted" };
    // The caller blocks the number; for the connection this is an ordinary response.
    case "number":
    case "message":
    case "carrier":
    case "not known":
    default:
      return refused(errorClass === "message" ? "message" : "carrier");
  }
}

/** The platform's details about this message; titles are not read, because they are deprecated. */
function detailsOf({ hide }: ClassifyWhatsappDeps, error: Readonly<Record<string, unknown>>): string {
  const details = stringOf(fieldsOf(error["error_data"])["details"]);
  return details === null
    ? ""
    : `: ${hide(details.replaceAll(/\p{Cc}+/gu, " "))
        .slice(0, DETAILS_MAX)
        .toWellFormed()}`;
}

/** In seconds; a date is ignored. */
function retryAfterOf(written: string | null): number | null {
  if (written === null || !/^\d{1,9}$/.test(written)) return null;
  const ms = Number(written) * 1000;
  return ms === 0 ? null : Math.min(RETRY_AFTER_MAX_MS, ms);
}
