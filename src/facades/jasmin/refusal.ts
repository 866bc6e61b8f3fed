import type { Problem, ProblemCode } from "../../model/problem.ts";

interface Refusal {
  status: number;
  message: string;
}

/** Names of `/v1` for what the caller gave under Jasmin's names. */
const NAMES: Readonly<Record<string, string>> = { sender: "from", to: "to", text: "content", sendAt: "sdt" };

/** Refusals that Jasmin answers with 403. */
const PREFIXES: Partial<Record<ProblemCode, string>> = {
  IP_NOT_ALLOWED: "Authorization failed",
  INSUFFICIENT_SCOPE: "Authorization failed",
  ACCOUNT_SUSPENDED: "Authorization failed",
  INSUFFICIENT_CREDITS: "Cannot charge submit_sm",
  RATE_LIMITED: "User throughput exceeded",
};

/** A refusal in Jasmin's words and statuses. */
export function failureOf(problem: Problem): Refusal {
  const { code, status, message, faults } = problem;
  if (code === "UNAUTHORIZED") return { status: 403, message };
  if (code === "ROUTE_NOT_FOUND") return { status: 412, message: "No route found" };
  const prefix = PREFIXES[code];
  if (prefix !== undefined) return { status: 403, message: `${prefix}: ${message}` };
  const [fault] = faults;
  if (!fault) return { status, message };
  const name = NAMES[fault.parameter.replace(/[[.].*$/, "")];
  // Faults of Jasmin's own arguments are in its words already.
  if (name === undefined || /^(?:Argument|Mandatory|content )/.test(fault.message))
    return { status: 400, message: fault.message };
  return { status: 400, message: `Argument [${name}] has an invalid value: ${fault.message}` };
}
