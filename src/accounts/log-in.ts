import { randomBytes, timingSafeEqual } from "node:crypto";
import { MinuteCounter } from "../lib/minute-counter.ts";
import { rateLimitKey, unmapped } from "../lib/network.ts";
import { NO_ACCOUNT, type Actor, type LoginAction } from "../model/audit.ts";
import { Problem } from "../model/problem.ts";
import { readEmail, type User } from "../model/user.ts";
import type { AttemptLimits } from "../store/users.ts";
import { writeAuditEntry, type AuditDeps } from "./audit.ts";
import { checkPassword, hashPassword } from "./passwords.ts";
import { openSession, type OpenSession, type SessionDeps } from "./sessions.ts";
import { readRecoveryCode, stepOfCode } from "./totp.ts";

export interface LogInDeps extends SessionDeps, AuditDeps {
  store: SessionDeps["store"] & AuditDeps["store"];
  /** Attempts per network, for all users together: each costs a password hash. */
  attemptsPerMinute: MinuteCounter;
}

export interface LogInRequest {
  email: string;
  password: string;
  totp: string | null;
  address: string;
  /** The name that the browser gives of itself. */
  agent: string;
  /** The cookie of a browser that has logged in before. */
  browser: string | null;
}

export interface LoggedIn {
  token: string;
  session: OpenSession;
  /** A cookie by which the next login recognises the browser. */
  browser: string;
}

/** Failures after which the next attempt has to wait. */
const LOCKED_FROM = 5;
const ATTEMPTS_PER_MINUTE = 30;
const SECOND_FACTOR = "second factor";
const ANYWHERE = "anywhere";
/**
 * Distributed guessing: after 50 failures for one user from all addresses together, one attempt in ten seconds is allowed. A
 * botnet gets 8,640 guesses a day. The pause does not grow, so that attackers cannot lock users out. Browsers that the user has
 * logged in with are exempt.
 */
const ANYWHERE_LIMITS = { freeTries: 50, pauseMs: 10_000, pauseMaxMs: 10_000 };

/**
 * Logs a user in. User enumeration: an unknown address costs the same work and gets the same answer as a wrong password.
 */
export async function logIn(deps: LogInDeps, request: LogInRequest): Promise<LoggedIn> {
  const { store, clock, secrets, attemptsPerMinute } = deps;
  const now = clock.now();
  const from = rateLimitKey(request.address);
  if (attemptsPerMinute.count(from, now) > ATTEMPTS_PER_MINUTE) {
    const message = "Too many tries to log in came from this address.";
    throw new Problem("RATE_LIMITED", { message, retryAfterSeconds: MinuteCounter.secondsLeft(now) });
  }
  const email = readEmail(request.email) ?? "";
  const user = await store.findUser(email);
  const browser = knownBrowser(deps, user, request.browser);
  const attempts = secrets.attemptDigest(email, browser === null ? from : `browser ${browser}`);
  const failures = await beginAttempt(deps, attempts);
  const fromAnywhere = secrets.attemptDigest(email, ANYWHERE);
  if (browser === null)
    await beginAttempt(deps, fromAnywhere, ANYWHERE_LIMITS).catch(async (refused: unknown) => {
      // No password was checked, so the attempt does not count.
      await store.releaseAttempt(attempts);
      throw refused;
    });
  // For every login, so that its time does not depend on the user.
  const hashOfNoUser = await decoyHash();
  const isRight = await checkPassword(request.password, user?.passwordHash ?? hashOfNoUser);
  if (!user || !isRight || user.disabled) return refuse(deps, request, user, failures);

  const codeAttempts = secrets.attemptDigest(email, SECOND_FACTOR);
  if (user.totpSecret !== null) {
    if (request.totp === null) {
      await store.releaseAttempt(attempts);
      if (browser === null) await store.releaseAttempt(fromAnywhere);
      throw new Problem("TOTP_REQUIRED");
    }
    // Counted for all addresses together: only someone with the password gets this far.
    const codes = await beginAttempt(deps, codeAttempts);
    if (!(await passesSecondFactor(deps, user, request.totp)))
      return refuse(deps, request, user, Math.max(failures, codes));
  }
  await store.clearAttempts([attempts, codeAttempts]);
  // Only this attempt is released: a login of the user must not reset the count of an attacker.
  if (browser === null) await store.releaseAttempt(fromAnywhere);
  const opened = await openSession(deps, user, { address: unmapped(request.address), agent: request.agent });
  if (!opened) {
    const changed = await store.findUserById(user);
    // A second factor was added during this login.
    if (changed?.passwordHash === user.passwordHash && !changed.disabled) throw new Problem("TOTP_REQUIRED");
    return refuse(deps, request, user, failures);
  }
  await auditLogin(deps, "login", user, request.address);
  const name = browser ?? randomBytes(16).toString("base64url");
  return { ...opened, browser: `${name}.${secrets.browserProof(user, name)}` };
}

