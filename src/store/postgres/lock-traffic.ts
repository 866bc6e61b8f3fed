import type { PrefixRow } from "../tables.ts";
import { columns } from "./columns.ts";
import type { Query } from "./pool.ts";
import { rowKey } from "./row-key.ts";
import { newNumbers, type NumberRow, type Numbers, type WithCode } from "./verify-numbers.ts";
import { LockedPrefixes, prefixKeys } from "./verify-prefixes.ts";
import { BatchTallies, wantedTallies, type TallyRow } from "./verify-tallies.ts";

const NUMBERS = columns({ account_id: "integer", mode: "text", number: "text", touched_at: "bigint" });
const PREFIXES = columns({ account_id: "integer", prefix: "text" }, NUMBERS.next);
const TALLIES = columns({ account_id: "integer", kind: "text", name: "text", bucket: "integer" }, PREFIXES.next);

/**
 * Inserts missing rows of numbers and prefixes, and locks all of them until the commit: concurrent decisions about them wait.
 * Every statement locks numbers before prefixes, and each kind in key order, to prevent deadlocks. Rows without sends or blocks
 * are not returned, because most numbers are new.
 */
const LOCK = `
  with numbers as (
    insert into verify_numbers (account_id, mode, number, sends, noted_sends, failures, latest, touched_at)
    select account_id, mode, number, '', '', '', '{}', touched_at from ${NUMBERS.rows} order by account_id, mode, number
    on conflict (account_id, mode, number) do update set touched_at = excluded.touched_at
    returning account_id, mode, number, sends, noted_sends, latest, verified_at
  ),
  prefixes as (
    insert into verify_prefixes (account_id, prefix)
    select account_id, prefix from ${PREFIXES.rows} where (select count(*) from numbers) >= 0 order by account_id, prefix
    on conflict (account_id, prefix) do update set strikes = verify_prefixes.strikes
    returning *
  ),
  tallies as (
    select known.* from ${TALLIES.rows} join verify_tallies as known on known.account_id = batch.account_id
      and known.kind = batch.kind and known.name = batch.name and known.bucket >= batch.bucket
  )
  select (select json_agg(numbers) from numbers where sends <> '' or noted_sends <> '') as numbers,
    (select json_agg(prefixes) from prefixes where sent_at > 0 or blocked_at > 0) as prefixes,
    (select json_agg(tallies) from tallies) as tallies`;

interface LockRow {
  numbers: Omit<NumberRow, "touched_at">[] | null;
  prefixes: PrefixRow[] | null;
  tallies: TallyRow[] | null;
}

/** The rows that decide about the sends of a batch. */
export interface LockedTraffic {
  numbers: Numbers;
  prefixes: LockedPrefixes;
  tallies: BatchTallies;
}

/**
 * Locks and returns the rows that decide about a batch. Country and account tallies are not locked, because every send would
 * contend for these locks. They lack the sends of concurrent transactions, even of those that committed while this one waited
 * for them.
 */
export async function lockTraffic(query: Query, batch: readonly WithCode[]): Promise<LockedTraffic> {
  const numbers = newNumbers(batch);
  const { rows } = await query<LockRow>({
    name: "otp traffic",
    text: LOCK,
    values: [
      ...NUMBERS.values([...numbers.values()]),
      ...PREFIXES.values(prefixKeys(batch)),
      ...TALLIES.values(wantedTallies(batch)),
    ],
  });
  for (const { account_id, mode, number, ...found } of rows[0]?.numbers ?? [])
    Object.assign(numbers.get(rowKey(account_id, mode, number)) ?? {}, found);
  return {
    numbers,
    prefixes: new LockedPrefixes(rows[0]?.prefixes ?? []),
    tallies: new BatchTallies(rows[0]?.tallies ?? []),
  };
}
