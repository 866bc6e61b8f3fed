import { sql, type CompiledQuery, type RawBuilder } from "kysely";
import { BUCKET_MS, dayOf, prefixOf } from "../model/pumping.ts";
import { DAY_MS, LATE_REPORT_MS, type Verification } from "../model/verification.ts";
import type { Engine } from "./engine.ts";
import { blockAfterUse } from "./prefix-rows.ts";

type Code = Pick<Verification, "accountId" | "id" | "mode" | "number">;

/** The payment of a code that no product reports on. */
interface UnreportedPayment {
  /** The code pays for itself. */
  pays: boolean;
  /** The most codes of a prefix that may do so in a day. */
  perDay: number;
  now: number;
}

/** Outcomes of codes that another product checks. */
export interface VerifyOutcomes {
  /** Messages of a verification that arrived, by its first channel or a later one. */
  countDelivered(accountId: number, id: string): Promise<number>;
  /** Counts an expired code as verified, by the same rows as a correct check. Changes nothing if it is too late or was done. */
  useLate(code: Code, at: number): Promise<void>;
  /** Judges a code once, if it is still due at `was`. */
  settleUnreported(code: Code, was: number, payment: UnreportedPayment): Promise<void>;
}

/** Counts the codes of a prefix in a day that paid for themselves. Retention keeps kinds that begin with `account` by the day. */
const JUDGED = "account judged";

/** Lock order: number, prefix, tallies, as in every statement about codes, so that no two deadlock. */
export function createVerifyOutcomes({ db, atomically }: Pick<Engine, "db" | "atomically">): VerifyOutcomes {
  const compiled = (query: RawBuilder<unknown>): CompiledQuery => query.compile(db);

  return {
    async countDelivered(accountId, id) {
      const later = db
        .selectFrom("verify_requests")
        .select("request_id")
        .where("account_id", "=", accountId)
        .where("verify_id", "=", id);
      const rows = await db
        .selectFrom("messages")
        .select("request_id")
        .where("account_id", "=", accountId)
        .where(({ or, eb }) => or([eb("request_id", "=", id), eb("request_id", "in", later)]))
        .where("n", "=", 1)
        .where("state", "in", ["delivered", "read"])
        .execute();
      return rows.length;
    },

    useLate({ accountId, id, mode, number }, at) {
      const code = sql`verifications where account_id = ${accountId} and id = ${id} and state in ('pending', 'expired')
        and expires_at > ${sql.lit(at - LATE_REPORT_MS)}`;
      const tally = (kind: string, name: RawBuilder<unknown>, bucketMs: number): CompiledQuery =>
        compiled(sql`insert into verify_tallies (account_id, kind, name, bucket, sends, verified)
          select account_id, ${sql.lit(kind)} || counted, ${name}, cast(created_at / ${sql.lit(bucketMs)} as integer), 0, 1
          from ${code} and counted <> ''
          on conflict (account_id, kind, name, bucket) do update set verified = verify_tallies.verified + 1`);
      return atomically([
        compiled(sql`update verify_numbers
          set verified_at = case when exists (select 1 from ${code} and pays > 0) then ${sql.lit(at)} else verified_at end
          where account_id = ${accountId} and mode = ${mode} and number = ${number}`),
        compiled(sql`update verify_prefixes set owed = owed - (select pays from ${code}), verified = verified + 1,
            blocked_until = ${sql.raw(blockAfterUse("blocked_until", String(at)))}
          where account_id = ${accountId} and prefix = ${prefixOf(number)} and exists (select 1 from ${code} and pays > 0)`),
        tally("country ", sql`country`, BUCKET_MS),
        tally("account ", sql`''`, DAY_MS),
        compiled(sql`update verifications set state = 'verified', done_at = ${sql.lit(at)}, plan = null,
            next_at = case when followed = 1 then ${sql.lit(at)} end
          where account_id = ${accountId} and id = ${id} and exists (select 1 from ${code})`),
      ]);
    },

    settleUnreported({ accountId, id, mode, number }, was, { pays, perDay, now }) {
      const prefix = prefixOf(number);
      const due = sql`verifications as code join verify_sources as origin
          on origin.account_id = code.account_id and origin.verify_id = code.id
        where code.account_id = ${accountId} and code.id = ${id} and code.next_at = ${sql.lit(was)} and origin.unreported = 1`;
      const owing = sql`exists (select 1 from ${due} and code.pays > 0)`;
      const judged = sql`coalesce((select known.sends from verify_tallies as known where known.account_id = ${accountId}
        and known.kind = ${JUDGED} and known.name = ${prefix} and known.bucket = ${sql.lit(dayOf(now))}), 0)`;
      const payment = [
        compiled(sql`update verify_prefixes set owed = owed - 1
          where account_id = ${accountId} and prefix = ${prefix} and owed > 0 and ${judged} < ${sql.lit(perDay)} and ${owing}`),
        // The code leaves the country's count: it is neither owed there nor a sign of low conversion.
        compiled(sql`update verify_tallies set sends = sends - 1
          where account_id = ${accountId} and sends > 0 and ${judged} < ${sql.lit(perDay)}
            and (kind, name, bucket) in (select 'country ' || code.counted, code.country,
              cast(code.created_at / ${sql.lit(BUCKET_MS)} as integer) from ${due} and code.pays > 0)`),
        compiled(sql`insert into verify_tallies (account_id, kind, name, bucket, sends, verified)
          select ${sql.lit(accountId)}, ${sql.lit(JUDGED)}, ${sql.lit(prefix)}, ${sql.lit(dayOf(now))}, 1, 0
          where ${owing}
          on conflict (account_id, kind, name, bucket) do update set sends = verify_tallies.sends + 1`),
        // A report that comes later pays for the other codes only.
        compiled(sql`update verifications set pays = pays - 1
          where account_id = ${accountId} and id = ${id} and pays > 0 and ${owing}`),
      ];
      return atomically([
        compiled(sql`update verify_numbers set touched_at = touched_at
          where account_id = ${accountId} and mode = ${mode} and number = ${number}`),
        ...(pays ? payment : []),
        compiled(sql`update verify_sources set unreported = 0
          where account_id = ${accountId} and verify_id = ${id} and exists (select 1 from ${due})`),
      ]);
    },
  };
}
