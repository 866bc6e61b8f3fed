import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { idFloor, newId } from "../../src/lib/ids.ts";
import { LOOK_AT_MOST } from "../../src/store/bounded-window.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { NOON } from "../support/acceptances.ts";
import { migratedDatabase } from "../support/databases.ts";
import { ENGINES } from "../support/engines.ts";
import { writeSqliteSchema } from "../support/sqlite-schema.ts";

/** More than two statements of a listing look at. */
const ROWS = 2 * LOOK_AT_MOST + 500;
const RARE = newId(NOON - 60_000);
const ENDPOINT = newId(NOON - 1);
const RARE_ENDPOINT = newId(NOON - 2);

/** The columns of each table, with a rare value in the oldest row and a usual one in all others. */
const TABLES = {
  audit: `account_id, id, actor_kind, actor_id, actor_name, action, kind, record_id, record_name, fields, address)
    select 1, $id, 'user', null, case when i = 0 then 'rare' else 'usual' end, 'made', 'templates', null, null, '[]', ''`,
  inbound: `account_id, id, channel, number, sender, content, request_id, n, received_at, event_id, test)
    select 1, $id, 'sms', case when i = 0 then 'rare' else 'usual' end, 'HELIOG', '{"kind":"text","text":"Yes"}', null, null, 0, null, 0`,
  verifications: `account_id, id, mode, config, number, country, state, digest, checks, checks_max, bound, failures_per_hour,
      failures_per_day, test, created_at, expires_at, done_at, next_at, plan, counted, pays, followed)
    select 1, $id, 'live', 'default', case when i = 0 then 'rare' else 'usual' end, 'US', 'verified', 'none', 1, 5, 1, 5, 10, 0, 0,
      0, 0, null, null, '', 0, 0`,
  callbacks: `account_id, event_id, endpoint_id, kind, at, facts, state, owner, attempts, due_at)
    select 1, $id, case when i = 0 then $uuid'${RARE_ENDPOINT}' else $uuid'${ENDPOINT}' end, 'status', 0,
      '{"messageId":"none:1","channel":"sms","recipient":"1","sender":"HELIOG","credits":1,"createdAt":0,"session":false}',
      case when i = 0 then 'exhausted' else 'delivered' end, 0, 1, 0`,
} as const;

/** A table's rows, the rare one first in time. */
const insertInto = (table: keyof typeof TABLES, id: string, uuid: string, numbers: string): string =>
  `insert into ${table} (${TABLES[table].replaceAll("$id", id).replaceAll("$uuid", uuid)} from ${numbers}`;

describe.each(ENGINES)("a list with a rare filter on %s", (engine) => {
  let store: Store;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const tables = Object.keys(TABLES) as (keyof typeof TABLES)[];
    const [head, tail] = [idFloor(NOON).slice(0, 24), RARE];
    if (engine === "sqlite") {
      const path = join(await mkdtemp(join(inject("scratchFolder"), "lists-")), "store.db");
      await writeSqliteSchema(path);
      const db = new DatabaseSync(path);
      const numbers = `(with recursive counted (i) as (values (0) union all select i + 1 from counted where i < ${ROWS}) select i from counted)`;
      const id = `case when i = 0 then '${tail}' else '${head}' || printf('%012x', i) end`;
      for (const table of tables) db.exec(insertInto(table, id, "", numbers));
      db.close();
      store = openSqliteStore(path, systemClock);
      close = () => store.close();
      return;
    }
    const database = await migratedDatabase(inject("postgresUrl"));
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const id = `(case when i = 0 then '${tail}' else '${head}' || lpad(to_hex(i), 12, '0') end)::uuid`;
    for (const table of tables)
      await client.query(insertInto(table, id, "uuid ", `generate_series(0, ${ROWS}) as counted (i)`));
    await client.end();
    store = await openPostgresStore(database.url, { clock: systemClock });
    close = async () => {
      await store.close();
      await database.drop();
    };
  });
  afterAll(() => close());

  it.each([
    ["audit log", () => store.listAudit(1, { who: "rare" }, null, 50)],
    ["inbound messages", () => store.listInbound(1, { from: "rare" }, null, 50)],
    ["verifications", () => store.listVerifications(1, { number: "rare" }, NOON, null, 50)],
    ["callbacks of an endpoint", () => store.listCallbacks(1, { endpointId: RARE_ENDPOINT }, null, 50)],
    ["failed callbacks", () => store.listCallbacks(1, { state: "exhausted" }, null, 50)],
  ])("finds the %s on its first page, however old", async (_, list) => {
    const { rows, next } = await list();
    expect(rows).toHaveLength(1);
    expect(next).toBeNull();
  });

  it("ends with an empty page only where nothing matches", async () => {
    expect(await store.listAudit(1, { who: "unknown" }, null, 50)).toEqual({ rows: [], next: null });
    expect(await store.listCallbacks(1, { state: "dropped" }, null, 50)).toEqual({ rows: [], next: null });
  });

  it("has full pages that continue with the next row", async () => {
    const first = await store.listAudit(1, { who: "usual" }, null, 50);
    expect(first.rows).toHaveLength(50);
    const second = await store.listAudit(1, { who: "usual" }, first.next, 50);
    expect(second.rows[0]?.id).toBe(idOf(ROWS - 50));
  });
});

const idOf = (row: number): string => idFloor(NOON).slice(0, 24) + row.toString(16).padStart(12, "0");
