import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Account } from "../model/account.ts";
import type { RecordStore } from "../store/records.ts";
import type { SearchIndexStore } from "../store/search/search-index.ts";
import { isAway } from "../store/store.ts";
import type { Membership } from "./membership.ts";

const DAY_MS = 86_400_000;
/** Pause after a run that found nothing to do. */
const IDLE_MS = 1000;
/** Longest pause between two looks at an account without new blocks. */
const ACCOUNT_PAUSE_MAX_MS = 60_000;
const LOOKS_PER_RUN = 20;
const BLOCKS_PER_RUN = 2;
/** Neighbouring changes share a block, which is then summarized once. */
const CHANGES_PER_RUN = 100;
const CHANGED_BLOCKS_PER_RUN = 10;
/** Pause between two passes over the oldest blocks. */
const CLEANING_PAUSE_MS = 60_000;
/** Pause between two looks for the numbers of removed messages. */
const NUMBERS_PAUSE_MS = 3_600_000;
/** Pause before a failed item is tried again. */
const FAILED_PAUSE_MS = 60_000;

export interface IndexMessagesDeps {
  store: SearchIndexStore & Pick<RecordStore, "listAccounts">;
  membership: Pick<Membership, "rank" | "alive" | "sends" | "count">;
  clock: Clock;
  log: Log;
  /** Learns up to which time messages are indexed. */
  searchChanges: { observe(time: number): void };
}

/**
 * Keeps the search index up to date, a few blocks per run, so that writes of messages are not delayed: at most 20,000 messages
 * a second. One node does this for all. All pauses are of monotonic time, because a step of the wall clock must not stop it.
 */
export function indexMessages(deps: IndexMessagesDeps): () => Promise<void> {
  const { membership, clock } = deps;
  const schedule = new Schedule();
  const failures = new Failures(deps);
  let cleaning: AsyncGenerator<void, void> | null = null;
  let cleanAt = 0;
  let numbersAt = 0;
  let idleUntil = 0;
  return async () => {
    const time = clock.monotonic();
    // Nodes that only accept have rank 0 as well: they index where no node sends.
    if (time < idleUntil || !membership.alive || membership.rank > 0) return;
    if (!membership.sends && membership.count > 0) return;
    const indexed =
      (await indexChanges(deps, failures)) +
      (await indexDueBlocks(deps, failures)) +
      (await indexNewest(deps, failures, schedule));
    if (!cleaning && time >= cleanAt) {
      cleaning = clean(deps, failures, time >= numbersAt);
      cleanAt = time + CLEANING_PAUSE_MS;
      if (time >= numbersAt) numbersAt = time + NUMBERS_PAUSE_MS;
    }
    // A failure ends a generator; the next pass begins anew.
    const current = cleaning;
    cleaning = null;
    const { done = true } = (await current?.next()) ?? {};
    if (!done) cleaning = current;
    if (indexed === 0 && done) idleUntil = time + IDLE_MS;
  };
}

// The next three functions return how many items they indexed, without those that failed.

async function indexChanges({ store, clock }: IndexMessagesDeps, failures: Failures): Promise<number> {
  const done = new Set<string>();
  let indexed = 0;
  for (const change of await store.listSearchChanges(CHANGES_PER_RUN + failures.size)) {
    if (done.size >= CHANGED_BLOCKS_PER_RUN) break;
    const name = `change ${change.account_id} ${change.from_id}`;
    if (await failures.run(name, () => store.indexChange(change, clock.now(), done))) indexed += 1;
  }
  return indexed;
}

async function indexDueBlocks({ store, clock }: IndexMessagesDeps, failures: Failures): Promise<number> {
  let indexed = 0;
  for (const block of await store.listDueBlocks(clock.now(), BLOCKS_PER_RUN + failures.size)) {
    if (indexed >= BLOCKS_PER_RUN) break;
    const name = `block ${block.account_id} ${block.block}`;
    if (await failures.run(name, () => store.indexDueBlock(block))) indexed += 1;
  }
  return indexed;
}

