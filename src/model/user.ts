import { isPlainText } from "../lib/text.ts";
import type { Role } from "./account.ts";

/** A person who may log in; each belongs to one account. */
export interface User {
  accountId: number;
  id: string;
  /** As `readEmail` returns it; unique in the whole service. */
  email: string;
  name: string;
  passwordHash: string;
  role: Role;
  disabled: boolean;
  /** The password is temporary, and must be changed at the next login. */
  passwordDue: boolean;
  createdAt: number;
  lastLoginAt: number | null;
  /** The encrypted TOTP secret; null without a second factor. */
  totpSecret: string | null;
  /** A TOTP secret that no code has confirmed yet. */
  totpNext: string | null;
  /** The last used TOTP time step: a code cannot be used twice (replay). */
  totpStep: number | null;
}

/** The fields of a new user. */
export type NewUser = Pick<User, "id" | "email" | "passwordHash" | "role" | "createdAt">;

/** A new user. */
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

/** A session. The token itself is only in the browser. */
export interface Session {
  /** HMAC of the token under the server's secret. */
  digest: string;
  accountId: number;
  userId: string;
  createdAt: number;
  seenAt: number;
  /** Network address and name of the browser that opened it, so that its user can recognise it. */
  address: string;
  agent: string;
}

/** A link with which a user chooses a password. */
export interface Invitation {
  /** HMAC of the link's token under the server's secret. */
  digest: string;
  accountId: number;
  userId: string;
  expiresAt: number;
}

export const ROLES = ["viewer", "member", "owner"] as const satisfies readonly Role[];

/** True when a role includes another: each role includes those before it. */
export const mayAs = (role: Role, asked: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(asked);

const EMAIL_MAX = 254;

/** The normalised e-mail address, so that letter case creates no second user; null when it is none. */
export function readEmail(written: string): string | null {
  const email = written.trim().toLowerCase();
  const isOne = /^[^\s@]+@[^\s@]+$/.test(email) && isPlainText(email) && email.length <= EMAIL_MAX;
  return isOne ? email : null;
}

/** A user of any account has this address. */
export class EmailTaken extends Error {
  override name = "EmailTaken";

  constructor(email: string) {
    super(`a user has the email address ${email} already`);
  }
}

const PASSWORD_MIN = 10;
const PASSWORD_MAX = 200;

/** The fault of a new password; null when there is none. Only length is required: rules about characters make people write it down. */
export function passwordFault(password: string, email: string): string | null {
  const { length } = password;
  if (length < PASSWORD_MIN || length > PASSWORD_MAX)
    return `A password has ${PASSWORD_MIN} to ${PASSWORD_MAX} characters; a few words in a row are a good one.`;
  const plain = password.toLowerCase();
  if (plain === email || plain === email.split("@", 1)[0]) return "The password must not be the e-mail address.";
  return new Set(password).size < 4 ? "The password repeats the same few characters; use more different ones." : null;
}
