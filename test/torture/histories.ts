import { setTimeout as sleep } from "node:timers/promises";

/**
 * How far a message has come, in an order that may only go up. A message that waits may go back and forth between
 * lane and carrier, which are one place to the customer.
 */
const PLACES: Record<string, number> = {
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
const END = 4;

/** Whether the second state may be seen after the first. Only a network that gave up too early can take an end back. */
export function mayFollow(before: string, after: string): boolean {
  if (before === after || (before === "expired" && after === "delivered")) return true;
  const [from, to] = [PLACES[before], PLACES[after]];
  return from !== undefined && to !== undefined && from < END && from <= to;
}

export interface Histories {
  /** The state that each observed message was seen in last. */
  last: ReadonlyMap<string, string>;
  /** Steps that no message may make. */
  broken: readonly string[];
  changes: number;
  stop(): Promise<void>;
}

const PAUSE_MS = 100;
const SAMPLE = 50;

interface Page {
  data: { messageId: string; state: string }[];
}

/** Watches the newest messages, and some of them for as long as they have no end, through the doors a customer has. */
export function observeHistories(url: string, apiKey: string): Histories {
  const last = new Map<string, string>();
  const broken: string[] = [];
  const followed = new Set<string>();
  const seen = { changes: 0 };
  let stopped = false;

  function note(messageId: string, state: string): void {
    const before = last.get(messageId);
    if (before !== undefined && !mayFollow(before, state)) broken.push(`${messageId} went from ${before} to ${state}`);
    if (before !== state) seen.changes += 1;
    last.set(messageId, state);
    if (PLACES[state] === END) followed.delete(messageId);
    else if (followed.size < SAMPLE) followed.add(messageId);
  }

  async function read<T>(path: string): Promise<T | null> {
    try {
      const answer = await fetch(url + path, { headers: { apikey: apiKey }, signal: AbortSignal.timeout(5000) });
      return answer.ok ? ((await answer.json()) as T) : (await answer.body?.cancel(), null);
    } catch {
      // The server is being killed all the time: what is not seen now is seen later.
      return null;
    }
  }

  async function run(): Promise<void> {
    while (!stopped) {
      const page = await read<Page>("/v1/messages?limit=200");
      for (const { messageId, state } of page?.data ?? []) note(messageId, state);
      for (const messageId of [...followed].slice(0, 5)) {
        const message = await read<{ state: string }>(`/v1/messages/${messageId}`);
        followed.delete(messageId);
        if (message) note(messageId, message.state);
      }
      await sleep(PAUSE_MS);
    }
  }
  const running = run();
  return {
    last,
    broken,
    get changes() {
      return seen.changes;
    },
    async stop() {
      stopped = true;
      await running;
    },
  };
}
