import type { Click } from "../../model/link.ts";
import type { LinkHit } from "../link-store.ts";

/** A link that was found, without names, and the place among the codes at which it was asked for. */
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
 * All links of a batch as one value: an object for each row and its text cost as much as finding it. Cross joins, because
 * SQLite keeps their order.
 */
export const FIND_LINKS = `
  select json_group_array(json_array(wanted.key, links.account_id, links.request_id, links.n, links.k, expires_at, url))
  from json_each(?) as wanted
  cross join links on links.code = wanted.value
  cross join link_targets on link_targets.account_id = links.account_id
    and link_targets.request_id = links.request_id and link_targets.k = links.k`;

/** One answer per code, in order. */
export function hitsOf(codes: readonly string[], found: readonly FoundLink[]): (LinkHit | null)[] {
  const hits: (LinkHit | null)[] = codes.map(() => null);
  for (const [place, accountId, requestId, n, k, expiresAt, url] of found)
    hits[place] = { code: codes[place] ?? "", accountId, requestId, n, k, url, expiresAt };
  return hits;
}

/** A click on its way to the writer, in the order of the columns. */
export type PackedClick = readonly [accountId: number, code: string, id: string, agent: string, at: number];

export const packClick = ({ accountId, code, id, agent, at }: Click): PackedClick => [accountId, code, id, agent, at];

/** For one click at a time: to take a batch from one text costs twice as much as its rows do. */
export const INSERT_CLICK = `insert into clicks (account_id, code, id, agent, at) values (?, ?, ?, ?, ?) on conflict do nothing`;
