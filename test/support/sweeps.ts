import { START, type Cursor } from "../../src/store/key-range.ts";
import type { Cutoff, Expiring, RetentionStore, Sweep } from "../../src/store/retention.ts";

/** Sweeps batch by batch to the end; returns the rows that each batch changed. */
export async function sweepAll(sweep: (after: Cursor) => Promise<Sweep>): Promise<number[]> {
  const batches: number[] = [];
  for (let after: Cursor | null = START; after;) {
    const { next, rows } = await sweep(after);
    batches.push(rows);
    after = next;
  }
  return batches;
}

/** Deletes all rows of one kind that are past their retention; returns the rows of each batch. */
export const deleteExpired = (store: RetentionStore, kind: Expiring, cutoff: Cutoff, limit = 100): Promise<number[]> =>
  sweepAll((after) => store.deleteExpired(kind, cutoff, after, limit));
