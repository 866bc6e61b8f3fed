import type { Account, AccountSettings } from "../model/account.ts";
import type { ApiKey } from "../model/api-key.ts";
import type { CatalogRecord } from "../model/catalog.ts";
import type { NewUser } from "../model/user.ts";

export interface NewAccount {
  name: string;
  createdAt: number;
  owner: NewUser;
  keys: readonly Omit<ApiKey, "accountId">[];
  phones: readonly { number: string; name: string }[];
  catalog: readonly Omit<CatalogRecord, "accountId">[];
}

/** What people configure: few rows, read into memory, changed seldom. */
export interface RecordStore {
  /** Grows with every change of accounts or keys, or of the catalog, by any node. */
  revision(topic: "records" | "catalog"): Promise<number>;
  listAccounts(): Promise<Account[]>;
  /** Gives null, and stores nothing, when the name is taken. */
  createAccount(account: NewAccount): Promise<number | null>;
  /** Changes only the settings that are given. */
  saveSettings(accountId: number, change: Partial<AccountSettings>): Promise<void>;
  listKeys(): Promise<ApiKey[]>;
  insertKey(key: ApiKey): Promise<void>;
  /** Changes a key that is there; false when it is not. */
  updateKey(
    accountId: number,
    id: string,
    change: Partial<Pick<ApiKey, "name" | "scopes" | "allowedIps" | "requestsPerSecond" | "expiresAt" | "revokedAt">>,
  ): Promise<boolean>;
  touchKeys(used: readonly Pick<ApiKey, "accountId" | "id" | "lastUsedAt">[]): Promise<void>;
  /** Writes a value of the whole service once; gives the value that stands. */
  settle(name: string, value: string): Promise<string>;
}
