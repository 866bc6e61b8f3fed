import { randomBytes } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import type { Session, User } from "../model/user.ts";
import type { UserStore } from "../store/users.ts";
import type { UserSecrets } from "./user-secrets.ts";

export interface SessionDeps {
  store: UserStore;
  clock: Clock;
  secrets: UserSecrets;
  /** Lifetime without use, and in total. */
  sessionLimits: { idleMs: number; lifeMs: number };
}

export interface OpenSession {
  user: User;
  digest: string;
  csrfToken: string;
  /** End of the session unless it is used again. */
  expiresAt: number;
}

const TOKEN_BYTES = 32;
/** A session in constant use is saved this often. */
const TOUCH_MS = 60_000;

/**
 * Opens a session under a new token (session fixation). Null if the password or second factor of the user has changed since the
 * login was checked.
 */
export async function openSession(
  deps: SessionDeps,
  user: User,
  from: Pick<Session, "address" | "agent">,
): Promise<{ token: string; session: OpenSession } | null> {
  const { store, clock, secrets } = deps;
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const now = clock.now();
  const digest = secrets.sessionDigest(token);
  const stored = { digest, accountId: user.accountId, userId: user.id, createdAt: now, seenAt: now, ...from };
  if (!(await store.insertSession(stored, user))) return null;
  return { token, session: sessionOf(deps, stored, { ...user, lastLoginAt: now }, token) };
}

/** Reads the session of a token from the store, so that a revoked session ends at once on all nodes; null if there is none. */
export async function findSession(
  deps: SessionDeps,
  token: string,
  use: { slides: boolean },
): Promise<OpenSession | null> {
  const { store, clock, secrets } = deps;
  const found = await store.findSession(secrets.sessionDigest(token));
  const now = clock.now();
  if (!found || found.user.disabled || endOf(deps, found.session) <= now) return null;
  const { session, user } = found;
  if (!use.slides || now - session.seenAt < TOUCH_MS) return sessionOf(deps, session, user, token);
  await store.touchSession(session.digest, now);
  return sessionOf(deps, { ...session, seenAt: now }, user, token);
}

/** The open sessions of a user, the latest first. */
export async function listOpenSessions(
  deps: SessionDeps,
  user: Pick<User, "accountId" | "id">,
): Promise<readonly (Session & { expiresAt: number })[]> {
  const now = deps.clock.now();
  const stored = await deps.store.listSessions(user);
  return stored
    .map((session) => ({ ...session, expiresAt: endOf(deps, session) }))
    .filter(({ expiresAt }) => expiresAt > now);
}

const endOf = ({ sessionLimits: { idleMs, lifeMs } }: SessionDeps, { seenAt, createdAt }: Session): number =>
  Math.min(seenAt + idleMs, createdAt + lifeMs);

const sessionOf = (deps: SessionDeps, session: Session, user: User, token: string): OpenSession => ({
  user,
  digest: session.digest,
  csrfToken: deps.secrets.csrfToken(token),
  expiresAt: endOf(deps, session),
});
