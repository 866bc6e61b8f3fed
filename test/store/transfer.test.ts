import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { migrate } from "../../src/cli/migrate.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { readConfig } from "../../src/config.ts";
import { newId } from "../../src/lib/ids.ts";
import { lockFile } from "../../src/lib/lock-file.ts";
import { TransferTarget } from "../../src/store/transfer/target.ts";
import { transfer } from "../../src/store/transfer/transfer.ts";
import { NOON } from "../support/acceptances.ts";
import { freshDatabase, migratedDatabase, type FreshDatabase } from "../support/databases.ts";
import { hasPostgres } from "../support/engines.ts";
import { writeSqliteSchema } from "../support/sqlite-schema.ts";

type Row = Record<string, string | number | null>;

/** Tables that have no rows to copy: of processes, of migrations, or of PostgreSQL alone. */
const OWN = new Set(["campaign_count_changes", "migration_turn", "migrations", "nodes"]);

const ROWS_EACH = 3;

describe.runIf(hasPostgres)("a copy of SQLite in PostgreSQL", () => {
  let folder: string;
  let file: string;
  let db: DatabaseSync;
  let database: FreshDatabase;
  let client: Client;
  beforeEach(async () => {
    folder = await mkdtemp(join(inject("scratchFolder"), "transfer-"));
    file = join(folder, "heliograph.db");
    await writeSqliteSchema(file);
    db = new DatabaseSync(file);
    database = await migratedDatabase(inject("postgresUrl"));
    client = new Client(database.url);
    await client.connect();
  });
  afterEach(async () => {
    if (db.isOpen) db.close();
    await client.end();
    await database.drop();
  });

  const env = (): Record<string, string> => ({
    HELIOGRAPH_DATA_DIR: folder,
    HELIOGRAPH_DATABASE_URL: database.url,
  });
  const run = (variables = env()): Promise<string> => migrate(readConfig(variables), [], {}, SILENT);
  const query = async (text: string): Promise<Row[]> => (await client.query<Row>(text)).rows;

  async function columnsOfTarget(): Promise<Map<string, Map<string, string>>> {
    const tables = new Map<string, Map<string, string>>();
    for (const { name, column, type } of await query(
      `select table_name as name, column_name as column, data_type as type from information_schema.columns
       join information_schema.tables using (table_schema, table_name) where table_schema = 'public' and table_type = 'BASE TABLE'`,
    ))
      tables.set(String(name), (tables.get(String(name)) ?? new Map()).set(String(column), String(type)));
    return tables;
  }

  /** Rows with a value in every column: texts that need escaping, times beyond 32 bits, and a row of nulls where they may be. */
  async function fillEveryTable(): Promise<string[]> {
    const tables = [...(await columnsOfTarget())].filter(([name]) => !OWN.has(name));
    db.exec("pragma foreign_keys = off");
    for (const [name, types] of tables) {
      const columns = db.prepare(`pragma table_info("${name}")`).all() as {
        name: string;
        notnull: number;
        pk: number;
      }[];
      for (let row = 1; row <= ROWS_EACH; row += 1) {
        const values = columns.map(({ name: column, notnull, pk }): SQLInputValue => {
          const type = types.get(column);
          if (row === 2 && notnull === 0 && pk === 0) return null;
          if (column === "account_id" || (name === "accounts" && column === "id")) return row;
          if (type === "uuid") return newId(NOON + row);
          if (type === "integer") return 2_000_000_000 + row;
          if (type === "bigint") return NOON + row;
          return `${column} ${row} "quoted" \\ {a,b} NULL ' \n\u00e9 \u{1f680}`;
        });
        const places = columns.map(() => "?").join(", ");
        db.prepare(`insert into "${name}" values (${places})`).run(...values);
      }
    }
    // The service values that a server reads are JSON.
    db.exec("update callbacks set owner = 7");
    return tables.map(([name]) => name);
  }

  const sorted = (rows: readonly Row[]): string[] =>
    rows.map((row) => JSON.stringify(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1)))).toSorted();

  /** Reads both databases with their own clients, and compares all rows of all tables. */
  async function expectSameRows(tables: readonly string[]): Promise<void> {
    for (const name of tables) {
      const original = (db.prepare(`select * from "${name}"`).all() as Row[])
        .filter((row) => !(name === "service" && row["name"] === "held"))
        .map((row) => ("owner" in row ? { ...row, owner: 0 } : { ...row }));
      const types = (await columnsOfTarget()).get(name) ?? new Map<string, string>();
      const copy = (await query(`select * from "${name}"`))
        .filter((row) => row["name"] !== "copied-from-sqlite")
        .map(({ callback_seq: _own, ...row }) =>
          Object.fromEntries(
            Object.entries(row).map(([column, value]) => [
              column,
              types.get(column) === "bigint" && value !== null ? Number(value) : value,
            ]),
          ),
        );
      expect([name, original.length > 0]).toEqual([name, true]);
      expect([name, ...sorted(copy as Row[])]).toEqual([name, ...sorted(original)]);
    }
  }

  test("has every row of every table, byte by byte, without owners", async () => {
    const tables = await fillEveryTable();
    expect(tables.length).toBeGreaterThan(40);
    expect(await run()).toMatch(
      new RegExp(`^${tables.length * ROWS_EACH + 2} rows in ${tables.length} tables copied`, "m"),
    );
    await expectSameRows(tables);
    expect(await query("select distinct owner from messages union select distinct owner from callbacks")).toEqual([
      { owner: 0 },
    ]);
  });

  test("has every table and column of the original", async () => {
    const names = (db.prepare("select name from sqlite_schema where type = 'table'").all() as { name: string }[])
      .map(({ name }) => name)
      .filter((name) => !name.startsWith("sqlite_"));
    const target = await columnsOfTarget();
    expect([...target.keys()].filter((name) => !OWN.has(name)).toSorted()).toEqual(
      names.filter((name) => !OWN.has(name)).toSorted(),
    );
    for (const name of names) {
      const columns = db.prepare(`pragma table_info("${name}")`).all() as { name: string }[];
      const more = [...(target.get(name)?.keys() ?? [])].filter(
        (column) => !columns.some((one) => one.name === column),
      );
      expect([name, more]).toEqual([name, name === "messages" ? ["callback_seq"] : []]);
    }
  });

  test("gives no id again that SQLite has given out, even if its row was deleted", async () => {
    db.exec("insert into accounts (id, name, suspended, settings, created_at) values (41, 'gone', 0, '{}', 0)");
    db.exec("delete from accounts");
    db.exec("insert into nodes (id, beat_at) values (17, 0)");
    await run();
    await query("insert into accounts (name, suspended, settings, created_at) values ('next', 0, '{}', 0)");
    await query("insert into nodes (beat_at) values (0)");
    expect(await query("select id from accounts union all select id from nodes")).toEqual([{ id: 42 }, { id: 18 }]);
  });

  test("is refused while a server uses the original, and while the target has rows; both stay as they are", async () => {
    const unlock = lockFile(join(folder, "heliograph.lock"));
    await expect(run()).rejects.toThrow("in use by another process");
    unlock();
    await query("insert into nodes (beat_at) values (0)");
    await expect(run()).rejects.toThrow(
      "the PostgreSQL database is not empty: it has rows in nodes; nothing was copied",
    );
    expect(await query("select count(*)::integer as count from nodes")).toEqual([{ count: 1 }]);
    expect(db.prepare("select count(*) as count from service where name = 'held'").get()).toEqual({ count: 0 });
  });

  test("needs a target and an original, and names the setting that lacks", async () => {
    await expect(run({ HELIOGRAPH_DATA_DIR: folder })).rejects.toThrow("HELIOGRAPH_DATABASE_URL: set it to the empty");
    const empty = await mkdtemp(join(inject("scratchFolder"), "transfer-"));
    await expect(run({ ...env(), HELIOGRAPH_DATA_DIR: empty })).rejects.toThrow("HELIOGRAPH_DATA_DIR: there is no");
  });

  test.each([
    [
      "a text that PostgreSQL cannot hold",
      "note",
      "'zero' || char(0) || 'byte'",
      "PostgreSQL refuses a row of optouts",
    ],
    [
      "a row that PostgreSQL stores in another form",
      "id",
      "'018F0000-0000-7000-8000-00000000000A'",
      "the copy of audit differs",
    ],
  ])("is given up as a whole for %s", async (_what, column, value, message) => {
    await fillEveryTable();
    const table = column === "id" ? "audit" : "optouts";
    db.exec(`update ${table} set ${column} = ${value} where account_id = 1`);
    await expect(run()).rejects.toThrow(message);
    expect(await query("select count(*)::integer as count from accounts")).toEqual([{ count: 0 }]);
    expect(await query("select count(*)::integer as count from revisions")).not.toEqual([{ count: 0 }]);
    expect(db.prepare("select value from service where name = 'held'").get()).toBeUndefined();
  });

  test("holds the original before it can be used, also when the last commit fails; then it can be repeated", async () => {
    const tables = await fillEveryTable();
    const { commit } = TransferTarget.prototype;
    TransferTarget.prototype.commit = () => Promise.reject(new Error("connection lost"));
    try {
      await expect(run()).rejects.toThrow("connection lost");
    } finally {
      TransferTarget.prototype.commit = commit;
    }
    const held = (): unknown =>
      JSON.parse(String(db.prepare("select value from service where name = 'held'").get()?.["value"]));
    expect(held()).toMatchObject({ reason: "moved" });
    expect(await query("select count(*)::integer as count from accounts")).toEqual([{ count: 0 }]);
    expect(await run()).toContain("all are the same");
    await expectSameRows(tables);
    expect(await query("select value from service where name = 'held'")).toEqual([]);
    // The answer of a commit may be lost, too: the next run finds the copy.
    expect(await run()).toContain("copied by an earlier run");
  });

  test("of a database that is held after a restore is held, too", async () => {
    const restored = { since: NOON, reason: "restore", snapshotAt: NOON, resume: null };
    db.prepare("insert into service (name, value) values ('held', ?)").run(JSON.stringify(restored));
    await run();
    const [held] = await query("select value from service where name = 'held'");
    expect(JSON.parse(String(held?.["value"]))).toEqual(restored);
  });

  test("goes into a database without a schema, and reports its progress", async () => {
    const bare = await freshDatabase(inject("postgresUrl"));
    await fillEveryTable();
    const steps: string[] = [];
    const request = { file, url: bare.url, now: NOON, connectTimeoutMs: 60_000, pooler: "none" } as const;
    const { tables } = await transfer(request, ({ step, table, done, rows }) =>
      steps.push(`${step} ${table} ${done}/${rows}`),
    );
    expect(tables.map(({ name }) => name)[0]).toBe("accounts");
    expect(steps).toContain("copying messages 3/3");
    expect(steps).toContain("comparing messages 0/3");
    await bare.drop();
  });
});

const SILENT: Terminal = {
  canAsk: false,
  say: () => {},
  confirm: async () => false,
  ask: async () => "",
  askSecret: async () => "",
  showProgress: () => {},
};
