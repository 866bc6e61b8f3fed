import {
  addMoment,
  allowedAgainAt,
  BUCKET_MS,
  bucketOf,
  DAY_MS,
  dayOf,
  failureRates,
  HOUR_MS,
  judgeSend,
  MOMENT_DIGITS,
  MOMENTS_KEPT,
  momentText,
  oldestBucket,
  prefixOf,
  type Bucket,
  type PrefixBlock,
} from "../../model/verification.ts";
import type { Acceptance } from "../store.ts";
import type { VerificationRow } from "../tables.ts";
import { blockOf, failureCapsOf, momentIn, refusedCheck, takePlace } from "../verifications.ts";
import type { Admission, CheckResult, CodeCheck, NewVerification, StoredBlock } from "../verify-store.ts";
import { columns } from "./columns.ts";
import type { ConnectionPool, Query } from "./pool.ts";
import { rounds, type Placed } from "../rounds.ts";

const NUMBERS = columns({
  account_id: "integer",
  number: "text",
  sends: "text",
  latest: "text",
  touched_at: "bigint",
});

/** The rows of the numbers are there from now on and ours until the commit: whoever else sends to them waits. */
const LOCK_NUMBERS = `
  insert into verify_numbers (account_id, number, sends, failures, latest, touched_at)
  select account_id, number, '', '', '{}', touched_at from ${NUMBERS.rows} order by account_id, number
  on conflict (account_id, number) do update set touched_at = excluded.touched_at
  returning account_id, number, sends, latest`;

const PUT_SENDS = `
  update verify_numbers set sends = batch.sends, latest = batch.latest from ${NUMBERS.rows}
  where verify_numbers.account_id = batch.account_id and verify_numbers.number = batch.number`;

const TALLIES = columns({
  account_id: "integer",
  kind: "text",
  name: "text",
  bucket: "integer",
  sends: "integer",
  verified: "integer",
});

/** Prefixes first, in every statement that counts: whoever decides about a send has locked its prefix before all else. */
const COUNT = `
  insert into verify_tallies (account_id, kind, name, bucket, sends, verified)
  select account_id, kind, name, bucket, sends, verified from ${TALLIES.rows} order by account_id, kind desc, name, bucket
  on conflict (account_id, kind, name, bucket) do update
    set sends = verify_tallies.sends + excluded.sends, verified = verify_tallies.verified + excluded.verified`;

/** Named by the first bucket that is wanted. */
const FIND_TALLIES = `
  select known.account_id, known.kind, known.name, known.bucket, known.sends, known.verified
  from ${TALLIES.rows} join verify_tallies as known on known.account_id = batch.account_id and known.kind = batch.kind
    and known.name = batch.name and known.bucket >= batch.bucket`;

const PREFIXES = columns({ account_id: "integer", prefix: "text" });

const FIND_BLOCKS = `select verify_blocks.* from ${PREFIXES.rows} join verify_blocks using (account_id, prefix)`;

const BLOCKS = columns({
  account_id: "integer",
  prefix: "text",
  blocked_at: "bigint",
  blocked_until: "bigint",
  strikes: "integer",
  sends: "integer",
  verified: "integer",
});

const PUT_BLOCKS = `
  insert into verify_blocks (account_id, prefix, blocked_at, blocked_until, strikes, sends, verified)
  select account_id, prefix, blocked_at, blocked_until, strikes, sends, verified from ${BLOCKS.rows}
  on conflict (account_id, prefix) do update set blocked_at = excluded.blocked_at, blocked_until = excluded.blocked_until,
    strikes = excluded.strikes, sends = excluded.sends, verified = excluded.verified`;

const CODES = columns({
  account_id: "integer",
  id: "uuid",
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
  counted: "integer",
  before: "uuid",
});

/** Ends the codes before these and stores these, each number being locked. */
const PUT_CODES = `
  with code as (select * from ${CODES.rows}),
  ended as (
    update verifications set state = case when verifications.expires_at <= code.created_at then 'expired' else 'superseded' end,
      done_at = code.created_at, next_at = null, plan = null
    from code where verifications.account_id = code.account_id and verifications.id = code.before
      and verifications.state = 'pending'
  )
  insert into verifications (account_id, id, config, number, country, state, digest, checks, checks_max, bound,
    failures_per_hour, failures_per_day, test, created_at, expires_at, done_at, next_at, plan, counted, last_request_id)
  select account_id, id, config, number, country, state, digest, 0, checks_max, bound, failures_per_hour, failures_per_day, test,
    created_at, expires_at, done_at, next_at, plan, counted, id from code`;

