import type { FastifyRequest } from "fastify";
import type { Caller } from "../../accounts/caller.ts";

/** Repeats the authentication of a request; throws if it would be refused now. */
type Reauthenticate = () => Promise<Caller> | Caller;

type AuthenticatedRequest = FastifyRequest & {
  caller?: Caller | null;
  reauthenticate?: Reauthenticate;
  clientAddress?: string;
  /** The key or credential of a request, also if the request is refused after it was found. */
  identified?: Caller | null;
};

export const setClientAddress = (request: FastifyRequest, address: string): void => {
  Object.assign(request as AuthenticatedRequest, { clientAddress: address });
};

/** Client address in canonical form, with the proxy setting applied. */
export const clientAddressOf = (request: FastifyRequest): string =>
  (request as AuthenticatedRequest).clientAddress ?? request.ip;

export const setCaller = (request: FastifyRequest, caller: Caller, reauthenticate: Reauthenticate): void => {
  Object.assign(request as AuthenticatedRequest, { caller, reauthenticate });
};

export const setIdentified = (request: FastifyRequest, identified: Caller | null): void => {
  Object.assign(request as AuthenticatedRequest, { identified });
};

/** The actor in the request log; null if the request has none. */
export const logIdentityOf = (request: FastifyRequest): Caller | null =>
  (request as AuthenticatedRequest).caller ?? (request as AuthenticatedRequest).identified ?? null;

/** Null on routes without authentication. */
export const callerOf = (request: FastifyRequest): Caller | null => (request as AuthenticatedRequest).caller ?? null;

/** Repeats the authentication of a long request: false if it is refused now, or if the role has changed. */
export async function isStillAuthorized(request: FastifyRequest): Promise<boolean> {
  const { caller, reauthenticate } = request as AuthenticatedRequest;
  if (!caller || !reauthenticate) return true;
  try {
    return (await reauthenticate()).role === caller.role;
  } catch {
    // Refused, or the store is unavailable. The client reconnects and gets the reason.
    return false;
  }
}
