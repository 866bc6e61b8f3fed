import { BUCKET_MS } from "../../model/pumping.ts";
import {
  allowedAgainAt,
  DAY_MS,
  failureRates,
  HOUR_MS,
  MOMENT_DIGITS,
  MOMENTS_KEPT,
  momentText,
} from "../../model/verification.ts";
import type { VerificationRow } from "../tables.ts";
import { failureCapsOf, momentIn, refusedCheck } from "../verification-rows.ts";
import { blockAfterUse } from "../prefix-rows.ts";
import type { CheckResult, CodeCheck } from "../verifications.ts";
import { columns } from "./columns.ts";
import type { ConnectionPool, Query } from "./pool.ts";
import { splitIntoSubBatches, type BatchItem } from "../sub-batches.ts";
import { rowKey } from "./row-key.ts";

const CHECKS = columns({
  account_id: "integer",
  mode: "text",
  id: "uuid",
  digest: "text",
  at: "bigint",
  moment: "text",
  hour_ago: "text",
  day_ago: "text",
});

/**
 * Looks the codes up first, in a materialized CTE. On nearly empty tables the planner would scan all numbers of an account for
 * each code, and keep that plan as the tables grow.
 */
const FOUND = `
    select asked.*, number, country, state, created_at, expires_at, bound, failures_per_hour, failures_per_day, counted, pays
    from asked join verifications as code on code.account_id = asked.account_id and code.id = asked.id and code.mode = asked.mode`;

const IS_NUMBER = `numbers.account_id = found.account_id and numbers.mode = found.mode and numbers.number = found.number`;

const IS_WITHIN = (cap: string, ago: string): string =>
  `turn.rank <= verifications.${cap} and ${momentIn("turn.failures", `verifications.${cap} - turn.rank + 1`)} <= turn.${ago}`;

/**
 * Applies the attempts and every dependent change in one statement. It locks the number's row first, so a concurrent attempt at
 * the same number waits and then sees every earlier failure. PostgreSQL re-evaluates the condition on the verification after a
 * concurrent update, so exactly one correct attempt finds it pending.
 */
