import type { StoredCredential } from "../model/credential.ts";
import { credentialOf, rowOf } from "./credential-rows.ts";
import type { Engine } from "./engine.ts";
import { columnsOfKey } from "./key-columns.ts";
import { bumpRevision } from "./records.ts";

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