/** A request with the code that it sends. */
type WithCode = Acceptance & { verification: NewVerification };

/**
 * Decides about codes and stores those that limits let through, inside a transaction in which their messages are stored
 * next. Numbers and prefixes are locked, in order, before anything is decided, so that two nodes cannot both take a
 * number's last place.
 */
export async function admitCodes(query: Query, batch: readonly WithCode[]): Promise<readonly Admission[]> {
  const first = batch[0];
  if (!first) return [];
  const sends = await lockNumbers(query, batch);
  const traffic = await readTraffic(query, batch);
  const decided = batch.map((item) => decide(item, sends, traffic));
  const admitted = batch.filter((_, place) => decided[place]?.refused.length === 0);
  const blocked = batch.flatMap(({ message }, place) => {
    const block = decided[place]?.blocked;
    return block ? [{ accountId: message.accountId, block }] : [];
  });
  if (blocked.length > 0) await query({ text: PUT_BLOCKS, values: BLOCKS.values(lastBlocks(blocked)) });
  if (admitted.length === 0) return decided;
  const codes = codeRows(admitted, sends);
  const changed = [...sends.values()].toSorted(byNumber);
  await query({ name: "otp sends", text: PUT_SENDS, values: NUMBERS.values(changed) });
  await count(
    query,
    admitted
      .filter(({ verification }) => verification.caps !== null)
      .flatMap((item) => talliesOf(item, item.message.createdAt, 1, 0)),
  );
  await query({ name: "otp codes", text: PUT_CODES, values: CODES.values(codes) });
  return decided;
}

interface NumberRow {
  account_id: number;
  number: string;
  sends: string;
  latest: string;
  touched_at: number;
}

const numberOf = ({ recipients }: Acceptance): string => recipients[0]?.number ?? "";
const keyOf = (accountId: number, ...names: readonly (string | number)[]): string => [accountId, ...names].join(" ");
const byNumber = (a: NumberRow, b: NumberRow): number =>
  a.account_id - b.account_id || (a.number < b.number ? -1 : a.number > b.number ? 1 : 0);

async function lockNumbers(query: Query, batch: readonly WithCode[]): Promise<Map<string, NumberRow>> {
  const rows = new Map<string, NumberRow>();
  for (const item of batch) {
    const { accountId, createdAt } = item.message;
    const number = numberOf(item);
    rows.set(keyOf(accountId, number), {
      account_id: accountId,
      number,
      sends: "",
      latest: "{}",
      touched_at: createdAt,
    });
  }
  const { rows: known } = await query<Omit<NumberRow, "touched_at">>({
    name: "otp numbers",
    text: LOCK_NUMBERS,
    values: NUMBERS.values([...rows.values()]),
  });
  for (const { account_id, number, sends, latest } of known) {
    const row = rows.get(keyOf(account_id, number));
    if (row) Object.assign(row, { sends, latest });
  }
  return rows;
}

interface TallyRow extends Bucket {
  account_id: number;
  kind: string;
  name: string;
}

/** Where one send is counted. */
const talliesOf = (
  { message: { accountId }, verification: { country }, recipients }: WithCode,
  at: number,
  sends: number,
  verified: number,
): TallyRow[] => tallies(accountId, recipients[0]?.number ?? "", country, at, sends, verified);

const tallies = (
  accountId: number,
  number: string,
  country: string,
  at: number,
  sends: number,
  verified: number,
): TallyRow[] => [
  { account_id: accountId, kind: "prefix", name: prefixOf(number), bucket: bucketOf(at), sends, verified },
  { account_id: accountId, kind: "country", name: country, bucket: bucketOf(at), sends, verified },
  { account_id: accountId, kind: "account", name: "", bucket: dayOf(at), sends, verified },
];

/** One row of the batch may stand for many sends: a statement changes each row once only. */
async function count(query: Query, rows: readonly TallyRow[]): Promise<void> {
  const merged = new Map<string, TallyRow>();
  for (const row of rows) {
    const key = keyOf(row.account_id, row.kind, row.name, row.bucket);
    const known = merged.get(key);
    if (known) {
      known.sends += row.sends;
      known.verified += row.verified;
    } else merged.set(key, { ...row });
  }
  if (merged.size === 0) return;
  await query({ name: "otp count", text: COUNT, values: TALLIES.values([...merged.values()]) });
}

