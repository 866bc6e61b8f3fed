import { BUCKET_MS, bucketOf, dayOf, oldestBucket, type Bucket } from "../../model/pumping.ts";
import { bookOf } from "../verification-rows.ts";
import { rowKey } from "./row-key.ts";
import type { WithCode } from "./verify-numbers.ts";

export interface TallyRow extends Bucket {
  account_id: number;
  kind: string;
  name: string;
}

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

/** The sends of a batch as they are counted; one row may stand for many of them, because a statement changes each row once only. */
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

/** The tallies that limits of a batch look at, each named by the first bucket that is wanted. */
export function wantedTallies(batch: readonly WithCode[]): TallyRow[] {
  const wanted = new Map<string, TallyRow>();
  for (const row of batch.filter(({ verification: { guard } }) => guard !== null).flatMap(talliesOf)) {
    const bucket = row.kind.startsWith("account") ? row.bucket : oldestBucket(row.bucket * BUCKET_MS);
    wanted.set(rowKey(row.account_id, row.kind, row.name), { ...row, bucket });
  }
  return [...wanted.values()];
}

/** What was counted of each country and account, as far back as any limit looks, and what a batch has added so far. */
export class Tallies {
  readonly #rows = new Map<string, TallyRow[]>();

  constructor(rows: readonly TallyRow[]) {
    for (const row of rows) this.#add(row);
  }

  /** What was counted of one country or account. */
  at(accountId: number, kind: string, name: string): readonly TallyRow[] {
    return this.#rows.get(rowKey(accountId, kind, name)) ?? [];
  }

  /** Counts a send for those after it in its batch. */
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
