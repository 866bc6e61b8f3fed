import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { callerOfSession, type Caller } from "../../accounts/caller.ts";
import { findSession, type OpenSession } from "../../accounts/sessions.ts";
import { Problem } from "../../model/problem.ts";
import { mayAs } from "../../model/user.ts";
import { isPersonal, roleOf, type PersonalRoute, type ProtectedRoute, type Services } from "../route.ts";

interface SessionRequest {
  method: string;
  headers: IncomingHttpHeaders;
}

/** Authenticates a person by a session token, and checks their role. Throws the reason if it refuses. */
export async function authenticateSession(
  services: Pick<Services, "loginDeps" | "keyring" | "baseUrl">,
  route: ProtectedRoute | PersonalRoute,
  request: SessionRequest,
  token: string,
): Promise<Caller> {
  // Streams do not extend the session: an open page would keep it alive for ever.
  const session = await findSession(services.loginDeps, token, { slides: !isStream(route) });
  const account = session && services.keyring.account(session.user.accountId);
  if (!session || !account) throw new Problem("LOGIN_REQUIRED");
  if (request.method !== "GET" && request.method !== "HEAD") {
    rejectForeignOrigin(request.headers, services.baseUrl());
    rejectForgery(request.headers["x-csrf-token"], session);
  }
  const caller = callerOfSession(account, session);
  // Changing the own password and logging out stay possible, also while the account is suspended.
  if (isPersonal(route)) return caller;
  if (account.suspended) throw new Problem("ACCOUNT_SUSPENDED");
  if (session.user.passwordDue) throw new Problem("PASSWORD_CHANGE_REQUIRED");
  const required = roleOf(route);
  if (mayAs(caller.role, required)) return caller;
  throw new Problem("INSUFFICIENT_ROLE", { message: `This needs the role ${required}; yours is ${caller.role}.` });
}

const isStream = ({ contentType }: ProtectedRoute | PersonalRoute): boolean => contentType === "text/event-stream";

/** CSRF check. Digests have equal length, which `timingSafeEqual` needs. */
function rejectForgery(header: string | string[] | undefined, { csrfToken }: OpenSession): void {
  const [given, expected] = [String(header ?? ""), csrfToken].map((text) => createHash("sha256").update(text).digest());
  if (!given || !expected || !timingSafeEqual(given, expected)) throw new Problem("CSRF_REFUSED");
}

/** CSRF check: `Origin` must be the public URL of this server or the host of the request. */
export function rejectForeignOrigin({ origin, host = "" }: IncomingHttpHeaders, baseUrl: string): void {
  if (origin === undefined) return;
  const allowed = [new URL(baseUrl).origin, `http://${host}`, `https://${host}`].map((each) => each.toLowerCase());
  if (!allowed.includes(origin.toLowerCase()))
    throw new Problem("CSRF_REFUSED", { message: "The request comes from another site." });
}
