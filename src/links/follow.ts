import { createBatcher } from "../lib/batcher.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { Callback } from "../model/callback.ts";
import { NO_CLICKS, type Click, type ClickCounts } from "../model/link.ts";
import type { LinkHit, LinkStore } from "../store/link-store.ts";
import { agentClassOf } from "./agent.ts";
import { createClickLog, type ClickEffect } from "./click-log.ts";

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
  meters?: { clicks(agent: string, effect: ClickEffect): { inc(amount: number): void } };
}

const LOOKUPS_MAX = 10_000;

/**
 * Follows short links. Whatever arrives while a lookup is under way is the next lookup, and nobody waits for the record
 * of a click: when clicks come faster than they can be written, some are dropped and counted, and the redirects go on.
 * Codes are not kept in memory: a link is made for one person, who follows it once or twice.
 */
export function createFollow({ store, clock, log, meters, tell }: Needs): Follow {
  const lookups = createBatcher<string, LinkHit | null>({
    run: (codes) => store.findLinks(codes),
    maxBatch: 500,
    maxLoad: LOOKUPS_MAX,
    inFlight: 2,
  });
  const clicks = createClickLog<Followed>({ write, count, clock });

  async function write(batch: readonly Followed[]): Promise<ClickEffect> {
    try {
      const callbacks = (await tell?.of(batch)) ?? [];
      await store.recordClicks(
        batch.map(({ click }) => click),
        callbacks,
        clock.now(),
      );
      if (callbacks.length > 0) tell?.onStored();
      return "recorded";
    } catch (error) {
      log.warn({ err: error, clicks: batch.length }, "clicks could not be recorded");
      return "dropped";
    }
  }

  function count(batch: readonly Followed[], effect: ClickEffect): void {
    if (!meters) return;
    const counts: ClickCounts = { ...NO_CLICKS };
    for (const { click } of batch) counts[click.agent] += 1;
    for (const [agent, amount] of Object.entries(counts)) if (amount > 0) meters.clicks(agent, effect).inc(amount);
  }

  return {
    async follow(code, userAgent, method) {
      const link = await lookups.add(code);
      if (!link) return { kind: "unknown" };
      const at = clock.now();
      if (link.expiresAt <= at) return { kind: "gone" };
      const agent = agentClassOf(userAgent, method);
      clicks.add({ link, click: { accountId: link.accountId, code, id: newId(at), agent, at } });
      return { kind: "found", url: link.url };
    },
    async idle() {
      await lookups.idle();
      await clicks.idle();
    },
  };
}
