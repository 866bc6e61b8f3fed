import { readNumber } from "../../model/number.ts";
import type { ReachOutcome } from "../carrier.ts";
import type { HttpExchange } from "../http-exchange.ts";
import type { Closed } from "./access-token.ts";
import { bodyOf, errorOf } from "./parse-response.ts";

/** The platform's answer about many numbers. */
export function readReach(answer: HttpExchange | Closed): ReachOutcome {
  if (answer.kind === "closed") return { kind: "failed", code: answer.code, description: answer.description };
  if (answer.kind !== "answered")
    return { kind: "failed", code: null, description: `The platform cannot be reached: ${answer.reason}` };
  const users = answer.status === 200 ? (bodyOf(answer)?.reachableUsers ?? []) : null;
  if (!Array.isArray(users)) {
    const { status, message } = errorOf(answer);
    const said = message === "" ? "" : `: ${message}`;
    return { kind: "failed", code: status, description: `The platform answers with status ${answer.status}${said}` };
  }
  const numbers = users.flatMap((user) => (typeof user === "string" ? (readNumber(user) ?? []) : []));
  return { kind: "known", reachable: new Set(numbers) };
}
