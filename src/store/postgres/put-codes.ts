import { paysFor } from "../../model/pumping.ts";
import type { PrefixRow } from "../tables.ts";
import { bookOf, firstDueAt, owedUnder, takePlace } from "../verification-rows.ts";
import { columns } from "./columns.ts";
import type { LockedTraffic } from "./lock-traffic.ts";
import { rowKey } from "./row-key.ts";
import { addressKey, numberKey, numberOf, type NumberRow, type Numbers, type WithCode } from "./verify-numbers.ts";
import { countedSends, type TallyRow } from "./verify-tallies.ts";

/** All rows that a batch of codes changes besides its messages. */
export interface CodeRows {
  codes: readonly ReturnType<typeof newCodes>[number][];
  numbers: readonly NumberRow[];
  prefixes: readonly PrefixRow[];
  tallies: readonly TallyRow[];
}

/** CTEs of a statement, with the arrays for their parameters. */
export interface CodeParts {
  text: string;
  values(rows: CodeRows): string[];
}

/**
 * Ends the previous codes, stores the new ones, and updates the locked numbers and prefixes and the tallies. These CTEs belong
 * to the statement that stores the messages, and their parameters follow its own.
 */
export function codeParts(first: number, after: string): CodeParts {
  const codes = columns(
    {
      account_id: "integer",
      id: "uuid",
      mode: "text",
      config: "text",
      number: "text",
      country: "text",
      state: "text",
      digest: "text",
      checks_max: "integer",
      bound: "integer",
      failures_per_hour: "integer",
      failures_per_day: "integer",
      test: "integer",
      created_at: "bigint",
      expires_at: "bigint",
      done_at: "bigint",
      next_at: "bigint",
      plan: "text",
      counted: "text",
      pays: "integer",
      followed: "integer",
      before: "uuid",
    },
    first,
  );
  const numbers = columns(
    {
      account_id: "integer",
      mode: "text",
      number: "text",
      sends: "text",
      noted_sends: "text",
      latest: "text",
      touched_at: "bigint",
    },
    codes.next,
  );
  const prefixes = columns(
    {
      account_id: "integer",
      prefix: "text",
      owed: "integer",
      slot: "integer",
      slot_sends: "integer",
      before_sends: "integer",
      sends: "integer",
      verified: "integer",
      sent_at: "bigint",
      blocked_at: "bigint",
      blocked_until: "bigint",
      strikes: "integer",
    },
    numbers.next,
  );
  const tallies = columns(
    { account_id: "integer", kind: "text", name: "text", bucket: "integer", sends: "integer", verified: "integer" },
    prefixes.next,
  );
  const text = `
  code as (select * from ${codes.rows}),
  ended as (
    update verifications set state = case when verifications.expires_at <= code.created_at then 'expired' else 'superseded' end,
      done_at = least(verifications.expires_at, code.created_at), plan = null,
      next_at = case when verifications.followed = 1 then code.created_at end
    from code where verifications.account_id = code.account_id and verifications.id = code.before
      and verifications.state = 'pending'
    returning 1
  ),
  coded as (
    insert into verifications (account_id, id, mode, config, number, country, state, digest, checks, checks_max, bound,
      failures_per_hour, failures_per_day, test, created_at, expires_at, done_at, next_at, plan, counted, pays, followed)
    select account_id, id, mode, config, number, country, state, digest, 0, checks_max, bound, failures_per_hour, failures_per_day,
      test, created_at, expires_at, done_at, next_at, plan, counted, pays, followed from code
    returning 1
  ),
  sent as (
    update verify_numbers set sends = batch.sends, noted_sends = batch.noted_sends, latest = batch.latest,
      touched_at = batch.touched_at
    from ${numbers.rows}
    where verify_numbers.account_id = batch.account_id and verify_numbers.mode = batch.mode
      and verify_numbers.number = batch.number
    returning 1
  ),
  owing as (
    update verify_prefixes set owed = batch.owed, slot = batch.slot, slot_sends = batch.slot_sends,
      before_sends = batch.before_sends, sends = batch.sends, verified = batch.verified, sent_at = batch.sent_at,
      blocked_at = batch.blocked_at, blocked_until = batch.blocked_until, strikes = batch.strikes
    from ${prefixes.rows}
    where verify_prefixes.account_id = batch.account_id and verify_prefixes.prefix = batch.prefix
    returning 1
  ),
  tallied as (
    insert into verify_tallies (account_id, kind, name, bucket, sends, verified)
    select account_id, kind, name, bucket, sends, verified from ${tallies.rows}
    -- Every send to a country locks this row, so it comes last, in the same order in every statement.
    where ${[after, "ended", "coded", "sent", "owing"].map((part) => `(select count(*) from ${part})`).join(" + ")} >= 0
    order by account_id, kind desc, name, bucket
    on conflict (account_id, kind, name, bucket) do update
      set sends = verify_tallies.sends + excluded.sends, verified = verify_tallies.verified + excluded.verified
  )`;
  return {
    text,
    values: (rows) => [
      ...codes.values(rows.codes),
      ...numbers.values(rows.numbers),
      ...prefixes.values(rows.prefixes),
      ...tallies.values(rows.tallies),
    ],
  };
}