interface TrafficTable {
  buckets: Map<string, TallyRow[]>;
  blocks: Map<string, PrefixBlock>;
}

async function readTraffic(query: Query, batch: readonly WithCode[]): Promise<TrafficTable> {
  // Those without a guard as well: they are counted in the end, and whoever counts must have locked in order.
  const counted = batch.filter(({ verification: { caps } }) => caps !== null);
  const buckets = new Map<string, TallyRow[]>();
  const blocks = new Map<string, PrefixBlock>();
  if (counted.length === 0) return { buckets, blocks };
  const places = counted.flatMap((item) => talliesOf(item, item.message.createdAt, 0, 0));
  // Counted with nothing, which locks the rows; only prefixes, because a country would be everybody's lock.
  await count(
    query,
    places.filter(({ kind }) => kind === "prefix"),
  );
  const wanted = new Map(
    places.map((row) => {
      const now = row.kind === "account" ? 0 : row.bucket * BUCKET_MS;
      const bucket = row.kind === "account" ? row.bucket : oldestBucket(now);
      return [keyOf(row.account_id, row.kind, row.name), { ...row, bucket }] as const;
    }),
  );
  const { rows } = await query<TallyRow>({
    name: "otp traffic",
    text: FIND_TALLIES,
    values: TALLIES.values([...wanted.values()]),
  });
  for (const row of rows) {
    const key = keyOf(row.account_id, row.kind, row.name);
    const known = buckets.get(key);
    if (known) known.push(row);
    else buckets.set(key, [row]);
  }
  const prefixes = places.filter(({ kind }) => kind === "prefix");
  const found = await query<{ account_id: number } & Parameters<typeof blockOf>[0]>({
    name: "otp blocks",
    text: FIND_BLOCKS,
    values: PREFIXES.values(prefixes.map(({ account_id, name }) => ({ account_id, prefix: name }))),
  });
  for (const row of found.rows) blocks.set(keyOf(row.account_id, row.prefix), blockOf(row));
  return { buckets, blocks };
}

const OPEN: Admission = { refused: [], noted: [], blocked: null };

/** What limits say of one code, with those before it in the batch counted already. */
function decide(item: WithCode, sends: Map<string, NumberRow>, { buckets, blocks }: TrafficTable): Admission {
  const { message, verification } = item;
  const { accountId, createdAt: now } = message;
  const { caps, guard, country, bound } = verification;
  const number = numberOf(item);
  const row = sends.get(keyOf(accountId, number));
  if (!caps || !row) return OPEN;
  const prefix = prefixOf(number);
  const of = (kind: string, name: string): TallyRow[] => buckets.get(keyOf(accountId, kind, name)) ?? [];
  const block = blocks.get(keyOf(accountId, prefix)) ?? null;
  const today = of("account", "")[0]?.sends ?? 0;
  const traffic = { sends: row.sends, prefix: of("prefix", prefix), country: of("country", country), today, block };
  const { refusals, newBlock } = judgeSend(traffic, caps, guard, now);
  if (bound && refusals.length > 0) {
    if (newBlock) blocks.set(keyOf(accountId, prefix), newBlock);
    return { refused: refusals, noted: [], blocked: newBlock && { prefix, ...newBlock } };
  }
  row.sends = addMoment(row.sends, now);
  if (guard) for (const tally of talliesOf(item, now, 1, 0)) remember(buckets, tally);
  return { refused: [], noted: refusals, blocked: null };
}

function remember(buckets: TrafficTable["buckets"], row: TallyRow): void {
  const key = keyOf(row.account_id, row.kind, row.name);
  const known = buckets.get(key);
  const same = known?.find(({ bucket }) => bucket === row.bucket);
  if (same) same.sends += row.sends;
  else if (known) known.push(row);
  else buckets.set(key, [row]);
}

const lastBlocks = (blocked: readonly { accountId: number; block: StoredBlock }[]) => [
  ...new Map(
    blocked.map(({ accountId, block }) => [
      keyOf(accountId, block.prefix),
      {
        account_id: accountId,
        prefix: block.prefix,
        blocked_at: block.blockedAt,
        blocked_until: block.until,
        strikes: block.strikes,
        sends: block.sends,
        verified: block.verified,
      },
    ]),
  ).values(),
];

