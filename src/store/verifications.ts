import { sql, type RawBuilder } from "kysely";
import { idFloor } from "../lib/ids.ts";
import type { KeyMode } from "../model/api-key.ts";
import { bucketOf, dayOf } from "../model/pumping.ts";
import type { Verification, VerificationState } from "../model/verification.ts";
import { insertCallbacks } from "./callbacks.ts";
import { edgeOf, LOOK_AT_MOST } from "./bounded-window.ts";
import type { Engine } from "./engine.ts";
import type { VerificationRow } from "./tables.ts";
import type { VerifyStore } from "./verify-store.ts";

type VerificationStore = Omit<
  VerifyStore,
  "checkCodes" | "countConversion" | "countTraffic" | "countCountryHours" | "listBlocks" | "liftBlock"
>;

/** Verifications as people look at them: the same queries on both engines. What decides a try is each engine's own. */
export function createVerifications({ db, atomically, rowsOf }: Engine): VerificationStore {
  const ofAccount = (accountId: number) => db.selectFrom("verifications").where("account_id", "=", accountId);

  return {
    async findVerification(accountId, id) {
      const row = await ofAccount(accountId).selectAll().where("id", "=", id).executeTakeFirst();
      return row ? verificationOf(row) : null;
    },

    async findVerificationOf(accountId, requestId) {
      const own = await ofAccount(accountId).selectAll().where("id", "=", requestId).executeTakeFirst();
      if (own) return verificationOf(own);
      const later = db
        .selectFrom("verify_requests")
        .select("verify_id")
        .where("account_id", "=", accountId)
        .where("request_id", "=", requestId);
      const row = await ofAccount(accountId).selectAll().where("id", "=", later).executeTakeFirst();
      return row ? verificationOf(row) : null;
    },

    async listVerifications(accountId, { state, number, config, from, to }, now, after, limit) {
      let window = ofAccount(accountId).select(["id", "state", "number", "config", "expires_at"]);
      if (from !== undefined) window = window.where("id", ">=", idFloor(from));
      if (to !== undefined) window = window.where("id", "<", idFloor(to));
      if (after) window = window.where("id", "<", after);
      window = window.orderBy("id", "desc").limit(LOOK_AT_MOST);
      let found = db.selectFrom(window.as("seen")).select("id");
      if (number) found = found.where("number", "=", number);
      if (config) found = found.where("config", "=", config);
      if (state) found = found.where(isInState(state, now));
      const page = found.orderBy("id", "desc").limit(limit);
      const rows = await ofAccount(accountId).selectAll().where("id", "in", page).orderBy("id", "desc").execute();
      const last = rows.at(-1);
      if (last && rows.length === limit) return { rows: rows.map(verificationOf), next: last.id };
      const edge = await edgeOf<{ id: string }>(window, ["id"]);
      return { rows: rows.map(verificationOf), next: edge?.id ?? null };
    },

    async listDueVerifications(dueBy, limit) {
      const rows = await db
        .selectFrom("verifications")
        .selectAll()
        .where("next_at", "<=", dueBy)
        .orderBy("next_at")
        .limit(limit)
        .execute();
      return rows.flatMap((row) =>
        row.next_at === null
          ? []
          : [
              {
                verification: verificationOf(row),
                plan: row.plan,
                followed: row.followed === 1,
                at: row.next_at,
              },
            ],
      );
    },

    async takeUp({ verification: { accountId, id }, at }, until, now) {
      const isExpired = sql<boolean>`state = 'pending' and expires_at <= ${sql.lit(now)}`;
      const row = await db
        .updateTable("verifications")
        .set({
          next_at: until,
          state: sql<string>`case when ${isExpired} then 'expired' else state end`,
          done_at: sql<number | null>`case when ${isExpired} then expires_at else done_at end`,
        })
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .where("next_at", "=", at)
        .returning(["state", "checks", "done_at"])
        .executeTakeFirst();
      return row ? { state: row.state as VerificationState, checks: row.checks, doneAt: row.done_at } : null;
    },

    async planNext({ accountId, id }, was, next, requestId) {
      if (requestId !== null)
        await db
          .insertInto("verify_requests")
          .values({ account_id: accountId, request_id: requestId, verify_id: id })
          .onConflict((conflict) => conflict.columns(["account_id", "request_id"]).doNothing())
          .execute();
      const { numUpdatedRows } = await db
        .updateTable("verifications")
        .set({ next_at: next?.at ?? null, plan: next?.plan ?? null })
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .where("next_at", "=", was)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async tellEnd({ accountId, id }, was, callbacks, now) {
      const end = db
        .updateTable("verifications")
        .set({ next_at: null, plan: null })
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .where("next_at", "=", was)
        .compile();
      // Before the end is marked, because only then it can be seen to be ours to tell.
      const isDue = sql<boolean>`exists (select 1 from verifications
        where account_id = ${accountId} and id = ${id} and next_at = ${was})`;
      const told = callbacks.length === 0 ? [] : [insertCallbacks({ db, rowsOf }, callbacks, now, isDue)];
      await atomically([...told, end]);
    },

    async forgetVerifications(accountId, { ended, numbers, known, tallies, prefixes }, limit) {
      const ofVerifications = db
        .deleteFrom("verifications")
        .where("account_id", "=", accountId)
        .where(
          "id",
          "in",
          ofAccount(accountId).select("id").where("id", "<", idFloor(ended)).orderBy("id").limit(limit),
        );
      const ofRequests = db
        .deleteFrom("verify_requests")
        .where("account_id", "=", accountId)
        .where("request_id", "in", (row) =>
          row
            .selectFrom("verify_requests")
            .select("request_id")
            .where("account_id", "=", accountId)
            .where("request_id", "<", idFloor(ended))
            .orderBy("request_id")
            .limit(limit),
        );
      const ofNumbers = db
        .deleteFrom("verify_numbers")
        .where("account_id", "=", accountId)
        .where("number", "in", (row) =>
          row
            .selectFrom("verify_numbers")
            .select("number")
            .where("account_id", "=", accountId)
            .where("touched_at", "<", numbers)
            .where("verified_at", "<", known)
            .limit(limit),
        )
        .where("touched_at", "<", numbers)
        .where("verified_at", "<", known);
      const ofTallies = db.deleteFrom("verify_tallies").where("account_id", "=", accountId)
        .where(sql<boolean>`(kind, name, bucket) in (select kind, name, bucket from verify_tallies
          where account_id = ${accountId} and bucket < case when kind like 'account%' then cast(${dayOf(tallies)} as integer)
            else cast(${bucketOf(tallies)} as integer) end limit ${limit})`);
      const ofPrefixes = db
        .deleteFrom("verify_prefixes")
        .where("account_id", "=", accountId)
        .where("prefix", "in", (row) =>
          row
            .selectFrom("verify_prefixes")
            .select("prefix")
            .where("account_id", "=", accountId)
            .where("sent_at", "<", prefixes)
            .where("blocked_until", "<", prefixes)
            .limit(limit),
        )
        .where("sent_at", "<", prefixes);
      let gone = 0;
      for (const old of [ofVerifications, ofRequests, ofNumbers, ofTallies, ofPrefixes])
        gone += Number((await old.executeTakeFirst()).numDeletedRows);
      return gone;
    },
  };
}

/** Whether rows are in a state at a time; nobody writes it down when one expires. */
function isInState(state: VerificationState, now: number): RawBuilder<boolean> {
  if (state === "pending") return sql`state = 'pending' and expires_at > ${now}`;
  if (state === "expired") return sql`(state = 'expired' or (state = 'pending' and expires_at <= ${now}))`;
  return sql`state = ${state}`;
}

const verificationOf = (row: VerificationRow): Verification => ({
  accountId: row.account_id,
  id: row.id,
  mode: row.mode as KeyMode,
  config: row.config,
  number: row.number,
  country: row.country,
  state: row.state as VerificationState,
  digest: row.digest,
  checks: row.checks,
  checksMax: row.checks_max,
  test: row.test === 1,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  doneAt: row.done_at,
});
