import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { describe, expect, inject, it } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { MIGRATIONS } from "../../src/store/migrations/all.ts";
import { migrate as migratePostgres } from "../../src/store/postgres/migrate.ts";
import { migrate as migrateSqlite } from "../../src/store/sqlite/migrate.ts";
import { NOON } from "../support/acceptances.ts";
import { freshDatabase } from "../support/databases.ts";
import { ENGINES, type EngineName } from "../support/engines.ts";

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === "0027-campaign-counts"),
);

interface OldStore {
  execute(sql: string): Promise<Record<string, unknown>[]>;
  /** Applies the rest of the migrations. */
  upgrade(): Promise<void>;
  close(): Promise<void>;
}

async function openOldStore(engine: EngineName): Promise<OldStore> {
  if (engine === "sqlite") {
    const db = new DatabaseSync(":memory:");
    migrateSqlite(db, BEFORE);
    return {
      execute: async (sql) => db.prepare(sql).all(),
      upgrade: async () => migrateSqlite(db),
      close: async () => db.close(),
    };
  }
  const database = await freshDatabase(inject("postgresUrl"));
  await migratePostgres(database.url, { known: BEFORE });
  const client = new Client(database.url);
  await client.connect();
  return {
    execute: async (sql) => (await client.query<Record<string, unknown>>(sql)).rows,
    upgrade: () => migratePostgres(database.url),
    async close() {
      await client.end();
      await database.drop();
    },
  };
}

describe.each(ENGINES)("a store from before the counts were kept, on %s", (engine) => {
  it("has the counts of its messages, links and clicks after its upgrade", async () => {
    const { execute, upgrade, close } = await openOldStore(engine);
    const request = newId(NOON);
    const message = (n: number, campaign: string, state: string): string =>
      `(1, '${request}', ${n}, 'sms', 2, 0, 'HELIO', '33612345678', '{}', 1, ${campaign}, '${state}', 0, ${NOON}, ${NOON}, ${NOON})`;
    await execute(`insert into messages (account_id, request_id, n, channel, lane, test, sender, recipient, content, segments,
        campaign_name, state, owner, created_at, due_at, expires_at)
      values ${message(1, "'spring'", "delivered")}, ${message(2, "'spring'", "delivered")}, ${message(3, "'spring'", "expired")},
        ${message(4, "null", "delivered")}`);
    await execute(`insert into link_targets (account_id, request_id, k, url, created_at, expires_at)
      values (1, '${request}', 1, 'https://a.example/', ${NOON}, ${NOON}), (1, '${request}', 2, 'https://b.example/', ${NOON}, ${NOON})`);
    await execute(`insert into links (code, account_id, request_id, n, k)
      values ('a', 1, '${request}', 1, 1), ('b', 1, '${request}', 2, 1), ('c', 1, '${request}', 1, 2)`);
    const click = (code: string, agent: string): string => `(1, '${code}', '${newId(NOON)}', '${agent}', ${NOON})`;
    await execute(`insert into clicks (account_id, code, id, agent, at)
      values ${click("a", "person")}, ${click("a", "person")}, ${click("b", "bot")}, ${click("b", "preview")}`);
    await upgrade();
    const counts = await execute("select campaign_name, state, count from campaign_totals order by state");
    expect(counts.map((row) => Object.values(row).join(" "))).toEqual(["spring delivered 2", "spring expired 1"]);
    const targets = await execute(
      "select k, recipients, recipients_clicked, clicks_person, clicks_preview, clicks_bot from link_targets order by k",
    );
    expect(targets.map((row) => Object.values(row).join(" "))).toEqual(["1 2 1 2 1 1", "2 1 0 0 0 0"]);
    const clicked = await execute("select code from links where clicked = 1");
    expect(clicked.map(({ code }) => code)).toEqual(["a"]);
    await close();
  });
});
