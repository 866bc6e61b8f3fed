import type { KeyMode, Scope } from "../model/api-key.ts";
import type { StoredCredential, StoredKind } from "../model/credential.ts";
import { columnsOfKey } from "./key-columns.ts";
import type { Tables } from "./tables.ts";

export type CredentialRow = Tables["credentials"];

export const credentialOf = (row: CredentialRow): StoredCredential => ({
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

export const rowOf = (credential: StoredCredential): CredentialRow => ({
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
