import type { Session, User } from "../model/user.ts";

/** Which person is meant. */
export type UserRef = Pick<User, "accountId" | "id">;

/** People, their sessions, and what keeps guessers out. Few rows, asked at every request of a person: what ends, ends at once. */
export interface UserStore {
  findUser(email: string): Promise<User | null>;
  /** By id, from the one after `after` on. */
  listUsers(accountId: number, after: string | null, limit: number): Promise<{ rows: User[]; next: string | null }>;
  findUserById(ref: UserRef): Promise<User | null>;
  /** False, and nothing stored, when somebody has the address. */
  insertUser(user: User): Promise<boolean>;
  /** What would leave the account without an owner who can log in is not done. Who is disabled has no sessions left. */
  changeUser(
    ref: UserRef,
    change: Partial<Pick<User, "name" | "role" | "disabled">>,
  ): Promise<"changed" | "missing" | "last owner">;
  removeUser(ref: UserRef): Promise<"removed" | "missing" | "last owner">;
  /** Ends every session of the person but `keep`. */
  savePassword(ref: UserRef, password: Pick<User, "passwordHash" | "passwordDue">, keep: string | null): Promise<void>;

  /**
   * Stores a session, and that the person has logged in, unless the password is another by now or the person was disabled:
   * whoever was let in by an old password at the moment of its change has no session.
   */
  insertSession(session: Session, passwordHash: string): Promise<void>;
  /** The session with whose it is; null when either is gone. */
  findSession(digest: string): Promise<{ session: Session; user: User } | null>;
  touchSession(digest: string, seenAt: number): Promise<void>;
  removeSession(digest: string): Promise<void>;
  /** Removes sessions that were not used, or not opened, since these times; says how many went. */
  forgetSessions(accountId: number, before: { seenAt: number; createdAt: number }, limit: number): Promise<number>;

  /** Keeps a sealed secret until its first code comes. */
  beginTotp(ref: UserRef, sealed: string): Promise<void>;
  /** Makes the secret that was begun the second factor; false when another was begun meanwhile. */
  confirmTotp(ref: UserRef, sealed: string, step: number, recoveryDigests: readonly string[]): Promise<boolean>;
  /** True for one caller and one step of time, and never for an earlier step. */
  useTotpStep(ref: UserRef, step: number): Promise<boolean>;
  /** True once for each code. */
  useRecoveryCode(ref: UserRef, digest: string): Promise<boolean>;
  removeTotp(ref: UserRef): Promise<void>;

  /**
   * Counts a try before it is known how it ends, so that many at once are as many: from the fifth on, the next has to wait
   * for a minute, then for twice as long each time, up to an hour. Gives which try it is, or until when there is none.
   */
  beginAttempt(digest: string, now: number): Promise<{ failures: number } | { lockedUntil: number }>;
  /** Takes back a try that was neither right nor wrong. */
  releaseAttempt(digest: string): Promise<void>;
  /** Forgets all tries, after a right one. */
  clearAttempts(digests: readonly string[]): Promise<void>;
  /** Removes tries from before a time; says how many went. */
  forgetAttempts(before: number, limit: number): Promise<number>;
}
