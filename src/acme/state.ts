import { createEncryption, type Encryption } from "../lib/encryption.ts";
import type { RecordStore } from "../store/records.ts";

/** The service value that all nodes share. */
const NAME = "acme";

export interface StoredCertificate {
  domains: readonly string[];
  /** Chain in PEM. */
  cert: string;
  /** Encrypted under the master key, like the key of the account. */
  key: string;
  /** The ACME server that issued it. */
  directoryUrl: string;
}

/** Everything about ACME that the nodes of one database share. */
export interface AcmeState {
  /** By the URL of the ACME server. */
  accountKeys: Readonly<Record<string, string>>;
  certificate: StoredCertificate | null;
  /** The order in progress. Other nodes answer its challenges, and place no order until the lease ends. */
  order: { leaseEndsAt: number; answers: Readonly<Record<string, string>> } | null;
  /** The last attempts failed; null after a success. */
  failure: { count: number; reason: string; retryAt: number } | null;
}

const EMPTY: AcmeState = { accountKeys: {}, certificate: null, order: null, failure: null };

export type AcmeStore = Pick<RecordStore, "settled" | "replaceSettled">;

const CONFLICTS_MAX = 20;

/** The stored state, without the means to decrypt its keys. */
export async function readAcmeState(store: Pick<AcmeStore, "settled">): Promise<AcmeState> {
  const stored = await store.settled(NAME);
  return stored === null ? EMPTY : (JSON.parse(stored) as AcmeState);
}

export class SharedAcmeState {
  readonly #store: AcmeStore;
  readonly encryption: Encryption;

  constructor(store: AcmeStore, key: Buffer) {
    this.#store = store;
    this.encryption = createEncryption(key);
  }

  read(): Promise<AcmeState> {
    return readAcmeState(this.#store);
  }

  /** Changes the state by compare and swap. A change that returns null leaves it as it is, and so does the result. */
  async change(next: (state: AcmeState) => AcmeState | null): Promise<AcmeState | null> {
    for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts += 1) {
      const stored = await this.#store.settled(NAME);
      const changed = next(stored === null ? EMPTY : (JSON.parse(stored) as AcmeState));
      if (changed === null) return null;
      if (await this.#store.replaceSettled(NAME, stored, JSON.stringify(changed))) return changed;
    }
    throw new Error("other nodes change the ACME state all the time");
  }
}
