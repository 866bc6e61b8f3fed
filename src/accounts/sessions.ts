import { randomBytes } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import type { Session, User } from "../model/user.ts";
import type { UserStore } from "../store/user-store.ts";
import type { PeopleSecrets } from "./people-secrets.ts";

export interface SessionNeeds {
  store: UserStore;
  clock: Clock;
  secrets: PeopleSecrets;
  /** How long a session lasts while nobody uses it, and how long at the most. */
  sessionLimits: { idleMs: number; lifeMs: number };
}

/** A session in use. */
export interface OpenSession {
  user: User;
  digest: string;
  csrfToken: string;
  /** When it ends if it is not used again. */
  expiresAt: number;
}

/** A token of 256 random bits. */
const TOKEN_BYTES = 32;
/** A session that is used all the time is written down this often. */
const TOUCH_MS = 60_000;

/** Opens a session under a token that never was one before; the token is for the person's browser alone. */
export async function openSession(needs: SessionNeeds, user: User): Promise<{ token: string; session: OpenSession }> {
  const { store, clock, secrets } = needs;
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const now = clock.now();
  const digest = secrets.sessionDigest(token);
  const stored = { digest, accountId: user.accountId, userId: user.id, createdAt: now, seenAt: now };
  await store.insertSession(stored, user.passwordHash);
  return { token, session: sessionOf(needs, stored, { ...user, lastLoginAt: now }, token) };
}

/** The session of a token, from the store each time, so that what has ended opens nowhere; null for everything that is none. */
export async function findSession(
  needs: SessionNeeds,
  token: string,
  use: { slides: boolean },
): Promise<OpenSession | null> {
  const { store, clock, secrets } = needs;
  const found = await store.findSession(secrets.sessionDigest(token));
  const now = clock.now();
  if (!found || found.user.disabled || endOf(needs, found.session) <= now) return null;
  const { session, user } = found;
  if (!use.slides || now - session.seenAt < TOUCH_MS) return sessionOf(needs, session, user, token);
  await store.touchSession(session.digest, now);
  return sessionOf(needs, { ...session, seenAt: now }, user, token);
}

const endOf = ({ sessionLimits: { idleMs, lifeMs } }: SessionNeeds, { seenAt, createdAt }: Session): number =>
  Math.min(seenAt + idleMs, createdAt + lifeMs);

const sessionOf = (needs: SessionNeeds, session: Session, user: User, token: string): OpenSession => ({
  user,
  digest: session.digest,
  csrfToken: needs.secrets.csrfToken(token),
  expiresAt: endOf(needs, session),
});
