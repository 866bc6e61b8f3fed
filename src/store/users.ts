import { sql, type CompiledQuery, type RawBuilder, type Selectable } from "kysely";
import type { Role } from "../model/account.ts";
import type { Invitation, Session, User } from "../model/user.ts";
import type { Engine } from "./engine.ts";
import type { Tables, UserRow } from "./tables.ts";

type UserRef = Pick<User, "accountId" | "id">;

/** Wrong attempts without a pause, and the pause after further ones, which doubles up to a maximum. */
export interface AttemptLimits {
  freeTries: number;
  pauseMs: number;
  pauseMaxMs: number;
}

/** Users, sessions and brute-force protection. Queried at every dashboard request, so that revocation takes effect at once. */
export interface UserStore {
  findUser(email: string): Promise<User | null>;
  /** Ordered by id, starting after `after`. */
  listUsers(accountId: number, after: string | null, limit: number): Promise<{ rows: User[]; next: string | null }>;
  findUserById(ref: UserRef): Promise<User | null>;
  /** Returns false, and stores nothing, when the address is taken. */
  insertUser(user: User): Promise<boolean>;
  /**
   * Refuses a change that leaves the account without an owner who can log in. Disabling a user ends all of the user's sessions.
   */
  changeUser(
    ref: UserRef,
    change: Partial<Pick<User, "name" | "role" | "disabled">>,
  ): Promise<"changed" | "missing" | "last owner">;
  removeUser(ref: UserRef): Promise<"removed" | "missing" | "last owner">;
  /** Ends every session of the user except `keep`. */
  savePassword(ref: UserRef, password: Pick<User, "passwordHash" | "passwordDue">, keep: string | null): Promise<void>;

  /**
   * Stores a session and the login time. Refuses if the password has changed, a second factor was enabled, or the user was
   * disabled since the login was checked (race condition). Returns whether the session exists. `proven` is the user as
   * checked.
   */
  insertSession(session: Session, proven: Pick<User, "passwordHash" | "totpSecret">): Promise<boolean>;
  /** The session with its user; null when either is missing. */
  findSession(digest: string): Promise<{ session: Session; user: User } | null>;
  touchSession(digest: string, seenAt: number): Promise<void>;
  removeSession(digest: string): Promise<void>;
  /** All stored sessions of a user, also those that have expired; the latest first. */
  listSessions(ref: UserRef): Promise<readonly Session[]>;

  /** Replaces earlier invitations of the user, and deletes those that have expired. */
  invite(invitation: Invitation, now: number): Promise<void>;
  findInvitation(digest: string): Promise<Invitation | null>;
  /** Sets the password and deletes the invitation; false when another request has used it. Ends every session of the user. */
  acceptInvitation(invitation: Invitation, passwordHash: string): Promise<boolean>;

  /** Stores an encrypted secret until its first code confirms it. */
  beginTotp(ref: UserRef, sealed: string): Promise<void>;
  /**
   * Makes the pending secret the second factor. Ends all sessions except the one to keep, because they were opened without it.
   * Returns false when another secret was begun meanwhile.
   */
  confirmTotp(
    ref: UserRef,
    sealed: string,
    step: number,
    recoveryDigests: readonly string[],
    keep: string,
  ): Promise<boolean>;
  /** Replay protection: true for one caller per time step, and never for an earlier step. */
  useTotpStep(ref: UserRef, step: number): Promise<boolean>;
  /** True once for each code. */
  useRecoveryCode(ref: UserRef, digest: string): Promise<boolean>;
  removeTotp(ref: UserRef): Promise<void>;

  /**
   * Counts an attempt before its outcome is known, so that parallel attempts all count. By default, the fifth wrong attempt
   * causes a pause of a minute, which doubles each time up to an hour. Returns the number of the attempt, or the end of the
   * pause.
   */
  beginAttempt(
    digest: string,
    now: number,
    limits?: AttemptLimits,
  ): Promise<{ failures: number } | { lockedUntil: number }>;
  /** Takes back an attempt that was neither right nor wrong. */
  releaseAttempt(digest: string): Promise<void>;
  /** Clears all attempts, after a successful one. */
  clearAttempts(digests: readonly string[]): Promise<void>;
}

const USUAL_LIMITS: AttemptLimits = { freeTries: 5, pauseMs: 60_000, pauseMaxMs: 3_600_000 };
/** Attempts expire after a day without another wrong one. */
const FORGOTTEN_MS = 86_400_000;

