import type { Clock } from "../lib/clock.ts";
import { memoize } from "../lib/memoize.ts";
import { queryAs } from "./query-caller.ts";
import type { Store } from "./store.ts";

/** Counting this many rows of an index takes about a millisecond. */
const QUICK_ROWS = 20_000;
/** A long count takes at most a twentieth of the time of one reporting connection. */
const PAUSE_FACTOR = 20;
/** A count of this age is not returned: the caller waits for a new one. */
const STALE_MS = 60_000;

/** Accounts whose last count is remembered. */
const ACCOUNTS_MAX = 1000;

type Count = () => Promise<number>;

/**
 * A count of the rows that wait. Callers at the same time share it. While few rows wait, each call counts them. While many wait,
 * a call returns the last count at once, and a new count runs in the background: a million rows take a tenth of a second, and
 * monitoring asks every few seconds on each node. A count older than a minute is counted anew first.
 */
export function createSharedCount(clock: Pick<Clock, "monotonic">, count: Count): Count {
  let last: { rows: number; tookMs: number; at: number } | null = null;
  let running: Promise<number> | null = null;

  async function run(): Promise<number> {
    const startedAt = clock.monotonic();
    try {
      // No client may cancel it, because others share it.
      const rows = await queryAs({ accountId: 0, signal: NEVER }, count);
      const at = clock.monotonic();
      last = { rows, tookMs: at - startedAt, at };
      return rows;
    } catch (error) {
      // The next call counts again, and reports the failure.
      last = null;
      throw error;
    } finally {
      running = null;
    }
  }

  return async () => {
    if (!last || last.rows <= QUICK_ROWS) return (running ??= run());
    const { rows, tookMs, at } = last;
    const ageMs = clock.monotonic() - at;
    if (ageMs < tookMs * PAUSE_FACTOR) return rows;
    running ??= run();
    if (ageMs >= STALE_MS) return running;
    running.catch(() => {});
    return rows;
  };
}

const NEVER = new AbortController().signal;

/** A read for monitoring, which callers share: its result is kept for a while, because each node is asked every few seconds. */
export function createSharedRead<T>(
  clock: Pick<Clock, "monotonic">,
  keptMs: number,
  read: () => Promise<T>,
): () => Promise<T> {
  let last: { result: Promise<T>; at: number } | null = null;
  return () => {
    if (last && clock.monotonic() - last.at < keptMs) return last.result;
    const run = { result: queryAs({ accountId: 0, signal: NEVER }, read), at: clock.monotonic() };
    last = run;
    run.result.catch(() => {
      if (last === run) last = null;
    });
    return run.result;
  };
}

/** The store with shared counts of its queues. */
export function withSharedCounts(store: Store, clock: Clock): Store {
  const ofAccounts = memoize(ACCOUNTS_MAX, (accountId) =>
    createSharedCount(clock, () => store.countWaitingMessages(Number(accountId))),
  );
  return {
    ...store,
    countWaitingMessages: (accountId) => ofAccounts(String(accountId))(),
    countWaiting: createSharedCount(clock, () => store.countWaiting()),
    countWaitingCallbacks: createSharedCount(clock, () => store.countWaitingCallbacks()),
  };
}
