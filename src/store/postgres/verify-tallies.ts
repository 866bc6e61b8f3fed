import { BUCKET_MS, bucketOf, dayOf, oldestBucket, type Bucket } from "../../model/pumping.ts";
import { bookOf } from "../verification-rows.ts";
import { rowKey } from "./row-key.ts";
import type { WithCode } from "./verify-numbers.ts";

export interface TallyRow extends Bucket {
  account_id: number;
  kind: string;
  name: string;
}

/** The tallies that count one send: of its country and of its account. */
const talliesOf = ({ message, verification }: WithCode): TallyRow[] => {
  const book = bookOf(verification);
  const { accountId: account_id, createdAt } = message;
  const one = { account_id, sends: 1, verified: 0 };
  return [
    { ...one, kind: `country ${book}`, name: verification.country, bucket: bucketOf(createdAt) },
    { ...one, kind: `account ${book}`, name: "", bucket: dayOf(createdAt) },
  ];
};

/** The sends of a batch, summed per tally row, because one statement can update each row only once. */
export function countedSends(batch: readonly WithCode[]): TallyRow[] {
  const merged = new Map<string, TallyRow>();
  for (const row of batch.filter(({ verification }) => bookOf(verification) !== "").flatMap(talliesOf)) {
    const key = rowKey(row.account_id, row.kind, row.name, row.bucket);
    const known = merged.get(key);
    if (known) known.sends += row.sends;
    else merged.set(key, row);
  }
  return [...merged.values()];
}

/** The tallies that the limits of a batch read, each with the first bucket that is needed. */
export function wantedTallies(batch: readonly WithCode[]): TallyRow[] {
  const wanted = new Map<string, TallyRow>();
  for (const row of batch.filter(({ verification: { guard } }) => guard !== null).flatMap(talliesOf)) {
    const bucket = row.kind.startsWith("account") ? row.bucket : oldestBucket(row.bucket * BUCKET_MS);
    wanted.set(rowKey(row.account_id, row.kind, row.name), { ...row, bucket });
  }
  return [...wanted.values()];
}

/** Counts per country and account, as far back as any limit reads, including the sends of the batch so far. */
export class BatchTallies {
  readonly #rows = new Map<string, TallyRow[]>();

  constructor(rows: readonly TallyRow[]) {
    for (const row of rows) this.#add(row);
  }

  /** The buckets of one country or account. */
  at(accountId: number, kind: string, name: string): readonly TallyRow[] {
    return this.#rows.get(rowKey(accountId, kind, name)) ?? [];
  }

  /** Counts a send, so that the limits of later codes in the batch include it. */
  remember(item: WithCode): void {
    for (const row of talliesOf(item)) this.#add(row);
  }

  #add(row: TallyRow): void {
    const key = rowKey(row.account_id, row.kind, row.name);
    const known = this.#rows.get(key);
    const same = known?.find(({ bucket }) => bucket === row.bucket);
    if (same) same.sends += row.sends;
    else if (known) known.push(row);
    else this.#rows.set(key, [row]);
  }
}
