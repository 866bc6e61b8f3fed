import type { FastifyRequest } from "fastify";
import type { Caller } from "../accounts/caller.ts";

type Admitted = FastifyRequest & { caller?: Caller | null };

/** Notes who a request comes from, once that is known. */
export const setCaller = (request: FastifyRequest, caller: Caller): void => {
  (request as Admitted).caller = caller;
};

/** Who a request comes from; null where nobody was asked. */
export const callerOf = (request: FastifyRequest): Caller | null => (request as Admitted).caller ?? null;
