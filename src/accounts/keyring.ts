import { coalesce } from "../lib/coalesce.ts";
import type { Clock } from "../lib/clock.ts";
import type { Account } from "../model/account.ts";
import { keyDigest, type ApiKey } from "../model/api-key.ts";
import {
  isLogin,
  loginSecret,
  type LoginCredential,
  type StoredCredential,
  type StoredKind,
} from "../model/credential.ts";
import type { CredentialStore } from "../store/credentials.ts";
import type { RecordStore } from "../store/records.ts";
import { SecretIndex, type Credential } from "./secret-index.ts";

interface KeyringDeps {
  store: RecordStore & CredentialStore;
  clock: Clock;
}

/**
 * All accounts, API keys and credentials, in memory, so that authentication needs no database access. Changes of other nodes
 * arrive through the revision, which a job reads every two seconds, and before an unknown secret is refused.
 */
export class Keyring {
  readonly #deps: KeyringDeps;
  readonly #pepper: Buffer;
  readonly #keys: SecretIndex<ApiKey>;
  readonly #credentials: SecretIndex<StoredCredential>;
  #accounts = new Map<number, Account>();
  #bySystemId: ReadonlyMap<string, Credential<StoredCredential>> = new Map();
  #revision = -1;
  readonly #onChange: (() => void)[] = [];

  constructor(deps: KeyringDeps, pepper: Buffer) {
    this.#deps = deps;
    this.#pepper = pepper;
    this.#keys = new SecretIndex((secret) => this.digestOf(secret));
    this.#credentials = new SecretIndex((secret) => this.digestOf(secret));
  }

  get accountCount(): number {
    return this.#accounts.size;
  }

  /** Calls back after accounts or keys were read again. */
  onChange(run: () => void): void {
    this.#onChange.push(run);
  }

  /** Null if the account was removed. */
  account(id: number): Account | null {
    return this.#accounts.get(id) ?? null;
  }

  keysOf(accountId: number): ApiKey[] {
    return this.#keys.ofAccount(accountId);
  }

  /** Those for the APIs of other products, including revoked and expired ones. */
  credentialsOf(accountId: number): LoginCredential[] {
    return this.#credentials.ofAccount(accountId).filter(isLogin);
  }

  /** The hooks of identity products, including revoked and expired ones. */
  hooksOf(accountId: number): StoredCredential[] {
    return this.#credentials.ofAccount(accountId).filter((credential) => !isLogin(credential));
  }

  /** A valid hook, whose secret or signature the caller verifies; then it notes the use. */
  findHook(id: string): Credential<StoredCredential> | null {
    const found = this.#credentials.findById(id, this.#deps.clock.now());
    return found && !isLogin(found.key) ? found : null;
  }

  noteUse(credential: Credential<StoredCredential>): void {
    this.#credentials.noteUse(credential, this.#deps.clock.now());
  }

  digestOf(secret: string): string {
    return keyDigest(this.#pepper, secret);
  }

  /** The credential of a valid key; null if it is unknown, revoked or expired. */
  find(secret: string): Credential | null {
    return this.#keys.find(secret, this.#deps.clock.now());
  }

  /** The credential of a valid key by its id, for work that was begun with the key. */
  findKey(id: string): Credential | null {
    return this.#keys.findById(id, this.#deps.clock.now());
  }

  /** The same for a username and password of the API of another product. */
  findLogin(kind: StoredKind, username: string, password: string): Credential<StoredCredential> | null {
    return this.#credentials.find(loginSecret(kind, username, password), this.#deps.clock.now());
  }

  /** The SMPP credential of a system id, which may be revoked or expired; null if there is none. */
  findSystemId(systemId: string): Credential<StoredCredential> | null {
    return this.#bySystemId.get(systemId) ?? null;
  }

  /** Reads all accounts, keys and credentials if the revision has changed. */
  async refresh(): Promise<void> {
    const { store } = this.#deps;
    const revision = await store.revision("records");
    if (revision === this.#revision) return;
    const [accounts, keys, credentials] = await Promise.all([
      store.listAccounts(),
      store.listKeys(),
      store.listCredentials(),
    ]);
    // A slow earlier read must not overwrite a later one.
    if (revision < this.#revision) return;
    const now = this.#deps.clock.now();
    this.#accounts = new Map(accounts.map((account) => [account.id, account]));
    this.#keys.replace(keys, this.#accounts, now);
    this.#credentials.replace(credentials, this.#accounts, now);
    const ofSmpp = [...this.#credentials.all].filter(({ key }) => key.kind === "smpp");
    this.#bySystemId = new Map(ofSmpp.map((credential) => [credential.key.username, credential]));
    this.#revision = revision;
    for (const run of this.#onChange) run();
  }

  /** The same for any number of callers: guesses of secrets cause one query at a time. */
  readonly refreshShared: () => Promise<void> = coalesce(() => this.refresh());

  /** Saves the time of last use of keys and credentials. */
  async saveUses(): Promise<void> {
    const { store } = this.#deps;
    const keys = this.#keys.takeUsed();
    if (keys.length > 0) await store.touchKeys(keys);
    const credentials = this.#credentials.takeUsed();
    if (credentials.length > 0) await store.touchCredentials(credentials);
  }
}
