import { BlockList } from "node:net";
import { readNetwork } from "../lib/network.ts";
import { TokenBucket } from "../lib/token-bucket.ts";
import type { Account } from "../model/account.ts";
import type { ApiKey } from "../model/api-key.ts";
import type { Caller } from "./caller.ts";

/** The properties that API keys and credentials share. */
export type SecretHolder = Omit<ApiKey, "hint" | "agent">;

/** A valid key or credential with everything that each request checks. */
export interface Credential<K extends SecretHolder = ApiKey> extends Caller {
  key: K;
  /** Null if all addresses are allowed. */
  networks: BlockList | null;
  bucket: TokenBucket | null;
}

/** Keys or credentials in memory, found by their secret. */
export class SecretIndex<K extends SecretHolder> {
  #byDigest = new Map<string, Credential<K>>();
  /** Secrets seen before, so that a busy key is not hashed at every request. */
  #bySecret = new Map<string, Credential<K>>();
  #byId = new Map<string, Credential<K>>();
  readonly #used = new Map<string, K>();
  readonly #digestOf: (secret: string) => string;

  constructor(digestOf: (secret: string) => string) {
    this.#digestOf = digestOf;
  }

  ofAccount(accountId: number): K[] {
    return [...this.#byDigest.values()]
      .map((credential) => credential.key)
      .filter((key) => key.accountId === accountId);
  }

  /** All of them, including those that open nothing any more. */
  get all(): Iterable<Credential<K>> {
    return this.#byDigest.values();
  }

  /** Null if the secret is unknown, revoked or expired. Secrets are looked up by their digest, so timing tells nothing. */
  find(secret: string, now: number): Credential<K> | null {
    const credential = this.#bySecret.get(secret) ?? this.#byDigest.get(this.#digestOf(secret));
    if (!credential) return null;
    const { key } = credential;
    if (!isValid(key, now)) return null;
    if (now === key.lastUsedAt) return credential;
    this.#bySecret.set(secret, credential);
    this.noteUse(credential, now);
    return credential;
  }

  /** The valid holder of an id, for a caller that verifies its secret itself; `noteUse` follows. */
  findById(id: string, now: number): Credential<K> | null {
    const credential = this.#byId.get(id);
    return credential && isValid(credential.key, now) ? credential : null;
  }

  noteUse({ key }: Credential<K>, now: number): void {
    key.lastUsedAt = now;
    this.#used.set(key.digest, key);
  }

  /** Replaces all keys. A key whose rate has not changed keeps its bucket. */
  replace(keys: readonly K[], accounts: ReadonlyMap<number, Account>, now: number): void {
    const previous = this.#byDigest;
    this.#byDigest = new Map();
    this.#bySecret = new Map();
    this.#byId = new Map();
    for (const key of keys) {
      const account = accounts.get(key.accountId);
      if (!account) continue;
      const credential = credentialOf(key, account, previous.get(key.digest), now);
      this.#byDigest.set(key.digest, credential);
      this.#byId.set(key.id, credential);
    }
  }

  /** The keys used since the last call. */
  takeUsed(): K[] {
    const used = [...this.#used.values()];
    this.#used.clear();
    return used;
  }
}

const isValid = ({ revokedAt, expiresAt }: SecretHolder, now: number): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt > now);

function credentialOf<K extends SecretHolder>(
  key: K,
  account: Account,
  previous: Credential<K> | undefined,
  now: number,
): Credential<K> {
  const rate = key.requestsPerSecond;
  const sameRate = previous?.bucket?.ratePerSecond === rate;
  return {
    key: { ...key, lastUsedAt: Math.max(key.lastUsedAt ?? 0, previous?.key.lastUsedAt ?? 0) || null },
    account,
    // Scopes limit a key; its role does not.
    role: "owner",
    actor: { kind: "key", id: key.id, name: key.name },
    session: null,
    networks: key.allowedIps.length === 0 ? null : networksOf(key.allowedIps),
    bucket: rate === null ? null : sameRate && previous ? previous.bucket : new TokenBucket(rate, now),
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
