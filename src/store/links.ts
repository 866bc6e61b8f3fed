import { sql } from "kysely";
import { idFloor } from "../lib/ids.ts";
import type { Callback } from "../model/callback.ts";
import {
  NO_CLICKS,
  type AgentClass,
  type ClickCounts,
  type LinkTarget,
  type Click,
  type Link,
  type TargetRef,
} from "../model/link.ts";
import type { MessageRef } from "../model/message.ts";
import type { Engine } from "./engine.ts";
import type { Tables } from "./tables.ts";

/** A link with the data for its redirect. */
export interface LinkHit extends Link {
  url: string;
  expiresAt: number;
}

interface LinkCounts {
  recipients: number;
  /** Recipients whose link was followed by a person, not by a bot. */
  recipientsClicked: number;
  clicks: ClickCounts;
  /** False when one link has more clicks than one call scans; the counts are then a lower bound. */
  complete: boolean;
}

export type CountedTarget = LinkTarget & LinkCounts;
export type CountedLink = Link & LinkTarget & LinkCounts;

/** All links of a target, or one of them. */
export type LinkChoice = TargetRef | { code: string };

interface ClickBucket {
  /** Start of the bucket: a multiple of its length since 1970. */
  at: number;
  clicks: ClickCounts;
}

/** Short links and their clicks. `MessageStore.accept` stores links together with their messages. */
export interface LinkStore {
  /** One result per code, in order. */
  findLinks(codes: readonly string[]): Promise<readonly (LinkHit | null)[]>;
  /** Idempotent: a click that was recorded before is skipped. */
  recordClicks(batch: readonly Click[], callbacks?: readonly Callback[], at?: number): Promise<void>;
  /** Newest first. Counts of a target are kept, so no click is read. */
  listLinkTargets(
    accountId: number,
    after: TargetRef | null,
    limit: number,
  ): Promise<{ rows: CountedTarget[]; next: TargetRef | null }>;
  findLinkTarget(accountId: number, requestId: string, k: number): Promise<CountedTarget | null>;
  findLink(accountId: number, code: string): Promise<CountedLink | null>;
  /** Ordered by `k`. */
  listLinksOfMessage(ref: MessageRef): Promise<readonly LinkHit[]>;
  /** Newest first. */
  listClicksOfMessage(ref: MessageRef, limit: number): Promise<readonly (Click & { k: number })[]>;
  /** Clicks from `from` until before `to`, oldest bucket first; empty buckets are omitted. */
  clicksOverTime(
    accountId: number,
    choice: LinkChoice,
    span: { from: number; to: number; bucketMs: number },
  ): Promise<{ buckets: ClickBucket[]; complete: boolean }>;
}

/** The most clicks of one link, or of one period, that a call may scan. */
const LOOK_AT_MOST = 100_000;

const COUNT = sql<number>`count(*)`;

