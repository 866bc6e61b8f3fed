import { sql, type RawBuilder } from "kysely";
import { idFloor } from "../lib/ids.ts";
import { NO_CLICKS, type AgentClass, type ClickCounts, type LinkTarget } from "../model/link.ts";
import type { Engine } from "./engine.ts";
import type { ClickBucket, LinkChoice, LinkCounts, LinkHit, LinkStore } from "./link-store.ts";
import type { Tables } from "./tables.ts";

/**
 * How many clicks one call may look at. There are no counters: they would be rows that all clicks of a campaign fight
 * over, and the recipients of a request are few enough to be counted when somebody asks.
 */
const LOOK_AT_MOST = 100_000;

const COUNT = sql<number>`count(*)`;

/** Short links: the same queries on both engines, but for what is hot. Everything here is asked for by account. */
export function createLinks({ db }: Pick<Engine, "db">): Omit<LinkStore, "findLinks" | "recordClicks"> {
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

  /** A cross join, because SQLite keeps its order: it would begin with all clicks of the account, there being no statistics. */
  const clicksOf = (accountId: number, choice: LinkChoice) =>
    linksOf(accountId, choice)
      .crossJoin("clicks")
      .whereRef("clicks.account_id", "=", "links.account_id")
      .whereRef("clicks.code", "=", "links.code")
      .limit(LOOK_AT_MOST + 1);

  async function countsOf(accountId: number, choice: LinkChoice): Promise<LinkCounts> {
    const seen = clicksOf(accountId, choice).select(["links.n", "clicks.agent"]);
    const [links, agents] = await Promise.all([
      linksOf(accountId, choice).select(COUNT.as("recipients")).executeTakeFirstOrThrow(),
      db
        .selectFrom(seen.as("seen"))
        .select(["agent", COUNT.as("clicks"), sql<number>`count(distinct n)`.as("recipients")])
        .groupBy("agent")
        .execute(),
    ]);
    return {
      recipients: links.recipients,
      recipientsClicked: agents.find(({ agent }) => agent === "person")?.recipients ?? 0,
      ...countsIn(agents),
    };
  }

  const targets = (accountId: number) => db.selectFrom("link_targets").selectAll().where("account_id", "=", accountId);

  return {
    async listLinkTargets(accountId, after, limit) {
      let query = targets(accountId);
      if (after) query = query.where(sql<boolean>`(request_id, k) < (${after.requestId}, ${after.k})`);
      const page = await query.orderBy("request_id", "desc").orderBy("k", "desc").limit(limit).execute();
      const rows = [];
      let looked = 0;
      for (const row of page) {
        if (looked > LOOK_AT_MOST) break;
        const target = targetOf(row);
        const counts = await countsOf(accountId, target);
        looked += counts.recipients + counts.clicks.person + counts.clicks.preview + counts.clicks.bot;
        rows.push({ ...target, ...counts });
      }
      const last = rows.at(-1);
      const ended = page.length < limit && rows.length === page.length;
      return { rows, next: last && !ended ? { requestId: last.requestId, k: last.k } : null };
    },

    async findLinkTarget(accountId, requestId, k) {
      const row = await targets(accountId).where("request_id", "=", requestId).where("k", "=", k).executeTakeFirst();
      return row ? { ...targetOf(row), ...(await countsOf(accountId, { requestId, k })) } : null;
    },

    async findLink(accountId, code) {
      const row = await linksWithTargets
        .selectAll("link_targets")
        .select(["links.code", "links.n"])
        .where("links.account_id", "=", accountId)
        .where("links.code", "=", code)
        .executeTakeFirst();
      return row ? { ...targetOf(row), code, n: row.n, ...(await countsOf(accountId, { code })) } : null;
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
      const seen = clicksOf(accountId, choice)
        .where("clicks.id", ">=", idFloor(from))
        .where("clicks.id", "<", idFloor(to))
        .select([sql<number>`clicks.at - clicks.at % ${bucketMs}`.as("bucket"), "clicks.agent"]);
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

    async forgetLinks(accountId, beforeRequestId, limit) {
      // The oldest links are looked at, and not the oldest with clicks: those might lie behind any number of others.
      const oldest = sql`(select account_id, code from links
        where account_id = ${accountId} and request_id < ${beforeRequestId} order by request_id, n, k limit ${limit}) as oldest`;
      const ofOldest = sql`clicks.account_id = oldest.account_id and clicks.code = oldest.code`;
      const clicks = await changes(sql`delete from clicks where (account_id, code, id) in (
        select clicks.account_id, clicks.code, clicks.id from ${oldest} join clicks on ${ofOldest} limit ${limit})`);
      const links = await changes(sql`delete from links where code in (
        select code from ${oldest} where not exists (select 1 from clicks where ${ofOldest}))`);
      const gone = await changes(sql`delete from link_targets where (account_id, request_id, k) in (
        select account_id, request_id, k from (
          select account_id, request_id, k from link_targets
          where account_id = ${accountId} and request_id < ${beforeRequestId} order by request_id limit ${limit}) as oldest
        where not exists (select 1 from links where links.account_id = oldest.account_id and links.request_id = oldest.request_id))`);
      return clicks + links + gone;
    },
  };

  async function changes(statement: RawBuilder<unknown>): Promise<number> {
    return Number((await statement.execute(db)).numAffectedRows ?? 0n);
  }
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

const hitOf = (row: Tables["links"] & Pick<Tables["link_targets"], "url" | "expires_at">): LinkHit => ({
  code: row.code,
  accountId: row.account_id,
  requestId: row.request_id,
  n: row.n,
  k: row.k,
  url: row.url,
  expiresAt: row.expires_at,
});
