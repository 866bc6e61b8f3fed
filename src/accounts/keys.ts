import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { AgentLimits } from "../model/agent.ts";
import { keyHint, newKeySecret, type ApiKey, type KeyMode, type Scope } from "../model/api-key.ts";
import { Problem } from "../model/problem.ts";
import type { RecordStore } from "../store/records.ts";
import type { Keyring } from "./keyring.ts";

export interface KeyDeps {
  store: RecordStore;
  keyring: Keyring;
  clock: Clock;
}

/** The settings of a key or a credential that users choose. */
export interface KeyChoices {
  name: string;
  scopes: readonly Scope[];
  allowedIps: readonly string[];
  requestsPerSecond: number | null;
  expiresAt: number | null;
}

/** The settings of an API key that users choose. */
export interface ApiKeyChoices extends KeyChoices {
  /** Null, and also if it is missing, is an ordinary key. */
  agent?: AgentLimits | null;
}

/** A new key with its secret, which is shown once. */
export interface NewKey {
  key: ApiKey;
  secret: string;
}

/** Generates a key without storing it. The settings of a first start may give the secret. */
export function generateKey(
  { keyring, clock }: Pick<KeyDeps, "keyring" | "clock">,
  accountId: number,
  mode: KeyMode,
  { agent = null, ...choices }: ApiKeyChoices,
  secret: string = newKeySecret(mode),
): NewKey {
  const now = clock.now();
  const digest = keyring.digestOf(secret);
  const key: ApiKey = {
    accountId,
    id: newId(now),
    mode,
    digest,
    hint: keyHint(secret),
    createdAt: now,
    revokedAt: null,
    lastUsedAt: null,
    agent,
    ...choices,
  };
  return { key, secret };
}

export async function createKey(
  deps: KeyDeps,
  accountId: number,
  mode: KeyMode,
  choices: ApiKeyChoices,
): Promise<NewKey> {
  const created = generateKey(deps, accountId, mode, choices);
  await deps.store.insertKey(created.key);
  await deps.keyring.refresh();
  return created;
}

export function findKey({ keyring }: Pick<KeyDeps, "keyring">, accountId: number, id: string): ApiKey {
  const key = keyring.keysOf(accountId).find((candidate) => candidate.id === id);
  if (!key) throw new Problem("RECORD_NOT_FOUND");
  return key;
}

export async function changeKey(
  deps: KeyDeps,
  accountId: number,
  id: string,
  change: Partial<ApiKeyChoices>,
): Promise<ApiKey> {
  findKey(deps, accountId, id);
  await deps.store.updateKey(accountId, id, change);
  await deps.keyring.refresh();
  return findKey(deps, accountId, id);
}

/** Revokes a key, at once on this node and within two seconds on others. */
export async function revokeKey(deps: KeyDeps, accountId: number, id: string): Promise<ApiKey> {
  const key = findKey(deps, accountId, id);
  await deps.store.updateKey(accountId, id, { revokedAt: key.revokedAt ?? deps.clock.now() });
  await deps.keyring.refresh();
  return findKey(deps, accountId, id);
}

/** Creates a key with the same settings. Both are valid until the overlap ends, so that callers can switch without downtime. */
export async function rotateKey(deps: KeyDeps, accountId: number, id: string, overlapMs: number): Promise<NewKey> {
  const old = findKey(deps, accountId, id);
  if (old.revokedAt !== null)
    throw new Problem("RECORD_NOT_FOUND", { message: "The key is revoked: create a new one with POST /api/keys." });
  const { name, scopes, allowedIps, requestsPerSecond, expiresAt, agent } = old;
  const choices = { name, scopes, allowedIps, requestsPerSecond, expiresAt, agent };
  const created = generateKey(deps, accountId, old.mode, choices);
  await deps.store.insertKey(created.key);
  const end = deps.clock.now() + overlapMs;
  await deps.store.updateKey(accountId, id, { expiresAt: Math.min(old.expiresAt ?? end, end) });
  await deps.keyring.refresh();
  return created;
}
