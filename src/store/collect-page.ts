import type { Clock } from "../lib/clock.ts";
import { QueryTimedOut } from "./reporting-queue.ts";

/** The time that one search or list may take, over all its statements. */
export interface ReportingBudget {
  timeoutMs: number;
  clock: Pick<Clock, "monotonic">;
}

/** Time after which a search or list returns the rows that it has found. */
const SHORT_PAGE_AFTER_MS = 200;

/**
 * The first rows of a source, and whether more may follow. A search that has taken long answers with the rows that it has, so
 * that its page is short and the next one continues there. Without any row it goes on until the time limit: a page with a
 * cursor is never empty.
 */
export async function collectPage<R>(
  source: AsyncIterable<readonly R[]>,
  limit: number,
  budget: ReportingBudget | null,
): Promise<{ rows: R[]; hasMore: boolean }> {
  const startedAt = budget?.clock.monotonic() ?? 0;
  const rows: R[] = [];
  for await (const found of source) {
    rows.push(...found);
    if (rows.length > limit) return { rows: rows.slice(0, limit), hasMore: true };
    if (!budget) continue;
    const tookMs = budget.clock.monotonic() - startedAt;
    if (rows.length > 0 && tookMs >= SHORT_PAGE_AFTER_MS) return { rows, hasMore: true };
    if (tookMs >= budget.timeoutMs) throw new QueryTimedOut(budget.timeoutMs);
  }
  return { rows, hasMore: false };
}
