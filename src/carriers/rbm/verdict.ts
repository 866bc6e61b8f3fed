import type { Exchange } from "../exchange.ts";
import type { Verdict } from "../standing.ts";
import type { Closed } from "./access-token.ts";
import { bodyOf, errorOf, retryAfterMs } from "./read-answer.ts";

/** What the platform's answer to a message, handed over under this id, means for it and for the line. */
export function verdictOf(answer: Exchange | Closed, platformId: string): Verdict {
  if (answer.kind === "closed") return closed(answer);
  if (answer.kind === "unreached")
    return { outcome: { kind: "down", description: `The platform cannot be reached: ${answer.reason}` } };
  if (answer.kind === "broken")
    return inDoubt(platformId, "BROKEN", `The line broke before the answer: ${answer.reason}`);
  const { status } = answer;
  const taken: Verdict = { outcome: { kind: "taken", carrierMessageId: platformId } };
  if (status >= 200 && status < 300)
    return bodyOf(answer)
      ? taken
      : inDoubt(platformId, "NO_JSON", "What answers is not the platform: check rbm.baseUrl");
  const error = errorOf(answer);
  // It knows the id already: this is a repeat, and the first one counts.
  if (status === 409 && error.status === "ALREADY_EXISTS") return taken;
  const code = error.status ?? `HTTP_${status}`;
  const said = error.message === "" ? "" : `: ${error.message}`;
  if (status === 429) return { outcome: { kind: "busy", ...waiting(retryAfterMs(answer)) }, code, line: "throttled" };
  if (status >= 500 || status === 408) return inDoubt(platformId, code, `The platform failed (status ${status})`);
  if (status === 401)
    return {
      outcome: { kind: "down", description: "The platform does not let this service account in: check its rights" },
      code,
      line: "halted",
    };
  if (status === 404 && error.status === "NOT_FOUND") return notOnRcs();
  // Only the platform itself can say that a number is not there; anything else that says 404 is another address.
  if (status < 400 || error.status === null)
    return refused("carrier", code, `What answers is not the platform (status ${status}): check rbm.baseUrl`);
  if (status === 403) return refused("carrier", code, `The agent may not send this${said}`);
  return refused("message", code, `The platform refuses the message${said}`);
}

/** The message's own fault, to us: its text goes at once where it has one, and no other RCS line is asked. */
export const notOnRcs = (): Verdict => refused("message", "NOT_FOUND", "The number is not on RCS");

/** The phone cannot show what the message is. */
export const cannotShow = (what: string): Verdict =>
  refused("message", "FEATURE_MISSING", `The phone cannot show ${what}`);

export const refused = (fault: "message" | "carrier", code: string, description: string): Verdict => ({
  outcome: { kind: "refused", fault, code, description },
  code,
});

const closed = ({ code, description, isHalted }: Closed): Verdict => ({
  outcome: { kind: "down", description },
  code,
  ...(isHalted ? { line: "halted" } : {}),
});

const waiting = (ms: number | undefined): { retryAfterMs?: number } => (ms === undefined ? {} : { retryAfterMs: ms });

/**
 * Nobody knows whether the platform has it, so no other line may be tried. To hand it over again here is safe, because the
 * platform ignores an id that it has seen; and since the id is ours, a receipt tells as well.
 */
const inDoubt = (platformId: string, code: string, description: string): Verdict => ({
  outcome: { kind: "unknown", description, carrierMessageId: platformId },
  code,
});
