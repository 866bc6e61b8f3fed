import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { personAs, type Caller } from "../accounts/caller.ts";
import { findSession, type OpenSession } from "../accounts/sessions.ts";
import { Problem } from "../model/problem.ts";
import { mayAs } from "../model/user.ts";
import { isPersonal, roleOf, type PersonalRoute, type ProtectedRoute, type Services } from "./route.ts";

interface Asked {
  method: string;
  headers: IncomingHttpHeaders;
}

/** Lets a person in by the token of their session, or says why not. */
export async function admitPerson(
  services: Pick<Services, "people" | "keyring" | "baseUrl">,
  route: ProtectedRoute | PersonalRoute,
  request: Asked,
  token: string,
): Promise<Caller> {
  // A page that is only left open follows a stream, and must not keep its session alive for ever.
  const session = await findSession(services.people, token, { slides: !isStream(route) });
  const account = session && services.keyring.account(session.user.accountId);
  if (!session || !account) throw new Problem("LOGIN_REQUIRED");
  if (request.method !== "GET" && request.method !== "HEAD") {
    refuseForeignOrigin(request.headers, services.baseUrl());
    refuseForgery(request.headers["x-csrf-token"], session);
  }
  const caller = personAs(account, session);
  // What is about the person alone stays open: somebody must be able to change the password, and to leave.
  if (isPersonal(route)) return caller;
  if (account.suspended) throw new Problem("ACCOUNT_SUSPENDED");
  if (session.user.passwordDue) throw new Problem("PASSWORD_CHANGE_REQUIRED");
  const asked = roleOf(route);
  if (mayAs(caller.role, asked)) return caller;
  throw new Problem("INSUFFICIENT_ROLE", { message: `This is for the role ${asked}, and yours is ${caller.role}.` });
}

const isStream = ({ contentType }: ProtectedRoute | PersonalRoute): boolean => contentType === "text/event-stream";

function refuseForgery(header: string | string[] | undefined, { csrfToken }: OpenSession): void {
  // Digests have one length, whatever was sent.
  const [given, wanted] = [String(header ?? ""), csrfToken].map((text) => createHash("sha256").update(text).digest());
  if (!given || !wanted || !timingSafeEqual(given, wanted)) throw new Problem("CSRF_REFUSED");
}

/** A browser says which page asks: it must be one of this server, by its public address or by the one that was called. */
export function refuseForeignOrigin({ origin, host = "" }: IncomingHttpHeaders, baseUrl: string): void {
  if (origin === undefined) return;
  const own = [new URL(baseUrl).origin, `http://${host}`, `https://${host}`].map((each) => each.toLowerCase());
  if (!own.includes(origin.toLowerCase()))
    throw new Problem("CSRF_REFUSED", { message: "The request comes from a page of another site." });
}