/** Short link queries for both engines, except the hot ones. Every query is scoped to an account. */
export function createLinks({
  db,
  isAmong,
}: Pick<Engine, "db" | "isAmong">): Omit<LinkStore, "findLinks" | "recordClicks"> {
  const linksWithTargets = db
    .selectFrom("links")
    .innerJoin("link_targets", (join) =>
      join
        .onRef("link_targets.account_id", "=", "links.account_id")
        .onRef("link_targets.request_id", "=", "links.request_id")
        .onRef("link_targets.k", "=", "links.k"),
    );

  const linksOf = (accountId: number, choice: LinkChoice) => {
    const links = db.selectFrom("links").where("links.account_id", "=", accountId);
    return "code" in choice
      ? links.where("links.code", "=", choice.code)
      : links.where("links.request_id", "=", choice.requestId).where("links.k", "=", choice.k);
  };

  /**
   * The codes first: with a join, PostgreSQL reads all clicks where it expects many for each link, and SQLite where it has no
   * statistics.
   */
  const clicksOf = async (accountId: number, choice: LinkChoice) => {
    const codes =
      "code" in choice ? [choice] : await linksOf(accountId, choice).select("links.code").limit(LOOK_AT_MOST).execute();
    return db
      .selectFrom("clicks")
      .where("account_id", "=", accountId)
      .where(
        isAmong(
          "code",
          codes.map(({ code }) => code),
        ),
      )
      .limit(LOOK_AT_MOST + 1);
  };

  async function countsOf(accountId: number, code: string): Promise<LinkCounts> {
    const seen = (await clicksOf(accountId, { code })).select("agent");
    const agents = await db
      .selectFrom(seen.as("seen"))
      .select(["agent", COUNT.as("clicks")])
      .groupBy("agent")
      .execute();
    const { clicks, complete } = countsIn(agents);
    return { recipients: 1, recipientsClicked: clicks.person > 0 ? 1 : 0, clicks, complete };
  }

  const targets = (accountId: number) => db.selectFrom("link_targets").selectAll().where("account_id", "=", accountId);

  return {
    async listLinkTargets(accountId, after, limit) {
      let query = targets(accountId);
      if (after) query = query.where(sql<boolean>`(request_id, k) < (${after.requestId}, ${after.k})`);
      const page = await query.orderBy("request_id", "desc").orderBy("k", "desc").limit(limit).execute();
      const rows = page.map(countedTargetOf);
      const last = rows.at(-1);
      return { rows, next: last && rows.length === limit ? { requestId: last.requestId, k: last.k } : null };
    },

    async findLinkTarget(accountId, requestId, k) {
      const row = await targets(accountId).where("request_id", "=", requestId).where("k", "=", k).executeTakeFirst();
      return row ? countedTargetOf(row) : null;
    },

    async findLink(accountId, code) {
      const row = await linksWithTargets
        .selectAll("link_targets")
        .select(["links.code", "links.n"])
        .where("links.account_id", "=", accountId)
        .where("links.code", "=", code)
        .executeTakeFirst();
      return row ? { ...targetOf(row), code, n: row.n, ...(await countsOf(accountId, code)) } : null;
    },

    async listLinksOfMessage({ accountId, requestId, n }) {
      const rows = await linksWithTargets
        .selectAll("links")
        .select(["url", "expires_at"])
        .where("links.account_id", "=", accountId)
        .where("links.request_id", "=", requestId)
        .where("links.n", "=", n)
        .orderBy("links.k")
        .execute();
      return rows.map(hitOf);
    },

    async listClicksOfMessage({ accountId, requestId, n }, limit) {
      const links = await db
        .selectFrom("links")
        .select(["code", "k"])
        .where("account_id", "=", accountId)
        .where("request_id", "=", requestId)
        .where("n", "=", n)
        .execute();
      const clicks = await Promise.all(
        links.map(async ({ code, k }) => {
          const rows = await db
            .selectFrom("clicks")
            .selectAll()
            .where("account_id", "=", accountId)
            .where("code", "=", code)
            .orderBy("id", "desc")
            .limit(limit)
            .execute();
          return rows.map(({ id, agent, at }) => ({ accountId, code, id, agent: agent as AgentClass, at, k }));
        }),
      );
      return clicks
        .flat()
        .toSorted((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit);
    },

    async clicksOverTime(accountId, choice, { from, to, bucketMs }) {
      const seen = (await clicksOf(accountId, choice))
        .where("id", ">=", idFloor(from))
        .where("id", "<", idFloor(to))
        .select([sql<number>`at - at % ${bucketMs}`.as("bucket"), "agent"]);
      const rows = await db
        .selectFrom(seen.as("seen"))
        .select(["bucket", "agent", COUNT.as("clicks")])
        .groupBy(["bucket", "agent"])
        .orderBy("bucket")
        .execute();
      const buckets = new Map<number, ClickBucket>();
      for (const { bucket, agent, clicks } of rows) {
        const at = buckets.get(bucket) ?? { at: bucket, clicks: { ...NO_CLICKS } };
        at.clicks[agent as AgentClass] = clicks;
        buckets.set(bucket, at);
      }
      return { buckets: [...buckets.values()], complete: countsIn(rows).complete };
    },
  };
}

function countsIn(rows: readonly { agent: string; clicks: number }[]): Pick<LinkCounts, "clicks" | "complete"> {
  const counts: ClickCounts = { ...NO_CLICKS };
  for (const { agent, clicks } of rows) counts[agent as AgentClass] += clicks;
  return { clicks: counts, complete: counts.person + counts.preview + counts.bot <= LOOK_AT_MOST };
}

const targetOf = (row: Tables["link_targets"]): LinkTarget => ({
  accountId: row.account_id,
  requestId: row.request_id,
  k: row.k,
  url: row.url,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
});

const countedTargetOf = (row: Tables["link_targets"]): CountedTarget => ({
  ...targetOf(row),
  recipients: row.recipients,
  recipientsClicked: row.recipients_clicked,
  clicks: { person: row.clicks_person, preview: row.clicks_preview, bot: row.clicks_bot },
  complete: true,
});

const hitOf = (
  row: Omit<Tables["links"], "clicked"> & Pick<Tables["link_targets"], "url" | "expires_at">,
): LinkHit => ({
  code: row.code,
  accountId: row.account_id,
  requestId: row.request_id,
  n: row.n,
  k: row.k,
  url: row.url,
  expiresAt: row.expires_at,
});
