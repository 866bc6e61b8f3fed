import type { MarkOutcome } from "../carrier.ts";
import type { HttpExchange } from "../http-exchange.ts";
import type { Closed } from "./access-token.ts";
import { errorOf } from "./parse-response.ts";

/** The platform's answer to an event of the agent. */
export function markOf(answer: HttpExchange | Closed): MarkOutcome {
  if (answer.kind === "closed") return { kind: "failed", description: answer.description };
  if (answer.kind !== "answered")
    return { kind: "failed", description: `The platform did not answer: ${answer.reason}` };
  if (answer.status < 300) return { kind: "marked" };
  const { message } = errorOf(answer);
  const said = message === "" ? `It answered with HTTP ${answer.status}` : message;
  return { kind: "failed", description: `The platform refused the mark: ${said}` };
}
