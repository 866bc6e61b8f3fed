import { setTimeout as sleep } from "node:timers/promises";

/**
 * Rank of each state; a message must never move to a lower rank. A queued message may alternate between accepted and
 * submitting, which share a rank.
 */
const RANKS: Record<string, number> = {
  accepted: 0,
  submitting: 0,
  submitted: 1,
  enroute: 2,
  unknown: 3,
  delivered: 4,
  undelivered: 4,
  expired: 4,
  rejected: 4,
};
const FINAL_RANK = 4;

/** Monotonicity, with one exception: a late receipt may turn expired into delivered. */
export function isAllowedTransition(before: string, after: string): boolean {
  if (before === after || (before === "expired" && after === "delivered")) return true;
  const [from, to] = [RANKS[before], RANKS[after]];
  return from !== undefined && to !== undefined && from < FINAL_RANK && from <= to;
}

export interface Histories {
  /** Last observed state of each message. */
  last: ReadonlyMap<string, string>;
  /** Observed transitions that are not allowed. */
  violations: readonly string[];
  changes: number;
  stop(): Promise<void>;
}

const PAUSE_MS = 100;
const SAMPLE = 50;

interface Page {
  data: { messageId: string; state: string }[];
}

/** Polls the newest messages, and a sample of unfinished ones, through the customer API. */
export function observeHistories(url: string, apiKey: string): Histories {
  const last = new Map<string, string>();
  const violations: string[] = [];
  const followed = new Set<string>();
  const seen = { changes: 0 };
  let stopped = false;

  function record(messageId: string, state: string): void {
    const before = last.get(messageId);
    if (before !== undefined && !isAllowedTransition(before, state))
      violations.push(`${messageId} went from ${before} to ${state}`);
    if (before !== state) seen.changes += 1;
    last.set(messageId, state);
    if (RANKS[state] === FINAL_RANK) followed.delete(messageId);
    else if (followed.size < SAMPLE) followed.add(messageId);
  }

  async function read<T>(path: string): Promise<T | null> {
    try {
      const response = await fetch(url + path, { headers: { apikey: apiKey }, signal: AbortSignal.timeout(5000) });
      return response.ok ? ((await response.json()) as T) : (await response.body?.cancel(), null);
    } catch {
      // The server is often down during this test; the next poll sees the state.
      return null;
    }
  }

  async function run(): Promise<void> {
    while (!stopped) {
      const page = await read<Page>("/v1/messages?limit=200");
      for (const { messageId, state } of page?.data ?? []) record(messageId, state);
      for (const messageId of [...followed].slice(0, 5)) {
        const message = await read<{ state: string }>(`/v1/messages/${messageId}`);
        followed.delete(messageId);
        if (message) record(messageId, message.state);
      }
      await sleep(PAUSE_MS);
    }
  }
  const running = run();
  return {
    last,
    violations,
    get changes() {
      return seen.changes;
    },
    async stop() {
      stopped = true;
      await running;
    },
  };
}
