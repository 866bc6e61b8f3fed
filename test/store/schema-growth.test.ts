import { Client } from "pg";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import type { Store } from "../../src/store/store.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { migratedDatabase, type FreshDatabase } from "../support/databases.ts";

let database: FreshDatabase;
let store: Store;
let client: Client;
beforeEach(async () => {
  database = await migratedDatabase(inject("postgresUrl"));
  store = await openPostgresStore(database.url);
  client = new Client(database.url);
  await client.connect();
});
afterEach(async () => {
  await client.end();
  await store.close();
  await database.drop();
});

const execute = async (sql: string): Promise<unknown[]> => (await client.query<Record<string, unknown>>(sql)).rows;

const settingsOf = async (table: string): Promise<string> => {
  const [row] = (await execute(`select reloptions from pg_class where oid = '${table}'::regclass`)) as {
    reloptions: string[] | null;
  }[];
  return (row?.reloptions ?? []).join(", ");
};

/** As it is when the rows of a store have grown to their end: each page is full but for what no such row fits into. */
async function growToTheEnd(): Promise<void> {
  const settings = await settingsOf("messages");
  await execute("alter table messages reset (fillfactor)");
  await execute("update messages set state = 'delivered', trail = repeat('x', 400 + 37 * n % 900)");
  await execute("vacuum full messages");
  if (settings !== "") await execute(`alter table messages set (${settings})`);
  await execute("vacuum messages");
}

test("on PostgreSQL new messages are stored together, not one on each old page with free space", async () => {
  await store.accept([acceptance({ to: Array.from({ length: 600 }, (_, index) => `33600000${index}`) })]);
  await growToTheEnd();
  for (let sent = 0; sent < 20; sent += 1) await store.accept([acceptance({ createdAt: NOON + sent })]);
  const pages = await execute("select distinct (ctid::text::point)[0] as page from messages where state = 'accepted'");
  expect(pages.length).toBeGreaterThan(0);
  expect(pages.length).toBeLessThanOrEqual(3);
});

test("on PostgreSQL callbacks have the same fill factor", async () => {
  expect(await settingsOf("callbacks")).toMatch(/^fillfactor=60\b/);
});