/** The rows of admitted codes, and those of prefixes, which refused codes may change as well. */
export function codeRows(admitted: readonly WithCode[], { numbers, prefixes }: LockedTraffic): CodeRows {
  const codes = newCodes(
    admitted.filter(({ verification }) => !verification.continues),
    numbers,
  );
  const touched = new Set(admitted.flatMap((item) => [numberKey(item), addressKey(item)]));
  return {
    codes,
    numbers: [...numbers].flatMap(([key, row]) => (touched.has(key) ? [row] : [])),
    prefixes: prefixes.changedRows(),
    tallies: countedSends(admitted),
  };
}

/**
 * Builds the code rows and records each code as the latest of its number. Of several for one number and configuration, the last
 * one is valid.
 */
function newCodes(batch: readonly WithCode[], numbers: Numbers) {
  const last = new Map(batch.map((item) => [placeOf(item), item]));
  return batch.map((item) => {
    const { message, verification } = item;
    const row = numbers.get(numberKey(item));
    const { before, latest } = takePlace(row?.latest ?? "{}", verification.config, message.requestId);
    if (row) row.latest = latest;
    const isLast = last.get(placeOf(item)) === item;
    const owed = owedUnder(verification);
    return {
      account_id: message.accountId,
      id: message.requestId,
      mode: verification.mode,
      config: verification.config,
      number: numberOf(item),
      country: verification.country,
      state: isLast ? "pending" : "superseded",
      digest: verification.digest,
      checks_max: verification.checksMax,
      bound: verification.bound || verification.fixed ? 1 : 0,
      failures_per_hour: verification.failuresPerHour,
      failures_per_day: verification.failuresPerDay,
      test: message.test || verification.fixed ? 1 : 0,
      created_at: message.createdAt,
      expires_at: verification.expiresAt,
      done_at: isLast ? null : message.createdAt,
      next_at: dueAt(item, isLast),
      plan: isLast ? verification.next?.plan : null,
      counted: bookOf(verification),
      pays: owed ? paysFor(owed) : 0,
      followed: verification.followed ? 1 : 0,
      before,
    };
  });
}

/** The later of two codes with the same key ends the earlier one. */
const placeOf = (item: WithCode): string =>
  rowKey(item.message.accountId, item.verification.mode, numberOf(item), item.verification.config);

/**
 * Time of the first action on a new code. A code that its own batch supersedes is due at once if a webhook subscribes to its
 * end.
 */
function dueAt({ message, verification }: WithCode, isLast: boolean): number | null {
  if (!isLast) return verification.followed ? message.createdAt : null;
  return firstDueAt(verification, message.createdAt);
}
