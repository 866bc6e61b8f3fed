import type { FastifyRequest } from "fastify";
import type { Caller } from "../accounts/caller.ts";

/** Asks a request once more who it comes from; throws when they would not be let in now. */
type AskAgain = () => Promise<Caller> | Caller;

type Admitted = FastifyRequest & { caller?: Caller | null; askAgain?: AskAgain };

/** Notes who a request comes from, once that is known, and how to find out whether they would still be let in. */
export const setCaller = (request: FastifyRequest, caller: Caller, askAgain: AskAgain): void => {
  Object.assign(request as Admitted, { caller, askAgain });
};

/** Who a request comes from; null where nobody was asked. */
export const callerOf = (request: FastifyRequest): Caller | null => (request as Admitted).caller ?? null;

/** Whether who was let in would be let in now, with the same rights: what is answered for long must ask now and then. */
export async function isStillWelcome(request: FastifyRequest): Promise<boolean> {
  const { caller, askAgain } = request as Admitted;
  if (!caller || !askAgain) return true;
  try {
    return (await askAgain()).role === caller.role;
  } catch {
    // Refused, or there is nobody to ask: whoever comes back is told which.
    return false;
  }
}
