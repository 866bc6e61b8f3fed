import { createBatcher } from "../lib/batcher.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { Callback } from "../model/callback.ts";
import { NO_CLICKS, type AgentClass, type Click, type ClickCounts } from "../model/link.ts";
import type { LinkHit, LinkStore } from "../store/links.ts";
import { createClickLog, type ClickEffect } from "./click-log.ts";

/** A click, with the link it was on. */
interface Followed {
  click: Click;
  link: LinkHit;
}

/** Target of a short code. `gone`: its link has expired. */
type FollowResult = { kind: "found"; url: string } | { kind: "gone" } | { kind: "unknown" };

export interface Follow {
  /** Rejects if the store is unavailable or too many lookups wait. */
  follow(code: string, userAgent: string | undefined, method: string): Promise<FollowResult>;
  /** Resolves once every click so far is written or dropped. */
  idle(): Promise<void>;
}

interface FollowDeps {
  store: Pick<LinkStore, "findLinks" | "recordClicks">;
  /** Creates the webhooks of clicks; without it there are none. */
  planCallbacks?: { of(batch: readonly Followed[]): Promise<readonly Callback[]>; onStored(): void };
  clock: Clock;
  log: Log;
  metrics?: { clicks(agent: string, effect: ClickEffect): { inc(amount: number): void } };
}

const LOOKUPS_MAX = 10_000;

/**
 * Follows short links. Codes that arrive during a lookup form the next batch. A redirect does not wait until its click is
 * recorded: when clicks arrive faster than the store writes them, some are dropped and counted. Codes are not cached: a link
 * is for one person, who follows it once or twice.
 */
export function createFollow({ store, clock, log, metrics, planCallbacks }: FollowDeps): Follow {
  const lookups = createBatcher<string, LinkHit | null>({
    run: (codes) => store.findLinks(codes),
    maxBatch: 500,
    maxLoad: LOOKUPS_MAX,
    inFlight: 2,
  });
  const clicks = createClickLog<Followed>({ write, count, clock, log });

  async function write(batch: readonly Followed[]): Promise<void> {
    const callbacks = (await planCallbacks?.of(batch)) ?? [];
    await store.recordClicks(
      batch.map(({ click }) => click),
      callbacks,
      clock.now(),
    );
    if (callbacks.length > 0) planCallbacks?.onStored();
  }

  function count(batch: readonly Followed[], effect: ClickEffect): void {
    if (!metrics) return;
    const counts: ClickCounts = { ...NO_CLICKS };
    for (const { click } of batch) counts[click.agent] += 1;
    for (const [agent, amount] of Object.entries(counts)) if (amount > 0) metrics.clicks(agent, effect).inc(amount);
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

/** Programs that fetch a link because a person is about to see it: messengers, mail clients, feeds. */
const PREVIEWS = anyOf(
  "whatsapp/", "facebookexternalhit", "facebot", "twitterbot", "slackbot", "slack-imgproxy", "telegrambot", "discordbot",
  "skypeuripreview", "linkedinbot", "applebot", "google-pagerenderer", "safelinks", "ms-office", "redditbot", "mastodon",
  "vkshare", "embedly", "iframely", "preview",
); // prettier-ignore

/** Every other program: crawlers, libraries, monitors. No browser has "http" in its name; Cubot makes phones. */
const BOTS = anyOf(
  "(?<!cu)bot", "crawl", "spider", "slurp", "http", "curl/", "wget/", "python", "java/", "libwww", "^ruby", "^php", "axios/",
  "undici", "^node", "deno/", "postman", "insomnia", "headless", "phantomjs", "lighthouse", "scrapy", "monitor",
); // prettier-ignore

/** No browser has a longer user agent; the rest is ignored. */
const AGENT_LENGTH_MAX = 1000;

/** Fixed words without repetition, so that no user agent takes long to match (ReDoS). */
function anyOf(...words: readonly string[]): RegExp {
  return new RegExp(words.join("|"), "i");
}

/** Separates people from programs, so that a campaign's clicks are those of its recipients. A program that lies counts as a person. */
export function agentClassOf(userAgent: string | undefined, method: string): AgentClass {
  if (method === "HEAD") return "preview";
  const agent = (userAgent ?? "").slice(0, AGENT_LENGTH_MAX);
  if (PREVIEWS.test(agent)) return "preview";
  return agent.trim() === "" || BOTS.test(agent) ? "bot" : "person";
}
