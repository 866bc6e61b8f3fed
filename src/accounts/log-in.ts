import { randomBytes } from "node:crypto";
import { MinuteCounter } from "../lib/minute-counter.ts";
import { neighbourhood, unmapped } from "../lib/network.ts";
import { NO_ACCOUNT, type Actor, type DoorAction } from "../model/audit.ts";
import { Problem } from "../model/problem.ts";
import { readEmail, type User } from "../model/user.ts";
import { writeDown, type AuditNeeds } from "./audit.ts";
import { checkPassword, hashPassword } from "./passwords.ts";
import { openSession, type OpenSession, type SessionNeeds } from "./sessions.ts";
import { readRecoveryCode, stepOfCode } from "./totp.ts";

export interface LogInNeeds extends SessionNeeds, AuditNeeds {
  store: SessionNeeds["store"] & AuditNeeds["store"];
  /** Tries by where they come from, whoever is meant: each costs a hash. */
  tries: MinuteCounter;
}

export interface LogInWish {
  email: string;
  password: string;
  totp: string | null;
  address: string;
}

/** From so many failures on, the next try has to wait. */
const LOCKED_FROM = 5;
const TRIES_PER_MINUTE = 30;
const SECOND_FACTOR = "second factor";

/**
 * Lets a person in. Whoever is unknown costs the same work and gets the same answer as whoever has a wrong password, so
 * that nobody learns who is known here.
 */
export async function logIn(needs: LogInNeeds, wish: LogInWish): Promise<{ token: string; session: OpenSession }> {
  const { store, clock, secrets, tries } = needs;
  const now = clock.now();
  const from = neighbourhood(wish.address);
  if (tries.count(from, now) > TRIES_PER_MINUTE) {
    const message = "Too many tries to log in came from this address.";
    throw new Problem("RATE_LIMITED", { message, retryAfterSeconds: MinuteCounter.secondsLeft(now) });
  }
  const email = readEmail(wish.email) ?? "";
  const attempts = secrets.attemptDigest(email, from);
  const failures = await beginTry(needs, attempts);
  const user = await store.findUser(email);
  const decoy = await decoyHash();
  const isRight = await checkPassword(wish.password, user?.passwordHash ?? decoy);
  if (!user || !isRight || user.disabled) return refuse(needs, wish, user, failures);

  const ofSecondFactor = secrets.attemptDigest(email, SECOND_FACTOR);
  if (user.totpSecret !== null) {
    if (wish.totp === null) {
      await store.releaseAttempt(attempts);
      throw new Problem("TOTP_REQUIRED");
    }
    // Counted wherever it comes from: only somebody who has the password gets this far.
    const codes = await beginTry(needs, ofSecondFactor);
    if (!(await passesSecondFactor(needs, user, wish.totp)))
      return refuse(needs, wish, user, Math.max(failures, codes));
  }
  await store.clearAttempts([attempts, ofSecondFactor]);
  const opened = await openSession(needs, user);
  await tell(needs, "login", user, wish.address);
  return opened;
}

/** Whether a code is good: of this moment and not used before, or one of the recovery codes. */
async function passesSecondFactor({ store, clock, secrets }: SessionNeeds, user: User, code: string): Promise<boolean> {
  if (user.totpSecret === null) return false;
  const recovery = readRecoveryCode(code);
  if (recovery !== null) return store.useRecoveryCode(user, secrets.recoveryDigest(user.id, recovery));
  const secret = Buffer.from(secrets.totpSeal.open(user.totpSecret), "base64url");
  const step = stepOfCode(secret, code.replaceAll(" ", ""), clock.now());
  return step !== null && (await store.useTotpStep(user, step));
}

/** Asks somebody who is logged in for their password once more. Who has only the browser can guess no faster than at the door. */
export async function confirmPassword(needs: LogInNeeds, user: User, password: string, address: string): Promise<void> {
  const attempts = needs.secrets.attemptDigest(user.email, neighbourhood(address));
  const failures = await beginTry(needs, attempts);
  if (!(await checkPassword(password, user.passwordHash))) {
    await tellFailure(needs, user, address, failures);
    throw new Problem("PASSWORD_INCORRECT");
  }
  await needs.store.clearAttempts([attempts]);
}

/** Asks for a code once more, as the door does. */
export async function confirmSecondFactor(needs: LogInNeeds, user: User, code: string, address: string): Promise<void> {
  const attempts = needs.secrets.attemptDigest(user.email, SECOND_FACTOR);
  const failures = await beginTry(needs, attempts);
  if (!(await passesSecondFactor(needs, user, code))) {
    await tellFailure(needs, user, address, failures);
    throw new Problem("TOTP_INCORRECT");
  }
  await needs.store.clearAttempts([attempts]);
}

/** Counts a try, or says how long there is none. */
async function beginTry({ store, clock }: LogInNeeds, digest: string): Promise<number> {
  const now = clock.now();
  const begun = await store.beginAttempt(digest, now);
  if ("failures" in begun) return begun.failures;
  const retryAfterSeconds = Math.max(1, Math.ceil((begun.lockedUntil - now) / 1000));
  throw new Problem("LOGIN_LOCKED", { retryAfterSeconds });
}

async function refuse(needs: LogInNeeds, { address }: LogInWish, user: User | null, failures: number): Promise<never> {
  await tellFailure(needs, user, address, failures);
  throw new Problem("LOGIN_FAILED");
}

const tellFailure = (needs: LogInNeeds, user: User | null, address: string, failures: number): Promise<void> =>
  tell(needs, failures >= LOCKED_FROM ? "login locked" : "login failed", user, address);

/** What was typed in place of a known address is not written down: people type passwords there. */
const tell = (needs: LogInNeeds, action: DoorAction, user: User | null, address: string): Promise<void> =>
  writeDown(needs, {
    accountId: user?.accountId ?? NO_ACCOUNT,
    actor: actorOf(user, action),
    action,
    kind: "session",
    recordId: null,
    recordName: user?.email ?? null,
    fields: [],
    address: unmapped(address),
  });

const actorOf = (user: User | null, action: DoorAction): Actor =>
  user && action === "login"
    ? { kind: "user", id: user.id, name: user.email }
    : { kind: "nobody", id: null, name: null };

let ofNobody: Promise<string> | null = null;

/** The hash of a password that nobody has, made when it is first needed. */
function decoyHash(): Promise<string> {
  ofNobody ??= hashPassword(randomBytes(32).toString("base64url"));
  return ofNobody;
}
