import type { Account, Role } from "../model/account.ts";
import { SCOPES, type ApiKey } from "../model/api-key.ts";
import type { Actor } from "../model/audit.ts";
import type { OpenSession } from "./sessions.ts";

/** The origin of a request: an API key, or a user with a session. */
export interface Caller {
  account: Account;
  /** Permissions as those of a key; a user acts like a live key. */
  key: Pick<ApiKey, "mode" | "scopes"> & Partial<Pick<ApiKey, "expiresAt" | "allowedIps">>;
  role: Role;
  actor: Actor;
  /** Null for API keys. */
  session: OpenSession | null;
}

/** Scopes that users can give to keys they create. Only owners can give `manage`. */
const OWNER_PERMISSIONS = { mode: "live", scopes: SCOPES } as const;
const MEMBER_PERMISSIONS = { mode: "live", scopes: SCOPES.filter((scope) => scope !== "manage") } as const;

export function callerOfSession(account: Account, session: OpenSession): Caller {
  const { id, email, role } = session.user;
  return {
    account,
    key: role === "owner" ? OWNER_PERMISSIONS : MEMBER_PERMISSIONS,
    role,
    actor: { kind: "user", id, name: email },
    session,
  };
}
