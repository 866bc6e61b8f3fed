import type { Click } from "../../model/link.ts";
import type { LinkHit } from "../link-store.ts";
import { columns } from "./columns.ts";
import type { Query, Statement } from "./pool.ts";

/** Without a name: planned while there are few links, it would be kept for when there are many. */
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

const RECORD = `
  insert into clicks (account_id, code, id, agent, at)
  select account_id, code, id, agent, at from ${CLICKS.rows} on conflict do nothing`;

/** A click that was recorded before is passed over. */
export function insertClicks(batch: readonly Click[]): Statement {
  const values = CLICKS.values(batch.map(({ accountId, ...click }) => ({ account_id: accountId, ...click })));
  return { name: "record clicks", text: RECORD, values };
}