/** User and session queries for both engines. */
export function createUsers({ db, atomically, isAmong }: Engine): UserStore {
  const ofUser = (ref: UserRef) =>
    db.selectFrom("users").where("account_id", "=", ref.accountId).where("id", "=", ref.id);
  const update = (ref: UserRef) =>
    db.updateTable("users").where("account_id", "=", ref.accountId).where("id", "=", ref.id);

  /** Row lock on the account: of two owners who leave at once, the second sees that the first is gone. */
  const inTurn = (accountId: number): CompiledQuery =>
    db
      .updateTable("accounts")
      .set({ suspended: sql`suspended` })
      .where("id", "=", accountId)
      .compile();
  const hasOtherOwner = ({ accountId, id }: UserRef): RawBuilder<boolean> =>
    sql`exists (select 1 from users as other where other.account_id = ${accountId} and other.id <> ${id}
      and other.role = 'owner' and other.disabled = 0)`;
  const isNoOwner = sql<boolean>`(role <> 'owner' or disabled = 1)`;

  const dropSessions = (ref: UserRef, unless: RawBuilder<boolean>): CompiledQuery =>
    db
      .deleteFrom("sessions")
      .where("account_id", "=", ref.accountId)
      .where("user_id", "=", ref.id)
      .where(sql<boolean>`not (${unless})`)
      .compile();
  const dropCodes = (ref: UserRef): CompiledQuery =>
    db.deleteFrom("recovery_codes").where("account_id", "=", ref.accountId).where("user_id", "=", ref.id).compile();
  const isThere = ({ accountId, id }: UserRef): RawBuilder<boolean> =>
    sql`exists (select 1 from users where users.account_id = ${accountId} and users.id = ${id} and users.disabled = 0)`;

  const store: UserStore = {
    async findUser(email) {
      const row = await db.selectFrom("users").selectAll().where("email", "=", email).executeTakeFirst();
      return row ? userOf(row) : null;
    },

    async listUsers(accountId, after, limit) {
      let query = db.selectFrom("users").selectAll().where("account_id", "=", accountId);
      if (after !== null) query = query.where("id", ">", after);
      const rows = await query.orderBy("id").limit(limit).execute();
      return { rows: rows.map(userOf), next: rows.length === limit ? (rows.at(-1)?.id ?? null) : null };
    },

    async findUserById(ref) {
      const row = await ofUser(ref).selectAll().executeTakeFirst();
      return row ? userOf(row) : null;
    },

    async insertUser(user) {
      await db
        .insertInto("users")
        .values(rowOf(user))
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      // By id, because an earlier try whose response was lost may have stored this user.
      return (await store.findUser(user.email))?.id === user.id;
    },

    async changeUser(ref, change) {
      const { name, role, disabled } = change;
      const stays = sql<boolean>`${role === undefined ? sql`role` : sql.val(role)} = 'owner'
        and ${disabled === undefined ? sql`disabled` : sql.lit(disabled ? 1 : 0)} = 0`;
      await atomically([
        inTurn(ref.accountId),
        update(ref)
          .set({
            // Keeps the statement valid when nothing changes.
            name: name ?? sql`name`,
            ...(role === undefined ? {} : { role }),
            ...(disabled === undefined ? {} : { disabled: disabled ? 1 : 0 }),
          })
          .where(sql<boolean>`(${isNoOwner} or (${stays}) or ${hasOtherOwner(ref)})`)
          .compile(),
        dropSessions(ref, isThere(ref)),
      ]);
      const after = await store.findUserById(ref);
      if (!after) return "missing";
      const took = Object.entries(change).every(([field, value]) => after[field as keyof User] === value);
      return took ? "changed" : "last owner";
    },

    async removeUser(ref) {
      if (!(await store.findUserById(ref))) return "missing";
      await atomically([
        inTurn(ref.accountId),
        db
          .deleteFrom("users")
          .where("account_id", "=", ref.accountId)
          .where("id", "=", ref.id)
          .where(sql<boolean>`(${isNoOwner} or ${hasOtherOwner(ref)})`)
          .compile(),
        dropSessions(ref, isThere(ref)),
        db
          .deleteFrom("recovery_codes")
          .where("account_id", "=", ref.accountId)
          .where("user_id", "=", ref.id)
          .where(sql<boolean>`not ${isThere(ref)}`)
          .compile(),
        db
          .deleteFrom("invitations")
          .where("account_id", "=", ref.accountId)
          .where("user_id", "=", ref.id)
          .where(sql<boolean>`not ${isThere(ref)}`)
          .compile(),
      ]);
      return (await store.findUserById(ref)) ? "last owner" : "removed";
    },

    async savePassword(ref, { passwordHash, passwordDue }, keep) {
      await atomically([
        update(ref)
          .set({ password_hash: passwordHash, password_due: passwordDue ? 1 : 0 })
          .compile(),
        dropSessions(ref, sql`digest = ${keep ?? ""}`),
      ]);
    },

    async insertSession(
      { digest, accountId, userId, createdAt, seenAt, address, agent },
      { passwordHash, totpSecret },
    ) {
      const ref = { accountId, id: userId };
      const isProven = sql<boolean>`(password_hash = ${passwordHash} and disabled = 0
        and (totp_secret is null or totp_secret = ${totpSecret ?? ""}))`;
      await atomically([
        // First, because it locks the user's row: a change of the password or second factor happens entirely before or after.
        update(ref).set({ last_login_at: createdAt }).where(isProven).compile(),
        db
          .insertInto("sessions")
          .columns(["digest", "account_id", "user_id", "created_at", "seen_at", "address", "agent"])
          .expression(
            ofUser(ref)
              .select([
                sql<string>`cast(${digest} as text)`.as("digest"),
                "account_id",
                "id",
                sql<number>`cast(${createdAt} as bigint)`.as("created_at"),
                sql<number>`cast(${seenAt} as bigint)`.as("seen_at"),
                sql<string>`cast(${address} as text)`.as("address"),
                sql<string>`cast(${agent} as text)`.as("agent"),
              ])
              .where(isProven),
          )
          .onConflict((conflict) => conflict.column("digest").doNothing())
          .compile(),
      ]);
      return (await store.findSession(digest)) !== null;
    },

    async findSession(digest) {
      const row = await db
        .selectFrom("sessions")
        .innerJoin("users", (join) =>
          join.onRef("users.account_id", "=", "sessions.account_id").onRef("users.id", "=", "sessions.user_id"),
        )
        .selectAll("users")
        .select(["sessions.created_at as opened_at", "sessions.seen_at", "sessions.address", "sessions.agent"])
        .where("sessions.digest", "=", digest)
        .executeTakeFirst();
      if (!row) return null;
      const user = userOf(row);
      const { accountId, id: userId } = user;
      const { opened_at: createdAt, seen_at: seenAt, address, agent } = row;
      return { session: { digest, accountId, userId, createdAt, seenAt, address, agent }, user };
    },

    async touchSession(digest, seenAt) {
      await db
        .updateTable("sessions")
        .set({ seen_at: seenAt })
        .where("digest", "=", digest)
        .where("seen_at", "<", seenAt)
        .execute();
    },

    async removeSession(digest) {
      await db.deleteFrom("sessions").where("digest", "=", digest).execute();
    },

    async listSessions({ accountId, id }) {
      const rows = await db
        .selectFrom("sessions")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("user_id", "=", id)
        .orderBy("created_at", "desc")
        .execute();
      return rows.map(({ digest, created_at: createdAt, seen_at: seenAt, address, agent }) => ({
        digest,
        accountId,
        userId: id,
        createdAt,
        seenAt,
        address,
        agent,
      }));
    },

    async invite({ digest, accountId, userId, expiresAt }, now) {
      const ofThisUser = sql<boolean>`account_id = ${accountId} and user_id = ${userId}`;
      await atomically([
        db
          .deleteFrom("invitations")
          .where(sql<boolean>`(${ofThisUser} and digest <> ${digest}) or expires_at <= ${now}`)
          .compile(),
        db
          .insertInto("invitations")
          .values({ digest, account_id: accountId, user_id: userId, expires_at: expiresAt })
          .onConflict((conflict) => conflict.column("digest").doNothing())
          .compile(),
      ]);
    },

    async findInvitation(digest) {
      const row = await db.selectFrom("invitations").selectAll().where("digest", "=", digest).executeTakeFirst();
      if (!row) return null;
      return { digest, accountId: row.account_id, userId: row.user_id, expiresAt: row.expires_at };
    },

    async acceptInvitation({ digest, accountId, userId }, passwordHash) {
      const ref = { accountId, id: userId };
      // A hash has its own salt, so it names this call. No link has this digest.
      const claimed = `accepted ${passwordHash}`;
      const isClaimed = sql<boolean>`exists (select 1 from invitations where invitations.digest = ${claimed})`;
      const isSet = sql`exists (select 1 from users where users.account_id = ${accountId} and users.id = ${userId}
        and users.password_hash = ${passwordHash})`;
      await atomically([
        // The second of two requests with one link waits for the row lock and then finds another digest. A condition of the
        // user's update would not do: on PostgreSQL it reads other tables as they were before the wait.
        db.updateTable("invitations").set({ digest: claimed }).where("digest", "=", digest).compile(),
        update(ref).set({ password_hash: passwordHash, password_due: 0 }).where(isClaimed).compile(),
        dropSessions(ref, sql`not ${isSet}`),
        db.deleteFrom("invitations").where("digest", "=", claimed).compile(),
      ]);
      return (await store.findUserById(ref))?.passwordHash === passwordHash;
    },

    async beginTotp(ref, sealed) {
      await update(ref).set({ totp_next: sealed }).where("totp_secret", "is", null).execute();
    },

    async confirmTotp(ref, sealed, step, recoveryDigests, keep) {
      const isOn = sql`exists (select 1 from users where users.account_id = ${ref.accountId} and users.id = ${ref.id}
        and users.totp_secret = ${sealed})`;
      await atomically([
        update(ref)
          .set({ totp_secret: sealed, totp_next: null, totp_step: step })
          .where("totp_next", "=", sealed)
          .compile(),
        dropCodes(ref),
        ...recoveryDigests.map((digest) =>
          db.insertInto("recovery_codes").values({ account_id: ref.accountId, user_id: ref.id, digest }).compile(),
        ),
        dropSessions(ref, sql`digest = ${keep} or not ${isOn}`),
      ]);
      return (await store.findUserById(ref))?.totpSecret === sealed;
    },

    async useTotpStep(ref, step) {
      const { numUpdatedRows } = await update(ref)
        .set({ totp_step: step })
        .where((is) => is.or([is("totp_step", "is", null), is("totp_step", "<", step)]))
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    async useRecoveryCode(ref, digest) {
      const { numDeletedRows } = await db
        .deleteFrom("recovery_codes")
        .where("account_id", "=", ref.accountId)
        .where("user_id", "=", ref.id)
        .where("digest", "=", digest)
        .executeTakeFirst();
      return numDeletedRows === 1n;
    },

    async removeTotp(ref) {
      await atomically([
        update(ref).set({ totp_secret: null, totp_next: null, totp_step: null }).compile(),
        dropCodes(ref),
      ]);
    },

    async beginAttempt(digest, now, { freeTries, pauseMs, pauseMaxMs } = USUAL_LIMITS) {
      const doublings = Math.ceil(Math.log2(pauseMaxMs / pauseMs));
      const next = sql`login_failures.failures + 1`;
      const at = sql`cast(${now} as bigint)`;
      const isOld = sql`login_failures.last_at < ${now - FORGOTTEN_MS}`;
      const { rows } = await sql<{ failures: number }>`
        insert into login_failures (digest, failures, last_at, locked_until) values (${digest}, 1, ${at}, 0)
        on conflict (digest) do update set
          failures = case when ${isOld} then 1 else ${next} end,
          last_at = ${at},
          locked_until = case
            when ${isOld} or ${next} < ${sql.lit(freeTries)} then 0
            when ${next} >= ${sql.lit(freeTries + doublings)} then ${at} + ${sql.lit(pauseMaxMs)}
            else ${at} + ${sql.lit(pauseMs)} * (1 << (${next} - ${sql.lit(freeTries)})) end
        where login_failures.locked_until <= ${at}
        returning failures`.execute(db);
      const [counted] = rows;
      if (counted) return { failures: counted.failures };
      const row = await db
        .selectFrom("login_failures")
        .select("locked_until")
        .where("digest", "=", digest)
        .executeTakeFirst();
      return { lockedUntil: row?.locked_until ?? now };
    },

    async releaseAttempt(digest) {
      await sql`update login_failures set failures = failures - 1,
          locked_until = case when failures - 1 < ${sql.lit(USUAL_LIMITS.freeTries)} then 0 else locked_until end
        where digest = ${digest} and failures > 0`.execute(db);
    },

    async clearAttempts(digests) {
      await db.deleteFrom("login_failures").where(isAmong("digest", digests)).execute();
    },
  };
  return store;
}

export const rowOf = (user: User): { [K in keyof UserRow]: Selectable<Tables["users"]>[K] } => ({
  account_id: user.accountId,
  id: user.id,
  email: user.email,
  name: user.name,
  password_hash: user.passwordHash,
  role: user.role,
  disabled: user.disabled ? 1 : 0,
  password_due: user.passwordDue ? 1 : 0,
  created_at: user.createdAt,
  last_login_at: user.lastLoginAt,
  totp_secret: user.totpSecret,
  totp_next: user.totpNext,
  totp_step: user.totpStep,
});

const userOf = (row: Selectable<UserRow>): User => ({
  accountId: row.account_id,
  id: row.id,
  email: row.email,
  name: row.name,
  passwordHash: row.password_hash,
  role: row.role as Role,
  disabled: row.disabled === 1,
  passwordDue: row.password_due === 1,
  createdAt: row.created_at,
  lastLoginAt: row.last_login_at,
  totpSecret: row.totp_secret,
  totpNext: row.totp_next,
  totpStep: row.totp_step,
});
