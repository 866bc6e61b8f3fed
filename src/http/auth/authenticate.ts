import type { IncomingHttpHeaders } from "node:http";
import type { BlockList } from "node:net";
import type { Keyring } from "../../accounts/keyring.ts";
import type { Credential, SecretHolder } from "../../accounts/secret-index.ts";
import type { Clock } from "../../lib/clock.ts";
import { MinuteCounter } from "../../lib/minute-counter.ts";
import { rateLimitKey, unmapped } from "../../lib/network.ts";
import type { Scope } from "../../model/api-key.ts";
import type { StoredCredential, StoredKind } from "../../model/credential.ts";
import { Problem } from "../../model/problem.ts";
import type { KeyRule } from "../route.ts";

const BAD_KEYS_PER_MINUTE = 20;

export interface AuthenticateDeps {
  keyring: Keyring;
  clock: Clock;
  /** By address: slows down guessing (brute force). Valid keys from the same address are not limited. */
  badKeys: MinuteCounter;
  /** Reads keys and credentials again, once the first account is loaded. Another node may have created one just now. */
  readAgain(): Promise<void>;
}

interface KeyRequest {
  headers: IncomingHttpHeaders;
  address: string;
  /** Called before the key is checked, so that the request log knows the key of a refused request. */
  onIdentified(credential: Credential | null): void;
}

type SetHeader = (name: string, value: string) => void;

/** The credential of the request's API key among those in memory; null if it is not there. */
export const findCaller = (
  { keyring }: Pick<AuthenticateDeps, "keyring">,
  headers: KeyRequest["headers"],
): Credential | null => keyring.find(singleKey(headers.apikey));

/** Authenticates a request by its API key. Missing, unknown, revoked and expired keys get the same error. */
export async function authenticate(
  admission: AuthenticateDeps,
  request: KeyRequest,
  rule: KeyRule,
  setHeader: SetHeader,
): Promise<Credential> {
  const { headers, address } = request;
  const credential = await findFresh(admission, address, headers.apikey !== undefined, () =>
    findCaller(admission, headers),
  );
  request.onIdentified(credential);
  refuseAgentKey(credential);
  return admitFound(admission, credential, address, rule, setHeader);
}

/**
 * Searches memory, and again after reading the store: a secret works on every node as soon as it is created. An address that
 * guesses (brute force) causes no further reads.
 */
export async function findFresh<T>(
  admission: Omit<AuthenticateDeps, "keyring">,
  address: string,
  isGiven: boolean,
  find: () => T | null,
): Promise<T | null> {
  const found = find();
  if (found || !isGiven || isGuessing(admission, address)) return found;
  await admission.readAgain();
  return find();
}

/** True for an address that has used up its invalid keys of this minute. */
export const isGuessing = ({ badKeys, clock }: Pick<AuthenticateDeps, "badKeys" | "clock">, address: string): boolean =>
  badKeys.peek(rateLimitKey(address), clock.now()) >= BAD_KEYS_PER_MINUTE;

/** A request to the API of another product. */
export interface LoginRequest {
  kind: StoredKind;
  username: string;
  password: string;
  address: string;
  /** As in `KeyRequest`. */
  onIdentified(credential: Credential<StoredCredential> | null): void;
}

/** `any scope`: the body of the request decides which scope it needs; its handler calls `refuseMissingScope`. */
export type LoginRule = KeyRule | "any scope";

/** The same for a username and password of the API of another product. */
export async function authenticateLogin(
  admission: AuthenticateDeps,
  { kind, username, password, address, onIdentified }: LoginRequest,
  rule: LoginRule,
  setHeader: SetHeader,
): Promise<Credential<StoredCredential>> {
  const credential = await findFresh(admission, address, password !== "", () =>
    admission.keyring.findLogin(kind, username, password),
  );
  onIdentified(credential);
  return admitFound(admission, credential, address, rule, setHeader);
}

