import { randomBytes } from "node:crypto";
import { newId } from "../lib/ids.ts";
import { Problem } from "../model/problem.ts";
import { newUser, type User } from "../model/user.ts";
import { hashPassword } from "./passwords.ts";
import type { LogInNeeds } from "./log-in.ts";

/** 80 random bits in groups that can be read out. */
const madeUpPassword = (): string => (randomBytes(10).toString("hex").match(/.{5}/g) ?? []).join("-");

/** A person with a password that was made up for them, for the one time it is shown; null where one was given. */
export interface Welcomed {
  user: User;
  password: string | null;
}

/** Makes a person. A password that the server makes up is good for one login, after which they choose their own. */
export async function addPerson(
  { store, clock }: LogInNeeds,
  accountId: number,
  wishes: Pick<User, "email" | "name" | "role"> & { password: string | null },
): Promise<Welcomed> {
  const { email, name, role } = wishes;
  const madeUp = wishes.password === null ? madeUpPassword() : null;
  const now = clock.now();
  const user = newUser({
    accountId,
    id: newId(now),
    email,
    name,
    role,
    passwordHash: await hashPassword(wishes.password ?? madeUp ?? ""),
    passwordDue: madeUp !== null,
    createdAt: now,
  });
  if (await store.insertUser(user)) return { user, password: madeUp };
  const message = "Somebody logs in with this address already; use another.";
  throw new Problem("NAME_TAKEN", { faults: [{ parameter: "email", message }] });
}

/** Lets somebody in again who has lost the password or the second factor: a new password, no second factor, and no session. */
export async function resetPerson({ store }: LogInNeeds, user: User): Promise<Welcomed> {
  const password = madeUpPassword();
  const passwordHash = await hashPassword(password);
  await store.savePassword(user, { passwordHash, passwordDue: true }, null);
  await store.removeTotp(user);
  return { user: (await store.findUserById(user)) ?? user, password };
}
