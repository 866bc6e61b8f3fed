import type { Log } from "../lib/log.ts";
import { isAway } from "../store/store.ts";

/**
 * Runs a periodic job for each item in order. A failed item is logged and skipped, because one that always fails would block
 * all items behind it. If the store is unavailable, every item would fail, so the run ends.
 */
export async function forEachIsolated<T>(
  { log }: { log: Log },
  job: string,
  items: Iterable<T>,
  run: (item: T) => Promise<unknown>,
): Promise<void> {
  for (const item of items) {
    try {
      await run(item);
    } catch (error) {
      if (isAway(error)) throw error;
      log.error({ err: error, job }, "job skipped a failed item");
    }
  }
}
