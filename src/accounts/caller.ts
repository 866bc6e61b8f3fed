import type { Account, Role } from "../model/account.ts";
import { SCOPES, type ApiKey } from "../model/api-key.ts";
import type { Actor } from "../model/audit.ts";
import type { OpenSession } from "./sessions.ts";

/** Who a request comes from: a program with its key, or a person who is logged in. */
export interface Caller {
  account: Account;
  /** What it may do as a key; a person acts as a live key would. */
  key: Pick<ApiKey, "mode" | "scopes">;
  role: Role;
  actor: Actor;
  /** Null where a program calls. */
  session: OpenSession | null;
}

/** What a person may give to the keys that they make: only an owner's may manage. */
const OWNERS_KEY = { mode: "live", scopes: SCOPES } as const;
const MEMBERS_KEY = { mode: "live", scopes: SCOPES.filter((scope) => scope !== "manage") } as const;

/** A person as a caller of their account. */
export function personAs(account: Account, session: OpenSession): Caller {
  const { id, email, role } = session.user;
  return {
    account,
    key: role === "owner" ? OWNERS_KEY : MEMBERS_KEY,
    role,
    actor: { kind: "user", id, name: email },
    session,
  };
}
