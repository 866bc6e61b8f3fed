import { randomBytes } from "node:crypto";
import { MinuteCounter } from "../lib/minute-counter.ts";
import { rateLimitKey } from "../lib/network.ts";
import { Problem } from "../model/problem.ts";
import { passwordFault, type Invitation, type User } from "../model/user.ts";
import { hashPassword } from "./passwords.ts";
import type { LogInDeps } from "./log-in.ts";

const TOKEN_BYTES = 32;
const TRIES_PER_MINUTE = 30;

/** Creates a link with which a user chooses a password. It replaces earlier ones. */
export async function inviteUser(
  { store, clock, secrets }: LogInDeps,
  { accountId, id: userId }: User,
  hours: number,
): Promise<{ token: string; expiresAt: number }> {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const now = clock.now();
  const expiresAt = now + hours * 3_600_000;
  await store.invite({ digest: secrets.invitationDigest(token), accountId, userId, expiresAt }, now);
  return { token, expiresAt };
}

/** Sets the password that the invited user has chosen. A link works once; its password ends all sessions of the user. */
export async function acceptInvitation(
  deps: LogInDeps,
  given: { token: string; password: string; address: string },
): Promise<User> {
  const { store, clock, secrets, attemptsPerMinute } = deps;
  // Each attempt costs a password hash, as a login does.
  if (attemptsPerMinute.count(rateLimitKey(given.address), clock.now()) > TRIES_PER_MINUTE)
    throw new Problem("RATE_LIMITED", { retryAfterSeconds: MinuteCounter.secondsLeft(clock.now()) });
  const invitation = await store.findInvitation(secrets.invitationDigest(given.token));
  const user = invitation && (await userOf(deps, invitation));
  if (!invitation || !user) throw new Problem("INVITATION_INVALID");
  const message = passwordFault(given.password, user.email);
  if (message !== null) throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "password", message }] });
  if (!(await store.acceptInvitation(invitation, await hashPassword(given.password))))
    throw new Problem("INVITATION_INVALID");
  return user;
}

/** The invited user, while the invitation is valid and the user may log in. */
async function userOf({ store, clock }: LogInDeps, invitation: Invitation): Promise<User | null> {
  if (invitation.expiresAt <= clock.now()) return null;
  const user = await store.findUserById({ accountId: invitation.accountId, id: invitation.userId });
  return user && !user.disabled ? user : null;
}
