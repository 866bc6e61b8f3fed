import { sql, type CompiledQuery, type RawBuilder, type Selectable } from "kysely";
import type { Role } from "../model/account.ts";
import type { Session, User } from "../model/user.ts";
import type { Engine } from "./engine.ts";
import type { Tables, UserRow } from "./tables.ts";
import type { UserRef, UserStore } from "./user-store.ts";

/** So many wrong tries are free; the pause after the next ones doubles up to the longest. */
const FREE_TRIES = 5;
const PAUSE_MS = 60_000;
const PAUSE_MAX_MS = 3_600_000;
const DOUBLINGS = Math.ceil(Math.log2(PAUSE_MAX_MS / PAUSE_MS));
/** After a day without another wrong try, all are forgotten. */
const FORGOTTEN_MS = 86_400_000;

/** People and their sessions: the same queries on both engines. */
export function createUsers({ db, atomically, isAmong }: Engine): UserStore {
  const ofUser = (ref: UserRef) =>
    db.selectFrom("users").where("account_id", "=", ref.accountId).where("id", "=", ref.id);
  const update = (ref: UserRef) =>
    db.updateTable("users").where("account_id", "=", ref.accountId).where("id", "=", ref.id);

  /** Whoever changes an account's people waits here: of two owners who leave at once, the second sees that the first has. */
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
      // By its id, because it may have been stored by a try whose answer was lost.
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
            // A change of nothing is a statement all the same.
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

    async insertSession({ digest, accountId, userId, createdAt, seenAt }, passwordHash) {
      const ref = { accountId, id: userId };
      await atomically([
        // First, because it locks the person: a change of the password comes either before or after all of this.
        update(ref)
          .set({ last_login_at: createdAt })
          .where("password_hash", "=", passwordHash)
          .where("disabled", "=", 0)
          .compile(),
        db
          .insertInto("sessions")
          .columns(["digest", "account_id", "user_id", "created_at", "seen_at"])
          .expression(
            ofUser(ref)
              .select([
                sql<string>`cast(${digest} as text)`.as("digest"),
                "account_id",
                "id",
                sql<number>`cast(${createdAt} as bigint)`.as("created_at"),
                sql<number>`cast(${seenAt} as bigint)`.as("seen_at"),
              ])
              .where("password_hash", "=", passwordHash)
              .where("disabled", "=", 0),
          )
          .onConflict((conflict) => conflict.column("digest").doNothing())
          .compile(),
      ]);
    },

    async findSession(digest) {
      const row = await db
        .selectFrom("sessions")
        .innerJoin("users", (join) =>
          join.onRef("users.account_id", "=", "sessions.account_id").onRef("users.id", "=", "sessions.user_id"),
        )
        .selectAll("users")
        .select(["sessions.created_at as opened_at", "sessions.seen_at"])
        .where("sessions.digest", "=", digest)
        .executeTakeFirst();
      if (!row) return null;
      const user = userOf(row);
      const { accountId, id: userId } = user;
      const session: Session = { digest, accountId, userId, createdAt: row.opened_at, seenAt: row.seen_at };
      return { session, user };
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

    async forgetSessions(accountId, { seenAt, createdAt }, limit) {
      const { numDeletedRows } = await db
        .deleteFrom("sessions")
        .where("digest", "in", (row) =>
          row
            .selectFrom("sessions")
            .select("digest")
            .where("account_id", "=", accountId)
            .where((is) => is.or([is("seen_at", "<", seenAt), is("created_at", "<", createdAt)]))
            .limit(limit),
        )
        .executeTakeFirst();
      return Number(numDeletedRows);
    },

    async beginTotp(ref, sealed) {
      await update(ref).set({ totp_next: sealed }).where("totp_secret", "is", null).execute();
    },

    async confirmTotp(ref, sealed, step, recoveryDigests) {
      await atomically([
        update(ref)
          .set({ totp_secret: sealed, totp_next: null, totp_step: step })
          .where("totp_next", "=", sealed)
          .compile(),
        dropCodes(ref),
        ...recoveryDigests.map((digest) =>
          db.insertInto("recovery_codes").values({ account_id: ref.accountId, user_id: ref.id, digest }).compile(),
        ),
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

    async beginAttempt(digest, now) {
      const next = sql`login_failures.failures + 1`;
      const at = sql`cast(${now} as bigint)`;
      const isOld = sql`login_failures.last_at < ${now - FORGOTTEN_MS}`;
      const { rows } = await sql<{ failures: number }>`
        insert into login_failures (digest, failures, last_at, locked_until) values (${digest}, 1, ${at}, 0)
        on conflict (digest) do update set
          failures = case when ${isOld} then 1 else ${next} end,
          last_at = ${at},
          locked_until = case
            when ${isOld} or ${next} < ${sql.lit(FREE_TRIES)} then 0
            when ${next} >= ${sql.lit(FREE_TRIES + DOUBLINGS)} then ${at} + ${sql.lit(PAUSE_MAX_MS)}
            else ${at} + ${sql.lit(PAUSE_MS)} * (1 << (${next} - ${sql.lit(FREE_TRIES)})) end
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
          locked_until = case when failures - 1 < ${sql.lit(FREE_TRIES)} then 0 else locked_until end
        where digest = ${digest} and failures > 0`.execute(db);
    },

    async clearAttempts(digests) {
      await db.deleteFrom("login_failures").where(isAmong("digest", digests)).execute();
    },

    async forgetAttempts(before, limit) {
      const { numDeletedRows } = await db
        .deleteFrom("login_failures")
        .where("digest", "in", (row) =>
          row.selectFrom("login_failures").select("digest").where("last_at", "<", before).limit(limit),
        )
        .executeTakeFirst();
      return Number(numDeletedRows);
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
