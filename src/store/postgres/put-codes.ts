import { paysFor } from "../../model/pumping.ts";
import { bookOf, firstDueAt, owedUnder, takePlace } from "../verification-rows.ts";
import { columns } from "./columns.ts";
import type { Query } from "./pool.ts";
import { rowKey } from "./row-key.ts";
import { numberKey, numberOf, type NumberRow, type WithCode } from "./verify-numbers.ts";

const CODES = columns({
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
});

/** Ends the codes before these and stores these, each number being locked. */
const PUT_CODES = `
  with code as (select * from ${CODES.rows}),
  ended as (
    update verifications set state = case when verifications.expires_at <= code.created_at then 'expired' else 'superseded' end,
      done_at = least(verifications.expires_at, code.created_at), plan = null,
      next_at = case when verifications.followed = 1 then code.created_at end
    from code where verifications.account_id = code.account_id and verifications.id = code.before
      and verifications.state = 'pending'
  )
  insert into verifications (account_id, id, mode, config, number, country, state, digest, checks, checks_max, bound,
    failures_per_hour, failures_per_day, test, created_at, expires_at, done_at, next_at, plan, counted, pays, followed)
  select account_id, id, mode, config, number, country, state, digest, 0, checks_max, bound, failures_per_hour, failures_per_day, test,
    created_at, expires_at, done_at, next_at, plan, counted, pays, followed from code`;

/** Stores codes in the place of those before them, their numbers being locked. */
export async function putCodes(
  query: Query,
  batch: readonly WithCode[],
  numbers: Map<string, NumberRow>,
): Promise<void> {
  if (batch.length > 0)
    await query({ name: "otp codes", text: PUT_CODES, values: CODES.values(codeRows(batch, numbers)) });
}

/** The codes as rows, and as the latest of their numbers. Of several for one number and configuration the last one counts. */
function codeRows(batch: readonly WithCode[], numbers: Map<string, NumberRow>) {
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
      test: message.test ? 1 : 0,
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

/** Of two codes in the same place the later one ends the other. */
const placeOf = (item: WithCode): string =>
  rowKey(item.message.accountId, item.verification.mode, numberOf(item), item.verification.config);

/** When there is something to do with a new code: with one that ends as it begins, at once. */
function dueAt({ message, verification }: WithCode, isLast: boolean): number | null {
  if (!isLast) return verification.followed ? message.createdAt : null;
  return firstDueAt(verification);
}
