import { isPlainText } from "../lib/plain-text.ts";
import type { Role } from "./account.ts";

/** A person who may log in; each belongs to one account. */
export interface User {
  accountId: number;
  id: string;
  /** As `readEmail` gives it; no two people of the whole service share one. */
  email: string;
  name: string;
  passwordHash: string;
  role: Role;
  disabled: boolean;
  /** The password was made up by the server, and the next thing to do is to change it. */
  passwordDue: boolean;
  createdAt: number;
  lastLoginAt: number | null;
  /** The sealed secret of the second factor; null while there is none. */
  totpSecret: string | null;
  /** The same before its first code has shown that it arrived. */
  totpNext: string | null;
  /** The last step of time whose code was used: no code is good twice. */
  totpStep: number | null;
}

/** What must be known of a person from the beginning. */
export type NewUser = Pick<User, "id" | "email" | "passwordHash" | "role" | "createdAt">;

/** A person who has done nothing yet. */
export const newUser = (given: NewUser & Partial<User> & Pick<User, "accountId">): User => ({
  name: "",
  disabled: false,
  passwordDue: false,
  lastLoginAt: null,
  totpSecret: null,
  totpNext: null,
  totpStep: null,
  ...given,
});

/** A login that lasts. The token itself is only in the person's browser. */
export interface Session {
  /** HMAC of the token under the server's secret. */
  digest: string;
  accountId: number;
  userId: string;
  createdAt: number;
  seenAt: number;
}

export const ROLES = ["viewer", "member", "owner"] as const satisfies readonly Role[];

/** Whether a role may do what asks for another: each may do all that those before it may. */
export const mayAs = (role: Role, asked: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(asked);

const EMAIL_MAX = 254;

/** An address as it is stored and looked up, so that capital letters make no second person; null for what is none. */
export function readEmail(written: string): string | null {
  const email = written.trim().toLowerCase();
  const isOne = /^[^\s@]+@[^\s@]+$/.test(email) && isPlainText(email) && email.length <= EMAIL_MAX;
  return isOne ? email : null;
}

const PASSWORD_MIN = 10;
const PASSWORD_MAX = 200;

/** What is wrong with a new password; null when nothing is. Length is what counts: rules about signs make people write it down. */
export function passwordFault(password: string, email: string): string | null {
  const { length } = password;
  if (length < PASSWORD_MIN || length > PASSWORD_MAX)
    return `A password has ${PASSWORD_MIN} to ${PASSWORD_MAX} characters; a few words in a row are a good one.`;
  const plain = password.toLowerCase();
  if (plain === email || plain === email.split("@", 1)[0]) return "The password must not be the e-mail address.";
  return new Set(password).size < 4 ? "The password repeats the same few characters; use more different ones." : null;
}
