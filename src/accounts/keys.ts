import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { keyHint, newKeySecret, type ApiKey, type KeyMode, type Scope } from "../model/api-key.ts";
import { Problem } from "../model/problem.ts";
import type { RecordStore } from "../store/record-store.ts";
import type { Keyring } from "./keyring.ts";

export interface KeyNeeds {
  store: RecordStore;
  keyring: Keyring;
  clock: Clock;
}

/** What people may choose about a key. */
export interface KeyChoices {
  name: string;
  scopes: readonly Scope[];
  allowedIps: readonly string[];
  requestsPerSecond: number | null;
  expiresAt: number | null;
}

/** A key with its secret: the only moment at which anybody sees it. */
export interface MintedKey {
  key: ApiKey;
  secret: string;
}

/** A new key that is not stored yet. The secret may be given, as on a first start with fixed keys. */
export function mintKey(
  { keyring, clock }: Pick<KeyNeeds, "keyring" | "clock">,
  accountId: number,
  mode: KeyMode,
  choices: KeyChoices,
  secret: string = newKeySecret(mode),
): MintedKey {
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
    ...choices,
  };
  return { key, secret };
}

export async function createKey(
  needs: KeyNeeds,
  accountId: number,
  mode: KeyMode,
  choices: KeyChoices,
): Promise<MintedKey> {
  const minted = mintKey(needs, accountId, mode, choices);
  await needs.store.insertKey(minted.key);
  await needs.keyring.refresh();
  return minted;
}

export function findKey({ keyring }: Pick<KeyNeeds, "keyring">, accountId: number, id: string): ApiKey {
  const key = keyring.keysOf(accountId).find((candidate) => candidate.id === id);
  if (!key) throw new Problem("RECORD_NOT_FOUND");
  return key;
}

export async function changeKey(
  needs: KeyNeeds,
  accountId: number,
  id: string,
  change: Partial<KeyChoices>,
): Promise<ApiKey> {
  findKey(needs, accountId, id);
  await needs.store.updateKey(accountId, id, change);
  await needs.keyring.refresh();
  return findKey(needs, accountId, id);
}

/** Ends a key at once on this node, and on the others as soon as they look. */
export async function revokeKey(needs: KeyNeeds, accountId: number, id: string): Promise<ApiKey> {
  const key = findKey(needs, accountId, id);
  await needs.store.updateKey(accountId, id, { revokedAt: key.revokedAt ?? needs.clock.now() });
  await needs.keyring.refresh();
  return findKey(needs, accountId, id);
}

/** A new key like the old one; both open until the overlap is over, so that callers can change over in peace. */
export async function rotateKey(needs: KeyNeeds, accountId: number, id: string, overlapMs: number): Promise<MintedKey> {
  const old = findKey(needs, accountId, id);
  if (old.revokedAt !== null)
    throw new Problem("RECORD_NOT_FOUND", { message: "The key is revoked; make a new one instead." });
  const { name, scopes, allowedIps, requestsPerSecond, expiresAt } = old;
  const minted = mintKey(needs, accountId, old.mode, { name, scopes, allowedIps, requestsPerSecond, expiresAt });
  await needs.store.insertKey(minted.key);
  const end = needs.clock.now() + overlapMs;
  await needs.store.updateKey(accountId, id, { expiresAt: Math.min(old.expiresAt ?? end, end) });
  await needs.keyring.refresh();
  return minted;
}
