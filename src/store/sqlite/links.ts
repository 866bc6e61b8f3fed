import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { AgentClass, Click } from "../../model/link.ts";
import type { LinkHit } from "../links.ts";

/** A found link as a tuple, with the index of its code in the query. */
export type FoundLink = readonly [
  place: number,
  accountId: number,
  requestId: string,
  n: number,
  k: number,
  expiresAt: number,
  url: string,
];

/**
 * All links of a batch as one JSON value: an object for each row costs as much as the lookup itself. Cross joins fix the join
 * order in SQLite.
 */
export const FIND_LINKS = `
  select json_group_array(json_array(wanted.key, links.account_id, links.request_id, links.n, links.k, expires_at, url))
  from json_each(?) as wanted
  cross join links on links.code = wanted.value
  cross join link_targets on link_targets.account_id = links.account_id
    and link_targets.request_id = links.request_id and link_targets.k = links.k`;

/** One result per code, in order. */
export function hitsOf(codes: readonly string[], found: readonly FoundLink[]): (LinkHit | null)[] {
  const hits: (LinkHit | null)[] = codes.map(() => null);
  for (const [place, accountId, requestId, n, k, expiresAt, url] of found)
    hits[place] = { code: codes[place] ?? "", accountId, requestId, n, k, url, expiresAt };
  return hits;
}

/** A click on its way to the writer, in column order. */
export type PackedClick = readonly [accountId: number, code: string, id: string, agent: AgentClass, at: number];

export const packClick = ({ accountId, code, id, agent, at }: Click): PackedClick => [accountId, code, id, agent, at];

/**
 * Records one click and counts it in its target, inside the writer's transaction. One click at a time: unpacking a JSON batch
 * costs twice as much as inserting its rows. A click that was recorded before is skipped.
 */
export function createRecordClick(db: DatabaseSync): (click: PackedClick) => void {
  const insert = db.prepare(
    "insert into clicks (account_id, code, id, agent, at) values (?, ?, ?, ?, ?) on conflict do nothing",
  );
  const markClicked = db.prepare("update links set clicked = 1 where code = ? and clicked = 0");
  const countAs = (agent: AgentClass): StatementSync =>
    db.prepare(
      `update link_targets set clicks_${agent} = clicks_${agent} + 1, recipients_clicked = recipients_clicked + ?
       where (account_id, request_id, k) = (select account_id, request_id, k from links where code = ?)`,
    );
  const count = { person: countAs("person"), preview: countAs("preview"), bot: countAs("bot") };
  return (click) => {
    const [, code, , agent] = click;
    if (insert.run(...click).changes === 0) return;
    const isFirst = agent === "person" && markClicked.run(code).changes === 1;
    count[agent].run(isFirst ? 1 : 0, code);
  };
}
