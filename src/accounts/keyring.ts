import { BlockList } from "node:net";
import type { Clock } from "../lib/clock.ts";
import { readNetwork } from "../lib/network.ts";
import { TokenBucket } from "../lib/token-bucket.ts";
import type { Account } from "../model/account.ts";
import { keyDigest, type ApiKey } from "../model/api-key.ts";
import type { RecordStore } from "../store/record-store.ts";
import type { Caller } from "./caller.ts";

/** A key that opens, with all that is asked of it at every request. */
export interface Credential extends Caller {
  key: ApiKey;
  /** Null when it may come from anywhere. */
  networks: BlockList | null;
  bucket: TokenBucket | null;
}

interface Needs {
  store: RecordStore;
  clock: Clock;
}

/**
 * All accounts and keys, in memory: a request never waits for the database to know who is calling.
 * Other nodes' changes arrive through the revision, which is looked at every two seconds.
 */
export class Keyring {
  readonly #needs: Needs;
  readonly #pepper: Buffer;
  #byDigest = new Map<string, Credential>();
  /** Keys that were looked up before, so that a busy one is not hashed at every request. */
  #bySecret = new Map<string, Credential>();
  #accounts = new Map<number, Account>();
  #revision = -1;
  readonly #used = new Map<string, ApiKey>();

  constructor(needs: Needs, pepper: Buffer) {
    this.#needs = needs;
    this.#pepper = pepper;
  }

  /** The account of an id that came with a message; null when it is gone. */
  account(id: number): Account | null {
    return this.#accounts.get(id) ?? null;
  }

  keysOf(accountId: number): ApiKey[] {
    return [...this.#byDigest.values()]
      .map((credential) => credential.key)
      .filter((key) => key.accountId === accountId);
  }

  digestOf(secret: string): string {
    return keyDigest(this.#pepper, secret);
  }

  /** The credential of a key that is known, not revoked and not expired; null for all others alike. */
  find(secret: string): Credential | null {
    const credential = this.#bySecret.get(secret) ?? this.#byDigest.get(this.digestOf(secret));
    if (!credential) return null;
    const now = this.#needs.clock.now();
    const { key } = credential;
    if (key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now)) return null;
    if (now === key.lastUsedAt) return credential;
    this.#bySecret.set(secret, credential);
    key.lastUsedAt = now;
    this.#used.set(key.digest, key);
    return credential;
  }

  /** Reads everything again if anything has changed. */
  async refresh(): Promise<void> {
    const { store } = this.#needs;
    const revision = await store.revision("records");
    if (revision === this.#revision) return;
    const [accounts, keys] = await Promise.all([store.listAccounts(), store.listKeys()]);
    // A slower reading that began earlier must not bring back what a later one has seen end.
    if (revision < this.#revision) return;
    const now = this.#needs.clock.now();
    const before = this.#byDigest;
    this.#accounts = new Map(accounts.map((account) => [account.id, account]));
    this.#byDigest = new Map();
    this.#bySecret = new Map();
    for (const key of keys) {
      const account = this.#accounts.get(key.accountId);
      if (account) this.#byDigest.set(key.digest, credentialOf(key, account, before.get(key.digest), now));
    }
    this.#revision = revision;
  }

  /** Writes down when keys were last used; seldom, because nobody needs it to the second. */
  async saveUses(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = [...this.#used.values()];
    this.#used.clear();
    await this.#needs.store.touchKeys(used);
  }
}

function credentialOf(key: ApiKey, account: Account, before: Credential | undefined, now: number): Credential {
  const rate = key.requestsPerSecond;
  const sameRate = before?.bucket?.ratePerSecond === rate;
  return {
    key: { ...key, lastUsedAt: Math.max(key.lastUsedAt ?? 0, before?.key.lastUsedAt ?? 0) || null },
    account,
    // What its scopes let it do, it may do as an owner.
    role: "owner",
    actor: { kind: "key", id: key.id, name: key.name },
    session: null,
    networks: key.allowedIps.length === 0 ? null : networksOf(key.allowedIps),
    bucket: rate === null ? null : sameRate && before ? before.bucket : new TokenBucket(rate, now),
  };
}

function networksOf(list: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const entry of list) {
    const network = readNetwork(entry);
    if (network) networks.addSubnet(network.address, network.prefix, network.family);
  }
  return networks;
}