/** Admits the holder of a verified secret; null is a missing or wrong one. */
export function admitFound<K extends SecretHolder>(
  { clock, badKeys }: Pick<AuthenticateDeps, "clock" | "badKeys">,
  credential: Credential<K> | null,
  address: string,
  rule: LoginRule,
  setHeader: SetHeader,
): Credential<K> {
  const now = clock.now();
  if (!credential) {
    if (badKeys.count(rateLimitKey(address), now) <= BAD_KEYS_PER_MINUTE) throw new Problem("UNAUTHORIZED");
    throw new Problem("RATE_LIMITED", {
      message: "Too many requests with invalid keys from this address.",
      retryAfterSeconds: MinuteCounter.secondsLeft(now),
    });
  }
  refuseForbidden(credential, address, rule);
  const { bucket } = credential;
  if (bucket) {
    const taken = bucket.take(now);
    const waitSeconds = taken.taken ? 1 : Math.max(1, Math.ceil(taken.waitMs / 1000));
    setHeader("ratelimit-policy", `"key";q=${bucket.ratePerSecond};w=1`);
    setHeader("ratelimit", `"key";r=${taken.taken ? taken.left : 0};t=${waitSeconds}`);
    if (!taken.taken) throw new Problem("RATE_LIMITED", { retryAfterSeconds: waitSeconds });
  }
  return credential;
}

/** The same for a request that is still being handled; it does not count towards the rate limit. */
export function authenticateAgain(
  { keyring }: Pick<AuthenticateDeps, "keyring">,
  request: Omit<KeyRequest, "onIdentified">,
  rule: KeyRule,
): Credential {
  const credential = findCaller({ keyring }, request.headers);
  if (!credential) throw new Problem("UNAUTHORIZED");
  refuseAgentKey(credential);
  refuseForbidden(credential, request.address, rule);
  return credential;
}

/** The limits of an agent's key are checked at `/mcp`, so another way to send would be a way around them. */
function refuseAgentKey(credential: Credential | null): void {
  if (credential && credential.key.agent !== null)
    throw new Problem("INSUFFICIENT_SCOPE", { message: "This key is for agents: it is valid at /mcp only." });
}

/** Throws if the rules of the route, the account or the key do not allow the request. */
export function refuseForbidden(
  { key, account, networks }: Credential<SecretHolder>,
  address: string,
  rule: LoginRule,
): void {
  if (account.suspended) throw new Problem("ACCOUNT_SUSPENDED");
  if (networks && !isWithin(networks, address)) throw new Problem("IP_NOT_ALLOWED");
  if (rule === "any scope") return;
  const scope = key.mode === "test" ? rule.testKeys : rule.scope;
  if (scope === null) throw new Problem("TEST_KEY_NOT_ALLOWED");
  if (rule.peopleOnly)
    throw new Problem("INSUFFICIENT_SCOPE", { message: "No API key may do that; a logged-in owner can." });
  refuseMissingScope(key, scope);
}

/** Throws unless the key has the scope. */
export function refuseMissingScope({ scopes }: Pick<SecretHolder, "scopes">, scope: Scope): void {
  if (scopes.includes(scope)) return;
  throw new Problem("INSUFFICIENT_SCOPE", {
    message: `This API key may not do that: it lacks the scope "${scope}".`,
  });
}

/** A header that repeats the same value is accepted; Node joins repeated headers with a comma. */
function singleKey(header: string | string[] | undefined): string {
  if (typeof header === "string" && !header.includes(",")) return header;
  const values = new Set([header ?? ""].flat().flatMap((value) => value.split(",").map((part) => part.trim())));
  const [first = ""] = values;
  return values.size === 1 ? first : "";
}

function isWithin(networks: BlockList, address: string): boolean {
  const plain = unmapped(address);
  return networks.check(plain, plain.includes(":") ? "ipv6" : "ipv4");
}