const CHECK = `
  with asked as materialized (select * from ${CHECKS.rows}),
  found as materialized (${FOUND}),
  locked as materialized (
    select found.*, numbers.failures from found join verify_numbers as numbers on ${IS_NUMBER}
    order by numbers.account_id, numbers.mode, numbers.number for update of numbers
  ),
  turn as (select *, cast(row_number() over (partition by account_id, mode, number order by place) as integer) as rank from locked),
  decided as (
    update verifications set checks = verifications.checks + 1,
      state = case when verifications.digest = turn.digest then 'verified'
        when verifications.checks + 1 >= verifications.checks_max then 'exhausted' else 'pending' end,
      done_at = case when verifications.digest = turn.digest or verifications.checks + 1 >= verifications.checks_max then turn.at end,
      next_at = case when verifications.digest = turn.digest or verifications.checks + 1 >= verifications.checks_max
        then case when verifications.followed = 1 then turn.at end else verifications.next_at end,
      plan = case when verifications.digest = turn.digest or verifications.checks + 1 >= verifications.checks_max then null
        else verifications.plan end
    from turn
    where verifications.account_id = turn.account_id and verifications.id = turn.id and verifications.state = 'pending'
      and verifications.expires_at > turn.at
      and (verifications.bound = 0 or (${IS_WITHIN("failures_per_hour", "hour_ago")} and ${IS_WITHIN("failures_per_day", "day_ago")}))
    returning turn.place, turn.moment, turn.at, verifications.account_id, verifications.mode, verifications.bound, verifications.number, verifications.country, verifications.state,
      verifications.checks, verifications.checks_max, verifications.created_at, verifications.counted, verifications.pays
  ),
  failed as (
    update verify_numbers set failures = substr(tried.moments || verify_numbers.failures, 1, ${MOMENT_DIGITS * MOMENTS_KEPT}),
      verified_at = coalesce(tried.verified_at, verify_numbers.verified_at)
    from (
      select account_id, mode, number, max(at) filter (where state = 'verified') as verified_at,
        coalesce(string_agg(moment, '' order by moment desc) filter (where bound = 1 and state <> 'verified'), '') as moments
      from decided where state <> 'verified' or pays > 0 group by account_id, mode, number
    ) as tried
    where verify_numbers.account_id = tried.account_id and verify_numbers.mode = tried.mode and verify_numbers.number = tried.number
  ),
  verified as (
    select account_id, left(number, -4) as prefix, country, created_at, counted, pays, at from decided
    where state = 'verified' and counted <> ''
  ),
  paid as (
    insert into verify_prefixes (account_id, prefix, owed, verified, sent_at)
    select account_id, prefix, -sum(pays), count(*), max(at) from verified where pays > 0
    group by account_id, prefix order by account_id, prefix
    on conflict (account_id, prefix) do update
      set owed = verify_prefixes.owed + excluded.owed, verified = verify_prefixes.verified + excluded.verified,
        blocked_until = ${blockAfterUse("verify_prefixes.blocked_until", "excluded.sent_at")}
    returning 1
  ),
  counted as (
    insert into verify_tallies (account_id, kind, name, bucket, sends, verified)
    select account_id, kind, name, cast(bucket as integer), 0, count(*) from (
      select account_id, 'country ' || counted as kind, country as name, created_at / ${BUCKET_MS} as bucket from verified
      union all select account_id, 'account ' || counted, '', created_at / ${DAY_MS} from verified
    ) as each
    -- Lock order: prefixes, tallies, strays in every statement, so that no two deadlock.
    where (select count(*) from paid) >= 0
    group by account_id, kind, name, bucket order by account_id, kind desc, name, bucket
    on conflict (account_id, kind, name, bucket) do update set verified = verify_tallies.verified + excluded.verified
    returning 1
  ),
  stray as (
    insert into verify_strays (account_id, checks, last_at)
    select account_id, count(*), max(at) from asked where place not in (select place from decided)
      and (select count(*) from counted) >= 0 group by account_id order by account_id
    on conflict (account_id) do update set checks = verify_strays.checks + excluded.checks, last_at = excluded.last_at
    returning 1
  ),
  -- Timing attack: a check of an unknown id writes a number row too, as a wrong code does.
  failed_unknown as (
    insert into verify_numbers (account_id, mode, number, sends, noted_sends, failures, latest, touched_at)
    select account_id, mode, '', '', '', string_agg(moment, '' order by moment desc), '{}', max(at) from asked
    where place not in (select place from decided) and (select count(*) from stray) >= 0
    group by account_id, mode order by account_id, mode
    on conflict (account_id, mode, number) do update set touched_at = excluded.touched_at,
      failures = substr(excluded.failures || verify_numbers.failures, 1, ${MOMENT_DIGITS * MOMENTS_KEPT})
  )
  select asked.place, decided.state, decided.checks, decided.checks_max, locked.place is not null as known
  from asked left join decided using (place) left join locked using (place)`;

/**
 * Locks all rows that the statements of a transaction will change, in the order that every statement uses, to prevent
 * deadlocks.
 */
const LOCK_CHECKS = `
  with asked as materialized (select distinct account_id, mode, id from ${CHECKS.rows}),
  found as materialized (${FOUND}),
  locked as materialized (
    select found.account_id, left(found.number, -4) as prefix, found.country, found.created_at, found.counted, found.pays
    from found join verify_numbers as numbers on ${IS_NUMBER}
    order by numbers.account_id, numbers.mode, numbers.number for update of numbers
  ),
  prefixes as (
    insert into verify_prefixes (account_id, prefix)
    select distinct account_id, prefix from locked where pays > 0 order by account_id, prefix
    on conflict (account_id, prefix) do update set owed = verify_prefixes.owed
    returning 1
  ),
  tallies as (
    insert into verify_tallies (account_id, kind, name, bucket, sends, verified)
    select account_id, kind, name, cast(bucket as integer), 0, 0 from (
      select account_id, 'country ' || counted as kind, country as name, created_at / ${BUCKET_MS} as bucket from locked
      where counted <> ''
      union all select account_id, 'account ' || counted, '', created_at / ${DAY_MS} from locked where counted <> ''
    ) as each where (select count(*) from prefixes) >= 0
    group by account_id, kind, name, bucket order by account_id, kind desc, name, bucket
    on conflict (account_id, kind, name, bucket) do update set sends = verify_tallies.sends
    returning 1
  )
  insert into verify_strays (account_id, checks, last_at)
  select distinct account_id, 0, 0 from asked where (select count(*) from tallies) >= 0 order by account_id
  on conflict (account_id) do update set checks = verify_strays.checks`;

