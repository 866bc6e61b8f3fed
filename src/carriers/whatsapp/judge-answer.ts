import type { Exchange } from "../exchange.ts";
import type { Verdict } from "../standing.ts";
import { meaningOf, type ErrorClass } from "./error-codes.ts";
import { fieldsOf, jsonOf, listOf, wholeOf, wordsOf } from "./read-json.ts";

export interface JudgeNeeds {
  /** How often the message was tried. */
  attempts: number;
  /** The recipient was sent too much: how long to wait now. */
  pairRefused(): number;
  /** Takes out of the platform's words what must not be shown. */
  hide(words: string): string;
}

/** So many tries for what may be about the message itself. */
const BOUNDED_TRIES = 8;
const SELDOM_MS = 60_000;
const QUOTA_PAUSE_MS = 60_000;
const RETRY_AFTER_MAX_MS = 3_600_000;
const DETAILS_MAX = 300;

/**
 * What became of a message by the answer to its request. The platform has no way to recognise a request that is repeated, so
 * whatever leaves open whether it has taken the message is `unknown`: also an error of a server in between or of the
 * platform's own, which may come after its yes.
 */
export function judgeAnswer(needs: JudgeNeeds, exchange: Exchange): Verdict {
  if (exchange.kind === "unreached")
    return { outcome: { kind: "down", description: `The platform cannot be reached: ${needs.hide(exchange.reason)}` } };
  if (exchange.kind === "broken")
    return { outcome: { kind: "unknown", description: `The answer did not come: ${needs.hide(exchange.reason)}` } };
  const { status, retryAfter, text } = exchange;
  const answer = fieldsOf(jsonOf(text));
  const error = fieldsOf(answer["error"]);
  const code = wholeOf(error["code"]);
  const retryAfterMs = retryAfterOf(retryAfter);
  if (code !== null) return judgeError(needs, { status, code, details: detailsOf(needs, error), retryAfterMs });
  if (status >= 200 && status < 300) return judgeYes(answer);
  if (status === 429)
    return {
      outcome: { kind: "busy", ...(retryAfterMs === null ? {} : { retryAfterMs }) },
      code: "HTTP 429",
      line: "throttled",
      ...(retryAfterMs === null ? {} : { pauseMs: retryAfterMs }),
    };
  return judgeStatus(status);
}

/** Also what is held back until its quality has been judged is the platform's now: its report says what becomes of it. */
function judgeYes(answer: Readonly<Record<string, unknown>>): Verdict {
  const [message] = listOf(answer["messages"]);
  const carrierMessageId = wordsOf(fieldsOf(message)["id"]);
  if (carrierMessageId === null)
    return {
      outcome: { kind: "unknown", description: "The platform said yes, and no id under which it has the message" },
    };
  return { outcome: { kind: "taken", carrierMessageId } };
}

/** An answer that is not the platform's own: of somebody in between, or of another server altogether. */
function judgeStatus(status: number): Verdict {
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
  // Who is sent away, asked to log in, or not known there, is so with every message.
  const description = `The platform answered with ${code}: check baseUrl, version and token of the line`;
  return { outcome: { kind: "down", description }, code, line: "halted" };
}

interface GraphError {
  status: number;
  code: number;
  details: string;
  retryAfterMs: number | null;
}

/** What may be said after the message was taken, where a server says at the same time that it failed. */
const OPEN_CLASSES: ReadonlySet<ErrorClass> = new Set(["again", "bounded", "not known"]);

function judgeError(needs: JudgeNeeds, { status, code, details, retryAfterMs }: GraphError): Verdict {
  const { errorClass, description } = meaningOf(code);
  const written = String(code);
  if (status >= 500 && OPEN_CLASSES.has(errorClass))
    return { outcome: { kind: "unknown", description: description + details }, code: written };
  const busy = (usualMs?: number): Verdict => {
    const ms = retryAfterMs ?? usualMs;
    return { outcome: { kind: "busy", ...(ms === undefined ? {} : { retryAfterMs: ms }) }, code: written };
  };
  const refused = (fault: "message" | "carrier"): Verdict => ({
    outcome: { kind: "refused", fault, code: written, description: description + details },
    code: written,
  });
  switch (errorClass) {
    case "again":
      return busy();
    case "seldom":
      return busy(SELDOM_MS);
    case "bounded":
      return needs.attempts < BOUNDED_TRIES ? busy() : refused("carrier");
    case "faster than allowed":
      return { ...busy(), line: "throttled", ...(retryAfterMs === null ? {} : { pauseMs: retryAfterMs }) };
    case "quota":
      return { ...busy(QUOTA_PAUSE_MS), line: "throttled", pauseMs: retryAfterMs ?? QUOTA_PAUSE_MS };
    case "pair":
      return busy(needs.pairRefused());
    case "halted":
      return { outcome: { kind: "down", description }, code: written, line: "halted" };
    // What the number's trouble means for its messages is the line's to say; to the line itself it is an answer like any.
    case "number":
    case "message":
    case "carrier":
    case "not known":
    default:
      return refused(errorClass === "message" ? "message" : "carrier");
  }
}

/** The platform's own words for what is wrong with this very message; its titles may go away and are not read. */
function detailsOf({ hide }: JudgeNeeds, error: Readonly<Record<string, unknown>>): string {
  const details = wordsOf(fieldsOf(error["error_data"])["details"]);
  return details === null
    ? ""
    : `: ${hide(details.replaceAll(/\p{Cc}+/gu, " "))
        .slice(0, DETAILS_MAX)
        .toWellFormed()}`;
}

/** In seconds; a date says no more than that it is busy. */
function retryAfterOf(written: string | null): number | null {
  if (written === null || !/^\d{1,9}$/.test(written)) return null;
  const ms = Number(written) * 1000;
  return ms === 0 ? null : Math.min(RETRY_AFTER_MAX_MS, ms);
}