/** The codes as rows, and as the latest of their numbers. Of several for one number and configuration the last one counts. */
function codeRows(batch: readonly WithCode[], numbers: Map<string, NumberRow>) {
  const last = new Map(
    batch.map((item) => [keyOf(item.message.accountId, numberOf(item), item.verification.config), item]),
  );
  return batch.map((item) => {
    const { message, verification } = item;
    const row = numbers.get(keyOf(message.accountId, numberOf(item)));
    const { before, latest } = takePlace(row?.latest ?? "{}", verification.config, message.requestId);
    if (row) row.latest = latest;
    const isLast = last.get(keyOf(message.accountId, numberOf(item), verification.config)) === item;
    return {
      account_id: message.accountId,
      id: message.requestId,
      config: verification.config,
      number: numberOf(item),
      country: verification.country,
      state: isLast ? "pending" : "superseded",
      digest: verification.digest,
      checks_max: verification.checksMax,
      bound: verification.bound ? 1 : 0,
      failures_per_hour: verification.failuresPerHour,
      failures_per_day: verification.failuresPerDay,
      test: message.test ? 1 : 0,
      created_at: message.createdAt,
      expires_at: verification.expiresAt,
      done_at: isLast ? null : message.createdAt,
      next_at: isLast ? verification.next?.at : null,
      plan: isLast ? verification.next?.plan : null,
      counted: verification.caps ? 1 : 0,
      before,
    };
  });
}

const CHECKS = columns({
  account_id: "integer",
  id: "uuid",
  digest: "text",
  at: "bigint",
  moment: "text",
  hour_ago: "text",
  day_ago: "text",
});

const IS_WITHIN = (cap: string, ago: string): string =>
  `turn.rank <= verifications.${cap} and ${momentIn("turn.failures", `verifications.${cap} - turn.rank + 1`)} <= turn.${ago}`;

/**
 * The tries and everything that changes with them, as one statement. The number's row is locked first: whoever tries at
 * the same number waits and then sees every failure before it. The verification's own condition is judged again by what
 * a concurrent try has left behind, so exactly one right try finds it pending.
 */
const CHECK = `
  with asked as materialized (select * from ${CHECKS.rows}),
  locked as materialized (
    select asked.*, numbers.number, numbers.failures
    from asked join verifications as code on code.account_id = asked.account_id and code.id = asked.id
      join verify_numbers as numbers on numbers.account_id = code.account_id and numbers.number = code.number
    order by numbers.account_id, numbers.number for update of numbers
  ),
  turn as (select *, cast(row_number() over (partition by account_id, number order by place) as integer) as rank from locked),
  decided as (
    update verifications set checks = verifications.checks + 1,
      state = case when verifications.digest = turn.digest then 'verified'
        when verifications.checks + 1 >= verifications.checks_max then 'exhausted' else 'pending' end,
      done_at = case when verifications.digest = turn.digest or verifications.checks + 1 >= verifications.checks_max then turn.at end,
      next_at = case when verifications.digest = turn.digest or verifications.checks + 1 >= verifications.checks_max then null
        else verifications.next_at end,
      plan = case when verifications.digest = turn.digest or verifications.checks + 1 >= verifications.checks_max then null
        else verifications.plan end
    from turn
    where verifications.account_id = turn.account_id and verifications.id = turn.id and verifications.state = 'pending'
      and verifications.expires_at > turn.at
      and (verifications.bound = 0 or (${IS_WITHIN("failures_per_hour", "hour_ago")} and ${IS_WITHIN("failures_per_day", "day_ago")}))
    returning turn.place, turn.moment, verifications.account_id, verifications.number, verifications.country, verifications.state,
      verifications.checks, verifications.checks_max, verifications.created_at, verifications.counted
  ),
  failed as (
    update verify_numbers set failures = substr(wrong.moments || verify_numbers.failures, 1, ${MOMENT_DIGITS * MOMENTS_KEPT})
    from (
      select account_id, number, string_agg(moment, '' order by moment desc) as moments from decided
      where state <> 'verified' group by account_id, number
    ) as wrong
    where verify_numbers.account_id = wrong.account_id and verify_numbers.number = wrong.number
  ),
  verified as (
    select account_id, number, country, created_at from decided where state = 'verified' and counted = 1
  ),
  counted as (
    insert into verify_tallies (account_id, kind, name, bucket, sends, verified)
    select account_id, kind, name, cast(bucket as integer), 0, count(*) from (
      select account_id, 'prefix' as kind, left(number, -4) as name, created_at / ${BUCKET_MS} as bucket from verified
      union all select account_id, 'country', country, created_at / ${BUCKET_MS} from verified
      union all select account_id, 'account', '', created_at / ${DAY_MS} from verified
    ) as each group by account_id, kind, name, bucket order by account_id, kind desc, name, bucket
    on conflict (account_id, kind, name, bucket) do update set verified = verify_tallies.verified + excluded.verified
    returning 1
  ),
  stray as (
    insert into verify_strays (account_id, checks, last_at)
    select account_id, count(*), max(at) from asked where place not in (select place from decided)
      -- Whatever counts comes before it, in every statement, so that no two wait for each other.
      and (select count(*) from counted) >= 0 group by account_id order by account_id
    on conflict (account_id) do update set checks = verify_strays.checks + excluded.checks, last_at = excluded.last_at
  )
  select place, state, checks, checks_max from decided`;