const LOOK = `
  with asked as materialized (select * from ${CHECKS.rows}),
  found as materialized (${FOUND})
  select place, state, expires_at, bound, failures_per_hour, failures_per_day, failures
  from found join verify_numbers as numbers on ${IS_NUMBER}`;

/** Result of one attempt; `state` is null if it changed no verification. */
type CheckRow = { place: number; known: boolean } & (
  | Pick<VerificationRow, "state" | "checks" | "checks_max">
  | { state: null }
);

type LookRow = Pick<VerificationRow, "state" | "expires_at" | "bound" | "failures_per_hour" | "failures_per_day"> & {
  place: number;
  failures: string;
};

/**
 * Checks submitted codes. A batch that names a code more than once takes a transaction, which checks them one after the other.
 */
export async function checkCodes(pool: ConnectionPool, batch: readonly CodeCheck[]): Promise<CheckResult[]> {
  const all = splitIntoSubBatches(batch, ({ accountId, id }) => rowKey(accountId, id));
  const results: CheckResult[] = [];
  const [only, ...more] = all;
  if (!only) return results;
  const work = async (query: Query): Promise<void> => {
    for (const subBatch of all)
      for (const [place, result] of await checkSubBatch(query, subBatch)) results[place] = result;
  };
  if (more.length === 0) await work(pool.query);
  else
    await pool.transaction(async (query) => {
      await query({ name: "otp lock", text: LOCK_CHECKS, values: CHECKS.values(batch.map(checkRow)) });
      await work(query);
    });
  return results;
}

async function checkSubBatch(
  query: Query,
  subBatch: readonly BatchItem<CodeCheck>[],
): Promise<[number, CheckResult][]> {
  const values = CHECKS.values(subBatch.map(({ item }) => checkRow(item)));
  const { rows } = await query<CheckRow>({ name: "otp check", text: CHECK, values });
  const rowsByPlace = new Map(rows.map((row) => [row.place, row]));
  // Timing attack: an unknown id gets no second query, which would make its response slower than that of a wrong code.
  const mustLook = rows.some(({ state, known }) => state === null && known);
  const refused = mustLook ? await lookAt(query, values) : new Map<number, LookRow>();
  return subBatch.map(({ place, item }, index) => {
    const row = rowsByPlace.get(index + 1);
    if (row && row.state !== null) {
      const remaining = row.checks_max - row.checks;
      return [place, row.state === "verified" ? { kind: "verified" } : { kind: "incorrect", remaining }];
    }
    const found = refused.get(index + 1);
    if (!found) return [place, { kind: "unknown" }];
    const rates = failureRates(failureCapsOf(found));
    const until = found.bound === 1 ? allowedAgainAt(found.failures, rates, item.at) : null;
    return [place, refusedCheck(found, until, item.at)];
  });
}

/** A second statement, because the first one shows rows as they were before it. */
async function lookAt(query: Query, values: string[]): Promise<Map<number, LookRow>> {
  const { rows } = await query<LookRow>({ name: "otp look", text: LOOK, values });
  return new Map(rows.map((row) => [row.place, row]));
}

const checkRow = ({ accountId, mode, id, digest, at }: CodeCheck) => ({
  account_id: accountId,
  mode,
  id,
  digest,
  at,
  moment: momentText(at),
  hour_ago: momentText(at - HOUR_MS),
  day_ago: momentText(at - DAY_MS),
});
