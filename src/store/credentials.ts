import type { KeyMode, Scope } from "../model/api-key.ts";
import type { StoredCredential, StoredKind } from "../model/credential.ts";
import type { Engine } from "./engine.ts";
import { bumpRevision, columnsOfKey } from "./records.ts";
import type { Tables } from "./tables.ts";

/** Credentials for the APIs of other products. They are cached in memory like API keys. */
export interface CredentialStore {
  listCredentials(): Promise<StoredCredential[]>;
  insertCredential(credential: StoredCredential): Promise<void>;
  /** Returns false when there is no such credential. */
  updateCredential(accountId: number, id: string, change: CredentialChange): Promise<boolean>;
  touchCredentials(used: readonly Pick<StoredCredential, "accountId" | "id" | "lastUsedAt">[]): Promise<void>;
}

export type CredentialChange = Partial<
  Pick<
    StoredCredential,
    "name" | "scopes" | "allowedIps" | "requestsPerSecond" | "expiresAt" | "revokedAt" | "settings"
  > &
    StoredSecret
>;

/** A new secret: the digest by which it is unique, and the secret itself, encrypted. */
type StoredSecret = Pick<StoredCredential, "digest" | "sealed">;

type CredentialRow = Tables["credentials"];

/** Credential queries for both engines. Every change bumps the revision that other nodes watch. */
export function createCredentials({ db, atomically }: Engine): CredentialStore {
  return {
    async listCredentials() {
      const rows = await db.selectFrom("credentials").selectAll().orderBy("account_id").orderBy("id").execute();
      return rows.map(credentialOf);
    },

    insertCredential: (credential) =>
      atomically([db.insertInto("credentials").values(rowOf(credential)).compile(), bumpRevision(db, "records")]),

    async updateCredential(accountId, id, { settings, digest, sealed, ...change }) {
      const row = await db
        .selectFrom("credentials")
        .select("id")
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .executeTakeFirst();
      if (!row) return false;
      const columns = {
        ...columnsOfKey(change),
        ...(settings && { settings: JSON.stringify(settings) }),
        ...(digest !== undefined && { digest, sealed: sealed ?? null }),
      };
      if (Object.keys(columns).length === 0) return true;
      const update = db
        .updateTable("credentials")
        .set(columns)
        .where("account_id", "=", accountId)
        .where("id", "=", id);
      await atomically([update.compile(), bumpRevision(db, "records")]);
      return true;
    },

    touchCredentials: (used) =>
      atomically(
        used.map(({ accountId, id, lastUsedAt }) =>
          db
            .updateTable("credentials")
            .set({ last_used_at: lastUsedAt })
            .where("account_id", "=", accountId)
            .where("id", "=", id)
            .compile(),
        ),
      ),
  };
}

const credentialOf = (row: CredentialRow): StoredCredential => ({
  accountId: row.account_id,
  id: row.id,
  kind: row.kind as StoredKind,
  username: row.username,
  digest: row.digest,
  sealed: row.sealed,
  name: row.name,
  mode: row.mode as KeyMode,
  scopes: JSON.parse(row.scopes) as Scope[],
  allowedIps: JSON.parse(row.allowed_ips) as string[],
  requestsPerSecond: row.requests_per_second,
  settings: JSON.parse(row.settings) as StoredCredential["settings"],
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  lastUsedAt: row.last_used_at,
});

const rowOf = (credential: StoredCredential): CredentialRow => ({
  account_id: credential.accountId,
  id: credential.id,
  kind: credential.kind,
  username: credential.username,
  digest: credential.digest,
  sealed: credential.sealed,
  mode: credential.mode,
  settings: JSON.stringify(credential.settings),
  created_at: credential.createdAt,
  last_used_at: credential.lastUsedAt,
  ...columnsOfKey(credential),
});
