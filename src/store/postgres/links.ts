import type { Click } from "../../model/link.ts";
import type { LinkHit } from "../links.ts";
import { columns } from "./columns.ts";
import type { Query, Statement } from "./pool.ts";

/** Unnamed, so each call is planned anew: a plan made for few links would be kept when there are many. */
const FIND = `
  select code, links.account_id, links.request_id, n, links.k, url, expires_at
  from links join link_targets using (account_id, request_id, k) where code = any ($1::text[])`;

interface FoundRow {
  code: string;
  account_id: number;
  request_id: string;
  n: number;
  k: number;
  url: string;
  expires_at: number;
}

export async function findLinks(query: Query, codes: readonly string[]): Promise<(LinkHit | null)[]> {
  const { rows } = await query<FoundRow>({ text: FIND, values: [codes] });
  const found = new Map(rows.map((row) => [row.code, hitOf(row)]));
  return codes.map((code) => found.get(code) ?? null);
}

const hitOf = ({
  account_id: accountId,
  request_id: requestId,
  expires_at: expiresAt,
  ...rest
}: FoundRow): LinkHit => ({
  accountId,
  requestId,
  expiresAt,
  ...rest,
});

const CLICKS = columns({ account_id: "integer", code: "text", id: "uuid", agent: "text", at: "bigint" });

/**
 * Stores new clicks and counts them in their targets. Links and targets are locked in the order of their keys, so that two nodes
 * with clicks of the same requests cause no deadlock.
 */
const RECORD = `
  with fresh as (
    insert into clicks (account_id, code, id, agent, at)
    select account_id, code, id, agent, at from ${CLICKS.rows} on conflict do nothing
    returning code, agent
  ),
  followed as (
    select code from (select distinct code from fresh where agent = 'person' order by code) as person
      cross join lateral (select 1 from links where links.code = person.code and clicked = 0 for update) as link
  ),
  first as (
    update links set clicked = 1 from followed where links.code = followed.code
    returning links.code
  ),
  counted as materialized (
    select account_id, request_id, k, count(distinct first.code) as recipients,
      count(*) filter (where agent = 'person') as person, count(*) filter (where agent = 'preview') as preview,
      count(*) filter (where agent = 'bot') as bot
    from fresh
      cross join lateral (select account_id, request_id, k from links where links.code = fresh.code offset 0) as link
      left join first on first.code = fresh.code
    group by account_id, request_id, k order by account_id, request_id, k
  ),
  locked as (
    select counted.* from counted cross join lateral (
      select 1 from link_targets where link_targets.account_id = counted.account_id
        and link_targets.request_id = counted.request_id and link_targets.k = counted.k for update) as target
  )
  update link_targets set recipients_clicked = recipients_clicked + locked.recipients,
    clicks_person = clicks_person + person, clicks_preview = clicks_preview + preview, clicks_bot = clicks_bot + bot
  from locked
  where link_targets.account_id = locked.account_id and link_targets.request_id = locked.request_id and link_targets.k = locked.k`;

/** Ignores clicks that are already stored. */
export function insertClicks(batch: readonly Click[]): Statement {
  const values = CLICKS.values(batch.map(({ accountId, ...click }) => ({ account_id: accountId, ...click })));
  return { name: "record clicks", text: RECORD, values };
}
