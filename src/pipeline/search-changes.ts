import type { Clock } from "../lib/clock.ts";
import { idFloor, timeOf } from "../lib/ids.ts";
import { customerStatus } from "../model/message.ts";
import { CHANGES_NOTED_AFTER_MS, INDEX_LAG_MS, type SearchIndexStore } from "../store/search/search-index.ts";
import type { Acceptance } from "../store/store.ts";
import { targetState, type AnyTransition, type Transition } from "../store/transition.ts";

/**
 * A commit that is this much later than its id is noted. The index waits longer, which leaves the rest for the clock skew of
 * nodes.
 */
const LATE_COMMIT_MS = INDEX_LAG_MS / 6;
const RANGE_MS = 1000;
/** A range is noted again after this time. The index takes no summary for firm before a multiple of it. */
const NOTED_FOR_MS = 60_000;
const NOTED_MAX = 10_000;

interface SearchChangesDeps {
  store: Pick<SearchIndexStore, "noteSearchChanges">;
  clock: Clock;
}

/**
 * Tells the search index which indexed messages change. Ordinary messages are neither late nor old, so they cost one comparison
 * of ids.
 */
export class SearchChanges {
  readonly #deps: SearchChangesDeps;
  readonly #noted = new Map<string, number>();
  /** The latest time that this process knows of: after a step of the clock, new ids may lie among indexed ones. */
  #latest = 0;

  constructor(deps: SearchChangesDeps) {
    this.#deps = deps;
  }

  /** Messages up to this time may be indexed. */
  observe(time: number): void {
    if (time > this.#latest) this.#latest = time;
  }

  /** Before transitions are written. Null if nothing is to be noted. */
  noteTransitions(batch: readonly Transition[]): Promise<void> | null {
    const bound = idFloor(this.#now() - CHANGES_NOTED_AFTER_MS);
    const late = batch.filter((transition) => transition.requestId < bound && changesFields(transition));
    return late.length === 0 ? null : this.#note(late);
  }

  /** After requests were stored, and before their callers are answered. Null if nothing is to be noted. */
  noteAccepted(batch: readonly Acceptance[]): Promise<void> | null {
    const bound = idFloor(this.#now() - LATE_COMMIT_MS);
    const late = batch.filter(({ message }) => message.requestId < bound);
    if (late.length === 0) return null;
    // Always noted, because an earlier note may have been processed before this commit.
    this.#noted.clear();
    return this.#note(late.map(({ message }) => message));
  }

  #now(): number {
    this.observe(this.#deps.clock.now());
    return this.#latest;
  }

  #note(messages: readonly { accountId: number; requestId: string }[]): Promise<void> | null {
    const { store, clock } = this.#deps;
    const now = clock.now();
    if (this.#noted.size > NOTED_MAX) this.#noted.clear();
    const ranges = new Map<string, { accountId: number; from: number; to: number }>();
    for (const { accountId, requestId } of messages) {
      const from = Math.floor(timeOf(requestId) / RANGE_MS) * RANGE_MS;
      const key = `${accountId} ${from}`;
      const notedAt = this.#noted.get(key);
      if (notedAt !== undefined && now >= notedAt && now - notedAt < NOTED_FOR_MS) continue;
      ranges.set(key, { accountId, from, to: from + RANGE_MS });
    }
    if (ranges.size === 0) return null;
    return store.noteSearchChanges([...ranges.values()], now).then(() => {
      for (const key of ranges.keys()) this.#noted.set(key, now);
    });
  }
}

/** Between two pending states only a change of the channel matters to a search. */
const changesFields = (transition: Transition): boolean =>
  transition.kind !== "timeline" &&
  ((transition as AnyTransition).becomes !== undefined || customerStatus(targetState(transition)) !== "Pending");
