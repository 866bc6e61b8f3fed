import type { Scope } from "../../model/api-key.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import type { AuthenticCall, Services } from "../route.ts";

/** Privilege escalation: a key grants only scopes that it has itself. */
export function refuseBeyond(caller: AuthenticCall["caller"], scopes: readonly Scope[]): void {
  const beyond = scopes.find((scope) => !caller.key.scopes.includes(scope));
  if (beyond)
    throw new Problem("INSUFFICIENT_SCOPE", {
      message: `A key cannot grant the scope "${beyond}" that it does not have itself.`,
    });
}

/** Faults of an expiry in the past. */
export const expiryFaults = (expiresAt: number | null | undefined, { clock }: Pick<Services, "clock">): Fault[] =>
  typeof expiresAt === "number" && expiresAt <= clock.now()
    ? [{ parameter: "expiresAt", message: "expiresAt must be in the future." }]
    : [];
