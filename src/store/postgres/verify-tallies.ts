import { BUCKET_MS, bucketOf, dayOf, oldestBucket, type Bucket } from "../../model/pumping.ts";
import { bookOf } from "../verification-rows.ts";
import { columns } from "./columns.ts";
import type { Query } from "./pool.ts";
import { rowKey } from "./row-key.ts";
import type { WithCode } from "./verify-numbers.ts";

const TALLIES = columns({
  account_id: "integer",
  kind: "text",
  name: "text",
  bucket: "integer",
  sends: "integer",
  verified: "integer",
});

/** In the same order in every statement that counts, so that no two wait for each other. */
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

interface TallyRow extends Bucket {
  account_id: number;
  kind: string;
  name: string;
}

/** What was counted of each country and account, as far back as any limit looks. */
export type Tallies = Map<string, TallyRow[]>;

/** Where one send is counted. */
const talliesOf = ({ message, verification }: WithCode): TallyRow[] => {
  const book = bookOf(verification);
  const { accountId: account_id, createdAt } = message;
  const one = { account_id, sends: 1, verified: 0 };
  return [
    { ...one, kind: `country ${book}`, name: verification.country, bucket: bucketOf(createdAt) },
    { ...one, kind: `account ${book}`, name: "", bucket: dayOf(createdAt) },
  ];
};

/** Counts sends; one row may stand for many of them, because a statement changes each row once only. */
export async function countSends(query: Query, batch: readonly WithCode[]): Promise<void> {
  const merged = new Map<string, TallyRow>();
  for (const row of batch.flatMap(talliesOf)) {
    const key = rowKey(row.account_id, row.kind, row.name, row.bucket);
    const known = merged.get(key);
    if (known) known.sends += row.sends;
    else merged.set(key, row);
  }
  if (merged.size === 0) return;
  await query({ name: "otp count", text: COUNT, values: TALLIES.values([...merged.values()]) });
}

/** What was counted where sends of a batch would be. */
export async function readTallies(query: Query, batch: readonly WithCode[]): Promise<Tallies> {
  const tallies: Tallies = new Map();
  if (batch.length === 0) return tallies;
  const wanted = new Map(
    batch.flatMap(talliesOf).map((row) => {
      const bucket = row.kind.startsWith("account") ? row.bucket : oldestBucket(row.bucket * BUCKET_MS);
      return [rowKey(row.account_id, row.kind, row.name), { ...row, bucket }] as const;
    }),
  );
  const { rows } = await query<TallyRow>({
    name: "otp traffic",
    text: FIND_TALLIES,
    values: TALLIES.values([...wanted.values()]),
  });
  for (const row of rows) addTally(tallies, row);
  return tallies;
}

/** What was counted of one country or account. */
export const talliesAt = (tallies: Tallies, accountId: number, kind: string, name: string): readonly TallyRow[] =>
  tallies.get(rowKey(accountId, kind, name)) ?? [];

/** Counts a send for those after it in its batch. */
export function rememberSend(tallies: Tallies, item: WithCode): void {
  for (const row of talliesOf(item)) addTally(tallies, row);
}

function addTally(tallies: Tallies, row: TallyRow): void {
  const key = rowKey(row.account_id, row.kind, row.name);
  const known = tallies.get(key);
  const same = known?.find(({ bucket }) => bucket === row.bucket);
  if (same) same.sends += row.sends;
  else if (known) known.push(row);
  else tallies.set(key, [row]);
}
