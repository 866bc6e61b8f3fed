import type { Clock } from "../lib/clock.ts";
import type { Encryption } from "../lib/encryption.ts";
import { newId } from "../lib/ids.ts";
import type { KeyMode } from "../model/api-key.ts";
import {
  loginSecret,
  newLogin,
  type CredentialForm,
  type CredentialKind,
  type LoginCredential,
  type StoredCredential,
} from "../model/credential.ts";
import { Problem } from "../model/problem.ts";
import type { CredentialChange, CredentialStore } from "../store/credentials.ts";
import type { Keyring } from "./keyring.ts";
import type { KeyChoices } from "./keys.ts";

export interface CredentialDeps {
  store: CredentialStore;
  keyring: Keyring;
  clock: Clock;
  /** Encrypts passwords that also sign. */
  encryption: Pick<Encryption, "encrypt">;
}

interface NewCredential extends KeyChoices {
  kind: CredentialKind;
  form: CredentialForm;
  mode: KeyMode;
  settings: StoredCredential["settings"];
}

/** Creates a credential with a random password, which is shown once. */
export async function createCredential(
  { store, keyring, clock, encryption }: CredentialDeps,
  accountId: number,
  { kind, form, mode, ...choices }: NewCredential,
): Promise<{ credential: LoginCredential; password: string }> {
  const now = clock.now();
  const { username, password } = newLogin(kind, form, { accountId, mode });
  const credential: LoginCredential = {
    accountId,
    id: newId(now),
    kind,
    username,
    digest: keyring.digestOf(loginSecret(kind, username, password)),
    // Twilio's callbacks are signed with the account's token.
    sealed: kind === "twilio" && form === "account" ? encryption.encrypt(password) : null,
    mode,
    createdAt: now,
    revokedAt: null,
    lastUsedAt: null,
    ...choices,
  };
  await store.insertCredential(credential);
  await keyring.refresh();
  return { credential, password };
}

export function findCredential(
  { keyring }: Pick<CredentialDeps, "keyring">,
  accountId: number,
  id: string,
): LoginCredential {
  const credential = keyring.credentialsOf(accountId).find((candidate) => candidate.id === id);
  if (!credential) throw new Problem("RECORD_NOT_FOUND");
  return credential;
}

export async function changeCredential(
  { store, keyring }: Pick<CredentialDeps, "store" | "keyring">,
  accountId: number,
  id: string,
  change: CredentialChange,
): Promise<LoginCredential> {
  findCredential({ keyring }, accountId, id);
  await store.updateCredential(accountId, id, change);
  await keyring.refresh();
  return findCredential({ keyring }, accountId, id);
}

/** Revokes a credential, at once on this node and within two seconds on others. */
export async function revokeCredential(
  deps: Pick<CredentialDeps, "store" | "keyring" | "clock">,
  accountId: number,
  id: string,
): Promise<LoginCredential> {
  const { revokedAt } = findCredential(deps, accountId, id);
  return changeCredential(deps, accountId, id, { revokedAt: revokedAt ?? deps.clock.now() });
}