/** Takes all that several statements of a transaction will change, in the order in which others take it. */
const LOCK_CHECKS = `
  with asked as materialized (select distinct account_id, id from ${CHECKS.rows}),
  locked as materialized (
    select code.account_id, code.number, code.country, code.created_at, code.counted
    from asked join verifications as code on code.account_id = asked.account_id and code.id = asked.id
      join verify_numbers as numbers on numbers.account_id = code.account_id and numbers.number = code.number
    order by numbers.account_id, numbers.number for update of numbers
  )
  insert into verify_tallies (account_id, kind, name, bucket, sends, verified)
  select account_id, kind, name, cast(bucket as integer), 0, 0 from (
    select account_id, 'prefix' as kind, left(number, -4) as name, created_at / ${BUCKET_MS} as bucket from locked where counted = 1
    union all select account_id, 'country', country, created_at / ${BUCKET_MS} from locked where counted = 1
    union all select account_id, 'account', '', created_at / ${DAY_MS} from locked where counted = 1
  ) as each group by account_id, kind, name, bucket order by account_id, kind desc, name, bucket
  on conflict (account_id, kind, name, bucket) do update set sends = verify_tallies.sends`;

const LOOK = `
  select place, state, expires_at, bound, failures_per_hour, failures_per_day, failures
  from ${CHECKS.rows} join verifications as code on code.account_id = batch.account_id and code.id = batch.id
    join verify_numbers as numbers on numbers.account_id = code.account_id and numbers.number = code.number`;

type LookRow = Pick<VerificationRow, "state" | "expires_at" | "bound" | "failures_per_hour" | "failures_per_day"> & {
  place: number;
  failures: string;
};

/** Decides tries at codes; a batch that names a code more than once takes a transaction, in which they are tried in turn. */
export async function checkCodes(pool: ConnectionPool, batch: readonly CodeCheck[]): Promise<CheckResult[]> {
  const all = rounds(batch, ({ accountId, id }) => keyOf(accountId, id));
  const results: CheckResult[] = [];
  const [only, ...more] = all;
  if (!only) return results;
  const work = async (query: Query): Promise<void> => {
    for (const round of all) for (const [place, result] of await checkRound(query, round)) results[place] = result;
  };
  if (more.length === 0) await work(pool.query);
  else
    await pool.transaction(async (query) => {
      await query({ name: "otp lock", text: LOCK_CHECKS, values: CHECKS.values(batch.map(checkRow)) });
      await work(query);
    });
  return results;
}

async function checkRound(query: Query, round: readonly Placed<CodeCheck>[]): Promise<[number, CheckResult][]> {
  const values = CHECKS.values(round.map(({ item }) => checkRow(item)));
  const { rows } = await query<{ place: number } & Pick<VerificationRow, "state" | "checks" | "checks_max">>({
    name: "otp check",
    text: CHECK,
    values,
  });
  const decided = new Map(rows.map((row) => [row.place, row]));
  const refused = decided.size === round.length ? new Map<number, LookRow>() : await lookAt(query, values);
  return round.map(({ place, item }, index) => {
    const row = decided.get(index + 1);
    if (row) {
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

/** In a statement of its own, because the first one shows rows as they were before it. */
async function lookAt(query: Query, values: unknown[][]): Promise<Map<number, LookRow>> {
  const { rows } = await query<LookRow>({ name: "otp look", text: LOOK, values });
  return new Map(rows.map((row) => [row.place, row]));
}

const checkRow = ({ accountId, id, digest, at }: CodeCheck) => ({
  account_id: accountId,
  id,
  digest,
  at,
  moment: momentText(at),
  hour_ago: momentText(at - HOUR_MS),
  day_ago: momentText(at - DAY_MS),
});
