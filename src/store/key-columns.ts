import type { ApiKey } from "../model/api-key.ts";
import type { Tables } from "./tables.ts";

type KeyColumns = Pick<
  Tables["api_keys"],
  "name" | "scopes" | "allowed_ips" | "requests_per_second" | "expires_at" | "revoked_at"
>;

/** The columns that keys and credentials have in common. */
export function columnsOfKey(key: Omit<ApiKey, "accountId" | "hint" | "agent">): KeyColumns;
export function columnsOfKey(change: Partial<ApiKey>): Partial<KeyColumns>;
export function columnsOfKey(change: Partial<ApiKey>): Partial<KeyColumns> {
  return {
    ...(change.name === undefined ? {} : { name: change.name }),
    ...(change.scopes === undefined ? {} : { scopes: JSON.stringify(change.scopes) }),
    ...(change.allowedIps === undefined ? {} : { allowed_ips: JSON.stringify(change.allowedIps) }),
    ...(change.requestsPerSecond === undefined ? {} : { requests_per_second: change.requestsPerSecond }),
    ...(change.expiresAt === undefined ? {} : { expires_at: change.expiresAt }),
    ...(change.revokedAt === undefined ? {} : { revoked_at: change.revokedAt }),
  };
}
