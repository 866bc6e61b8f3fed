import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { idFloor } from "../src/lib/ids.ts";
import { migrate as migratePostgres } from "../src/store/postgres/migrate.ts";
import { migrate as migrateSqlite } from "../src/store/sqlite/migrate.ts";

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const CODES = 58 ** 7;
const PLACES = [6, 5, 4, 3, 2, 1, 0];
const RECIPIENTS = 1000;
const DAY_MS = 86_400_000;

/** Codes are spread evenly over the code space in ascending order, which is the fastest insert order for a B-tree. */
export function codeOf(index: number, links: number): string {
  const value = index * Math.floor(CODES / links);
  return PLACES.map((place) => ALPHABET.charAt(Math.floor(value / 58 ** place) % 58)).join("");
}

const shape = (links: number) => {
  const requests = Math.max(1, Math.floor(links / RECIPIENTS));
  return { requests, firstAt: Date.now() - requests, expiresAt: Date.now() + 90 * DAY_MS };
};

const urlOf = (request: number): string => `https://shop.example/campaigns/autumn/${String(request).padStart(8, "0")}`;

/** Adjacent codes belong to different requests, as random codes would. */
export function fillSqlite(path: string, links: number): void {
  const { requests, firstAt, expiresAt } = shape(links);
  const db = new DatabaseSync(path, { defensive: false });
  migrateSqlite(db);
  db.exec("pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -1000000; drop index links_of_message; begin");
  const insertTarget = db.prepare("insert into link_targets (account_id, request_id, k, url, created_at, expires_at, recipients) values (1, ?, 1, ?, ?, ?, ?)");
  for (let request = 0; request < requests; request += 1)
    insertTarget.run(idFloor(firstAt + request), urlOf(request), firstAt + request, expiresAt, Math.floor(links / requests));
  const insertLink = db.prepare("insert into links (code, account_id, request_id, n, k) values (?, 1, ?, ?, 1)");
  for (let index = 0; index < links; index += 1)
    insertLink.run(codeOf(index, links), idFloor(firstAt + (index % requests)), Math.floor(index / requests) + 1);
  db.exec("commit; create index links_of_message on links (account_id, request_id, n, k); analyze; pragma journal_mode = wal");
  db.close();
} // prettier-ignore

export async function fillPostgres(url: string, links: number): Promise<void> {
  const { requests, firstAt, expiresAt } = shape(links);
  await migratePostgres(url);
  const client = new Client({ connectionString: url });
  await client.connect();
  const idOf = (request: string): string => {
    const hex = `lpad(to_hex(${firstAt}::bigint + ${request}), 12, '0')`;
    return `(substr(${hex}, 1, 8) || '-' || substr(${hex}, 9) || '-0000-0000-000000000000')::uuid`;
  };
  const value = `(i::bigint * ${Math.floor(CODES / links)})`;
  const code = PLACES.map((place) => `substr('${ALPHABET}', (${value} / ${58 ** place} % 58)::integer + 1, 1)`);
  for (const statement of [
    "drop index links_of_message",
    `insert into link_targets (account_id, request_id, k, url, created_at, expires_at, recipients) select 1, ${idOf("i")}, 1, 'https://shop.example/campaigns/autumn/' || lpad(i::text, 8, '0'), ${firstAt}::bigint + i, ${expiresAt}, ${Math.floor(links / requests)}
     from generate_series(0, ${requests - 1}) as i`,
    `insert into links (code, account_id, request_id, n, k) select ${code.join(" || ")}, 1, ${idOf(`i % ${requests}`)}, i / ${requests} + 1, 1 from generate_series(0, ${links - 1}) as i`,
    "create index links_of_message on links (account_id, request_id, n, k)",
    "vacuum analyze links",
    "vacuum analyze link_targets",
    "checkpoint",
  ])
    await client.query(statement);
  await client.end();
}