async function indexNewest(
  { store, clock, searchChanges }: IndexMessagesDeps,
  failures: Failures,
  schedule: Schedule,
): Promise<number> {
  const time = clock.monotonic();
  let cut = 0;
  const accounts = schedule.due(await store.listAccounts(), time).slice(0, LOOKS_PER_RUN);
  for (const account of accounts) {
    if (cut >= BLOCKS_PER_RUN) break;
    let indexedTo: number | null = null;
    await failures.run(`account ${account}`, async () => {
      indexedTo = await store.indexNextBlock(account, clock.now());
    });
    schedule.looked(account, time, indexedTo !== null);
    if (indexedTo === null) continue;
    searchChanges.observe(indexedTo);
    cut += 1;
  }
  return cut;
}

/** Follows the erasure of texts and the removal of messages. An account that fails is left for the next pass. */
async function* clean(deps: IndexMessagesDeps, failures: Failures, numbers: boolean): AsyncGenerator<void, void> {
  for (const account of await deps.store.listAccounts()) {
    const steps = cleanAccount(deps, account, numbers);
    for (let isOver = false; !isOver;) {
      isOver = true;
      await failures.run(`cleaning ${account.id}`, async () => {
        isOver = (await steps.next()).done ?? true;
      });
      yield;
    }
  }
}

async function* cleanAccount(
  { store, clock }: IndexMessagesDeps,
  { id, settings }: Account,
  numbers: boolean,
): AsyncGenerator<void, void> {
  while ((await store.indexErasedTexts(id, BLOCKS_PER_RUN)) > 0) yield;
  while (await store.forgetSearchBlock(id)) yield;
  if (!numbers) return;
  const before = clock.now() - settings.keepMessagesDays * DAY_MS;
  for (let segment: number | null = 0; segment !== null; yield)
    segment = await store.forgetSearchNumbers(id, before, segment);
}

/** Isolates items from each other: a failed one is logged and rests for a time. */
class Failures {
  readonly #deps: Pick<IndexMessagesDeps, "clock" | "log">;
  readonly #retryAt = new Map<string, number>();

  constructor(deps: Pick<IndexMessagesDeps, "clock" | "log">) {
    this.#deps = deps;
  }

  /** Items that rest, or have rested. */
  get size(): number {
    return this.#retryAt.size;
  }

  /** False if the item failed or rests. If the store is unavailable, every item would fail, so the run ends. */
  async run(name: string, work: () => Promise<unknown>): Promise<boolean> {
    const { clock, log } = this.#deps;
    if (clock.monotonic() < (this.#retryAt.get(name) ?? 0)) return false;
    try {
      await work();
      this.#retryAt.delete(name);
      return true;
    } catch (error) {
      if (isAway(error)) throw error;
      if (this.#retryAt.size >= FAILURES_MAX) this.#retryAt.clear();
      this.#retryAt.set(name, clock.monotonic() + FAILED_PAUSE_MS);
      log.error({ err: error, job: "search-index", item: name }, "job skipped a failed item");
      return false;
    }
  }
}

const FAILURES_MAX = 1000;

/** When to look at each account: often at busy ones, seldom at idle ones. Times are monotonic. */
class Schedule {
  readonly #accounts = new Map<number, { dueAt: number; pauseMs: number }>();

  /** Accounts that are due, the one that waits longest first. */
  due(accounts: readonly { id: number }[], time: number): number[] {
    const dueAt = (id: number): number => this.#accounts.get(id)?.dueAt ?? 0;
    return accounts
      .map(({ id }) => id)
      .filter((id) => dueAt(id) <= time)
      .toSorted((one, other) => dueAt(one) - dueAt(other));
  }

  looked(id: number, time: number, found: boolean): void {
    const pauseMs = found
      ? 0
      : Math.min(ACCOUNT_PAUSE_MAX_MS, Math.max(IDLE_MS, (this.#accounts.get(id)?.pauseMs ?? 0) * 2));
    this.#accounts.set(id, { dueAt: time + pauseMs, pauseMs });
  }
}
