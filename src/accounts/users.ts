import { randomBytes } from "node:crypto";
import { newId } from "../lib/ids.ts";
import { Problem } from "../model/problem.ts";
import { newUser, type User } from "../model/user.ts";
import { hashPassword } from "./passwords.ts";
import type { LogInDeps } from "./log-in.ts";

/** 80 random bits in groups that can be read out. */
const temporaryPassword = (): string => (randomBytes(10).toString("hex").match(/.{5}/g) ?? []).join("-");

/** A user with the temporary password, which is shown once; null if the request gave a password. */
export interface AddedUser {
  user: User;
  password: string | null;
}

/** Creates a user. A temporary password is valid for one login, after which the user chooses another. */
export async function addUser(
  { store, clock }: LogInDeps,
  accountId: number,
  wanted: Pick<User, "email" | "name" | "role"> & { password: string | null },
): Promise<AddedUser> {
  const { email, name, role } = wanted;
  const temporary = wanted.password === null ? temporaryPassword() : null;
  const now = clock.now();
  const user = newUser({
    accountId,
    id: newId(now),
    email,
    name,
    role,
    passwordHash: await hashPassword(wanted.password ?? temporary ?? ""),
    passwordDue: temporary !== null,
    createdAt: now,
  });
  if (await store.insertUser(user)) return { user, password: temporary };
  const message = "Another user logs in with this address; use another.";
  throw new Problem("NAME_TAKEN", { faults: [{ parameter: "email", message }] });
}

/** Resets a user who has lost the password or the second factor: temporary password, no second factor, no sessions. */
export async function resetUser({ store }: LogInDeps, user: User): Promise<AddedUser> {
  const password = temporaryPassword();
  const passwordHash = await hashPassword(password);
  await store.savePassword(user, { passwordHash, passwordDue: true }, null);
  await store.removeTotp(user);
  return { user: (await store.findUserById(user)) ?? user, password };
}
