import { createBatcher } from "../lib/batcher.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { Callback } from "../model/callback.ts";
import type { Click } from "../model/link.ts";
import type { LinkHit, LinkStore } from "../store/link-store.ts";
import { agentClassOf } from "./agent.ts";

/** A click, with the link it was on. */
interface Followed {
  click: Click;
  link: LinkHit;
}

/** Where a code leads. `gone`: it did, until it expired. */
type Way = { kind: "found"; url: string } | { kind: "gone" } | { kind: "unknown" };

export interface Follow {
  /** Rejects when the store is away or too many wait. */
  follow(code: string, userAgent: string | undefined, method: string): Promise<Way>;
  /** Resolves once every click so far is written or given up. */
  idle(): Promise<void>;
}

interface Needs {
  store: Pick<LinkStore, "findLinks" | "recordClicks">;
  /** What customers are to be told of clicks; absent where nobody is told anything. */
  tell?: { of(batch: readonly Followed[]): Promise<readonly Callback[]>; onStored(): void };
  clock: Clock;
  log: Log;
  meters?: { clicks(agent: string, effect: "recorded" | "dropped"): { inc(): void } };
}

const LOOKUPS_MAX = 10_000;
const CLICKS_MAX = 10_000;
/** How long clicks are gathered after a write. Nobody waits for them, and each write takes the disk from an accept. */
const GATHER_MS = 10;

/**
 * Follows short links. Whatever arrives while a lookup is under way is the next lookup, and nobody waits for the record
 * of a click: when clicks come faster than they can be written, some are dropped and counted, and the redirects go on.
 * Codes are not kept in memory: a link is made for one person, who follows it once or twice.
 */
export function createFollow({ store, clock, log, meters, tell }: Needs): Follow {
  let hurried = false;
  let hurry: () => void = () => {};

  const lookups = createBatcher<string, LinkHit | null>({
    run: (codes) => store.findLinks(codes),
    maxBatch: 500,
    maxLoad: LOOKUPS_MAX,
    inFlight: 2,
  });
  const clicks = createBatcher<Followed, void>({
    run: async (batch) => {
      const results = await write(batch);
      if (!hurried) await gather();
      return results;
    },
    maxBatch: 500,
    maxLoad: CLICKS_MAX,
    inFlight: 1,
  });

  async function write(batch: readonly Followed[]): Promise<(void | Error)[]> {
    try {
      const callbacks = (await tell?.of(batch)) ?? [];
      await store.recordClicks(
        batch.map(({ click }) => click),
        callbacks,
        clock.now(),
      );
      if (callbacks.length > 0) tell?.onStored();
      return [];
    } catch (error) {
      log.warn({ err: error, clicks: batch.length }, "clicks could not be recorded");
      return batch.map(() => error as Error);
    }
  }

  function gather(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(GATHER_MS, resolve);
      hurry = () => {
        cancel();
        resolve();
      };
    });
  }

  function record(link: LinkHit, click: Click): void {
    const count = (effect: "recorded" | "dropped") => () => meters?.clicks(click.agent, effect).inc();
    void clicks.add({ click, link }).then(count("recorded"), count("dropped"));
  }

  return {
    async follow(code, userAgent, method) {
      const link = await lookups.add(code);
      if (!link) return { kind: "unknown" };
      const at = clock.now();
      if (link.expiresAt <= at) return { kind: "gone" };
      record(link, { accountId: link.accountId, code, id: newId(at), agent: agentClassOf(userAgent, method), at });
      return { kind: "found", url: link.url };
    },
    async idle() {
      await lookups.idle();
      hurried = true;
      hurry();
      await clicks.idle();
      hurried = false;
    },
  };
}
