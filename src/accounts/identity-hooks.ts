import { newId } from "../lib/ids.ts";
import type { KeyMode } from "../model/api-key.ts";
import { HOOK_SCOPES, loginSecret, type StoredCredential } from "../model/credential.ts";
import type { IdentityHookSettings } from "../model/identity-hook.ts";
import { Problem } from "../model/problem.ts";
import type { CredentialChange } from "../store/credentials.ts";
import type { CredentialDeps } from "./credentials.ts";
import type { KeyChoices } from "./keys.ts";

interface NewHook extends Omit<KeyChoices, "scopes"> {
  mode: KeyMode;
  settings: IdentityHookSettings;
  secret: string;
}

/** The columns of a secret. The id is part of the digest, so two hooks may have the same secret. */
const secretColumns = (
  { keyring, encryption }: Pick<CredentialDeps, "keyring" | "encryption">,
  id: string,
  secret: string,
) => ({
  digest: keyring.digestOf(loginSecret("identity", id, secret)),
  sealed: encryption.encrypt(secret),
});

export async function createHook(
  deps: CredentialDeps,
  accountId: number,
  { secret, settings, ...choices }: NewHook,
): Promise<StoredCredential> {
  const { store, keyring, clock } = deps;
  const now = clock.now();
  const id = newId(now);
  const hook: StoredCredential = {
    accountId,
    id,
    kind: "identity",
    username: id,
    ...secretColumns(deps, id, secret),
    scopes: HOOK_SCOPES,
    settings: { ...settings },
    createdAt: now,
    revokedAt: null,
    lastUsedAt: null,
    ...choices,
  };
  await store.insertCredential(hook);
  await keyring.refresh();
  return hook;
}

export function findHook(
  { keyring }: Pick<CredentialDeps, "keyring">,
  accountId: number,
  id: string,
): StoredCredential {
  const hook = keyring.hooksOf(accountId).find((candidate) => candidate.id === id);
  if (!hook) throw new Problem("RECORD_NOT_FOUND");
  return hook;
}

/** Changes a hook; a new secret takes the place of the old one at once. */
export async function changeHook(
  deps: CredentialDeps,
  accountId: number,
  id: string,
  { secret, ...change }: CredentialChange & { secret?: string | undefined },
): Promise<StoredCredential> {
  findHook(deps, accountId, id);
  const columns = secret === undefined ? {} : secretColumns(deps, id, secret);
  await deps.store.updateCredential(accountId, id, { ...change, ...columns });
  await deps.keyring.refresh();
  return findHook(deps, accountId, id);
}