/** The name of a browser that the user has logged in with before, whose attempts are counted separately; null for others. */
function knownBrowser({ secrets }: LogInDeps, user: User | null, cookie: string | null): string | null {
  const [name = "", proof = "", ...rest] = cookie?.split(".") ?? [];
  if (!user || rest.length > 0 || name === "" || proof === "") return null;
  const [actual, expected] = [Buffer.from(proof), Buffer.from(secrets.browserProof(user, name))];
  return actual.length === expected.length && timingSafeEqual(actual, expected) ? name : null;
}

/** True for a current TOTP code that was not used before (replay), or for an unused recovery code. */
async function passesSecondFactor({ store, clock, secrets }: SessionDeps, user: User, code: string): Promise<boolean> {
  if (user.totpSecret === null) return false;
  const recovery = readRecoveryCode(code);
  if (recovery !== null) return store.useRecoveryCode(user, secrets.recoveryDigest(user.id, recovery));
  const secret = Buffer.from(secrets.totpSeal.decrypt(user.totpSecret), "base64url");
  const step = stepOfCode(secret, code.replaceAll(" ", ""), clock.now());
  return step !== null && (await store.useTotpStep(user, step));
}

/** Checks the password of a logged-in user again. Guesses are limited as at login, against a stolen session. */
export async function confirmPassword(deps: LogInDeps, user: User, password: string, address: string): Promise<void> {
  const attempts = deps.secrets.attemptDigest(user.email, rateLimitKey(address));
  const failures = await beginAttempt(deps, attempts);
  if (!(await checkPassword(password, user.passwordHash))) {
    await auditFailure(deps, user, address, failures);
    throw new Problem("PASSWORD_INCORRECT");
  }
  await deps.store.clearAttempts([attempts]);
}

/** Checks a code again, limited as at login. */
export async function confirmSecondFactor(deps: LogInDeps, user: User, code: string, address: string): Promise<void> {
  const attempts = deps.secrets.attemptDigest(user.email, SECOND_FACTOR);
  const failures = await beginAttempt(deps, attempts);
  if (!(await passesSecondFactor(deps, user, code))) {
    await auditFailure(deps, user, address, failures);
    throw new Problem("TOTP_INCORRECT");
  }
  await deps.store.clearAttempts([attempts]);
}

/** Counts an attempt, or refuses it while the user is locked. */
async function beginAttempt({ store, clock }: LogInDeps, digest: string, limits?: AttemptLimits): Promise<number> {
  const now = clock.now();
  const begun = await store.beginAttempt(digest, now, limits);
  if ("failures" in begun) return begun.failures;
  const retryAfterSeconds = Math.max(1, Math.ceil((begun.lockedUntil - now) / 1000));
  throw new Problem("LOGIN_LOCKED", { retryAfterSeconds });
}

async function refuse(deps: LogInDeps, { address }: LogInRequest, user: User | null, failures: number): Promise<never> {
  await auditFailure(deps, user, address, failures);
  throw new Problem("LOGIN_FAILED");
}

const auditFailure = (deps: LogInDeps, user: User | null, address: string, failures: number): Promise<void> =>
  auditLogin(deps, failures >= LOCKED_FROM ? "login locked" : "login failed", user, address);

/** An unknown address is not recorded: users type passwords into the wrong field. */
const auditLogin = (deps: LogInDeps, action: LoginAction, user: User | null, address: string): Promise<void> =>
  writeAuditEntry(deps, {
    accountId: user?.accountId ?? NO_ACCOUNT,
    actor: actorOf(user, action),
    action,
    kind: "session",
    recordId: null,
    recordName: user?.email ?? null,
    fields: [],
    address: unmapped(address),
  });

const actorOf = (user: User | null, action: LoginAction): Actor =>
  user && action === "login"
    ? { kind: "user", id: user.id, name: user.email }
    : { kind: "nobody", id: null, name: null };

let decoy: Promise<string> | null = null;

/** The hash of a random password, against timing attacks; created at its first use. */
function decoyHash(): Promise<string> {
  decoy ??= hashPassword(randomBytes(32).toString("base64url"));
  return decoy;
}
