import type { HttpExchange } from "../http-exchange.ts";
import type { HealthVerdict } from "../connection-health.ts";
import type { Closed } from "./access-token.ts";
import { bodyOf, errorOf, retryAfterMs } from "./parse-response.ts";

/** Effect of the response on the message and the connection. */
export function classifyResponse(answer: HttpExchange | Closed, platformId: string): HealthVerdict {
  if (answer.kind === "closed") return closed(answer);
  if (answer.kind === "unreached")
    return { outcome: { kind: "down", description: `The platform cannot be reached: ${answer.reason}` } };
  if (answer.kind === "broken")
    return inDoubt(platformId, "BROKEN", `The line broke before the answer: ${answer.reason}`);
  const { status } = answer;
  const taken: HealthVerdict = { outcome: { kind: "taken", carrierMessageId: platformId } };
  if (status >= 200 && status < 300)
    return bodyOf(answer)
      ? taken
      : inDoubt(platformId, "NO_JSON", "What answers is not the platform: check rbm.baseUrl");
  const error = errorOf(answer);
  // A repetition: the platform has the id already.
  if (status === 409 && error.status === "ALREADY_EXISTS") return taken;
  const code = error.status ?? `HTTP_${status}`;
  const said = error.message === "" ? "" : `: ${error.message}`;
  if (status === 429) return { outcome: { kind: "busy", ...waiting(retryAfterMs(answer)) }, code, effect: "throttled" };
  if (status >= 500 || status === 408) return inDoubt(platformId, code, `The platform failed (status ${status})`);
  if (status === 401)
    return {
      outcome: { kind: "down", description: "The platform does not let this service account in: check its rights" },
      code,
      effect: "halted",
    };
  if (status === 404 && error.status === "NOT_FOUND") return notOnRcs();
  // Only the platform itself can report an unreachable number; any other 404 means a wrong URL.
  if (status < 400 || error.status === null)
    return refused("carrier", code, `What answers is not the platform (status ${status}): check rbm.baseUrl`);
  if (status === 403) return refused("carrier", code, `The agent may not send this${said}`);
  return refused("message", code, `The platform refuses the message${said}`);
}

/** Counts as the message's fault: its SMS fallback is sent at once, and no other RCS carrier is tried. */
export const notOnRcs = (): HealthVerdict => refused("message", "NOT_FOUND", "The number is not on RCS");

/** The phone does not support this content. */
export const cannotShow = (what: string): HealthVerdict =>
  refused("message", "FEATURE_MISSING", `The phone cannot show ${what}`);

export const refused = (fault: "message" | "carrier", code: string, description: string): HealthVerdict => ({
  outcome: { kind: "refused", fault, code, description },
  code,
});

const closed = ({ code, description, isHalted }: Closed): HealthVerdict => ({
  outcome: { kind: "down", description },
  code,
  ...(isHalted ? { effect: "halted" } : {}),
});

const waiting = (ms: number | undefined): { retryAfterMs?: number } => (ms === undefined ? {} : { retryAfterMs: ms });

/**
 * The outcome is unknown, so no other carrier may be tried. Submitting to this one again is safe, because it deduplicates
 * by id. A receipt resolves the doubt too, because the id is ours.
 */
const inDoubt = (platformId: string, code: string, description: string): HealthVerdict => ({
  outcome: { kind: "unknown", description, carrierMessageId: platformId },
  code,
});
