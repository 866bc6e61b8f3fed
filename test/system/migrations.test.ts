import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { MIGRATIONS, RELEASE, SchemaTooNew } from "../../src/store/migrations/all.ts";
import type { Migration } from "../../src/store/migrations/migration.ts";
import { migrate as migratePostgres } from "../../src/store/postgres/migrate.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { prepareSession } from "../../src/store/postgres/session.ts";
import { migrate as migrateSqlite } from "../../src/store/sqlite/migrate.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { StorageUnavailable } from "../../src/store/store.ts";
import { freshDatabase } from "../support/databases.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";

interface Ground {
  where: string;
  migrate(known: readonly Migration[]): Promise<void>;
  names(sql: string): Promise<string[]>;
  write(sql: string): Promise<unknown>;
  open(): Promise<{ close(): Promise<void> }>;
  /** Resolves once the process is in the middle of its migration. */
  halfWay(migrating: ChildProcess): Promise<void>;
  discard(): Promise<void>;
}

const first: Migration = { name: "0001-first", statements: () => ["create table first (id integer)"] };
const second: Migration = { name: "0002-second", statements: () => ["create table second (id integer)"] };
const third: Migration = { name: "0003-third", statements: () => ["create table third (id integer)"] };
const broken: Migration = {
  name: "0002-broken",
  statements: () => [
    "create table broken (id integer)",
    "insert into broken (id) values (1)",
    "create table first (id integer)",
  ],
};

describe.each(ENGINES)("migrating on %s", (engine) => {
  let ground: Ground;
  beforeEach(async () => {
    ground = engine === "sqlite" ? await sqliteGround() : await postgresGround();
  });
  afterEach(() => ground.discard());

  const done = () => ground.names("select name from migrations order by name");

  it("missing migrations are applied in order and recorded", async () => {
    await ground.migrate([first]);
    await ground.migrate([first, second]);
    expect(await done()).toEqual(["0001-first", "0002-second"]);
    expect(await ground.names("select 'there' as name from second")).toEqual([]);
  });

  it("does nothing the second time", async () => {
    await ground.migrate([first, second]);
    await ground.migrate([first, second]);
    expect(await done()).toEqual(["0001-first", "0002-second"]);
  });

  it("leaves nothing of a step that fails in the middle, and keeps the steps before it", async () => {
    await expect(ground.migrate([first, broken])).rejects.toThrow(/first/);
    expect(await done()).toEqual(["0001-first"]);
    await expect(ground.names("select 'there' as name from broken")).rejects.toThrow(/broken/);
    await ground.migrate([first, second]);
    expect(await done()).toEqual(["0001-first", "0002-second"]);
  });

  it("refuses a database that a newer release has migrated, and changes nothing", async () => {
    await ground.migrate([first, second]);
    await expect(ground.migrate([first])).rejects.toThrow(SchemaTooNew);
    expect(await done()).toEqual(["0001-first", "0002-second"]);
  });

  it("starts an older release on a database of a newer one whose migrations work with it, and no other", async () => {
    await ground.migrate([first, { ...second, worksWith: RELEASE }]);
    await ground.migrate([first]);
    expect(await done()).toEqual(["0001-first", "0002-second"]);
    await ground.migrate([first, { ...second, worksWith: RELEASE }, { ...third, worksWith: "99.0.0" }]);
    await expect(ground.migrate([first])).rejects.toThrow("migrated by a newer release (0003-third)");
  });

  it("a database without a record of compatible releases is migrated", async () => {
    await ground.write("create table migrations (name text primary key)");
    await ground.write("insert into migrations (name) values ('0001-first')");
    await ground.migrate([first, second]);
    expect(await done()).toEqual(["0001-first", "0002-second"]);
  });

  it("refuses to open a store that a newer release has migrated", async () => {
    await ground.migrate([...MIGRATIONS, { name: "9999-future", statements: () => [] }]);
    await expect(ground.open()).rejects.toThrow(SchemaTooNew);
  });

  it("lets the route that accounts began with take every channel, and leaves all others as they are", async () => {
    await ground.migrate(MIGRATIONS.slice(0, 1));
    await ground.write("insert into accounts (name, suspended, settings, created_at) values ('a', 0, '{}', 0)");
    await ground.migrate(MIGRATIONS.slice(0, 3));
    const authored = (kind: string, name: string) =>
      `(1, '${kind}', '${newId(0)}', '${name}', 'authored', '{"channel":"sms"}', 0, 0)`;
    await ground.write(`insert into catalog (account_id, kind, id, name, origin, content, created_at, updated_at)
      values ${authored("route", "Mine")}, ${authored("template", "Everything to the simulator")}`);
    const contents = async () =>
      (await ground.names("select content as name from catalog order by kind, catalog.name")).map(
        (content) => JSON.parse(content) as Record<string, unknown>,
      );
    const [sample, ...others] = await contents();
    expect(sample).toMatchObject({ channel: "sms", carrier: "simulator" });
    expect(others).toHaveLength(2);
    await ground.migrate(MIGRATIONS);
    expect(await contents()).toEqual([{ ...sample, channel: null }, ...others]);
  });

  it("writes the addresses of people in small letters, unless two would be one then", async () => {
    await ground.migrate(MIGRATIONS.slice(0, 6));
    await ground.write("insert into accounts (name, suspended, settings, created_at) values ('a', 0, '{}', 0)");
    for (const email of ["Owner@Example.com", "twin@example.com", "Twin@example.com"])
      await ground.write(`insert into users (account_id, id, email, password_hash, role, created_at)
        values (1, '${newId(0)}', '${email}', '', 'owner', 0)`);
    await ground.migrate(MIGRATIONS);
    const emails = await ground.names("select email as name from users");
    expect(emails.toSorted()).toEqual(["Twin@example.com", "owner@example.com", "twin@example.com"]);
  });

  it("keeps the waiting receipts when it widens the table for those of other phones", async () => {
    await ground.migrate(MIGRATIONS.filter(({ name }) => name < "0012"));
    for (const [id, phone] of [
      ["A1", "'33612345678'"],
      ["A2", "null"],
    ] as const)
      await ground.write(`insert into parked_receipts (carrier, carrier_message_id, state, at, parked_at, recipient)
        values ('1/north', '${id}', 'delivered', 1, 2, ${phone})`);
    await ground.migrate(MIGRATIONS);
    await ground.write(`insert into parked_receipts (carrier, carrier_message_id, state, at, parked_at, recipient)
      values ('1/north', 'A1', 'delivered', 1, 2, '33600000009')`);
    const kept = "select carrier_message_id || ' ' || recipient as name from parked_receipts order by id";
    expect(await ground.names(kept)).toEqual(["A1 33612345678", "A2 ", "A1 33600000009"]);
  });

  it("keeps callbacks that wait, before all that are stored later", async () => {
    await ground.migrate(MIGRATIONS.filter(({ name }) => name < "0021"));
    await ground.write(`insert into callbacks (account_id, event_id, endpoint_id, kind, status, request_id, n, at, facts, state, owner,
      attempts, due_at) values (1, '${newId(0)}', '${newId(0)}', 'status', 'sent', '${newId(0)}', 1, 0, '{}', 'waiting', 0, 2, 5)`);
    await ground.migrate(MIGRATIONS);
    expect(
      await ground.names("select state || ' ' || attempts || ' ' || due_at || ' ' || seq as name from callbacks"),
    ).toEqual(["waiting 2 5 0"]);
  });

  it("leaves a usable database when the process is killed in the middle", async () => {
    const script = join(import.meta.dirname, "../support/migrating-process.ts");
    const migrating = spawn(process.execPath, [script, engine, ground.where], { stdio: ["ignore", "pipe", "inherit"] });
    await ground.halfWay(migrating);
    migrating.kill("SIGKILL");
    await once(migrating, "exit");
    const store = await ground.open();
    await store.close();
    expect(await done()).toEqual(MIGRATIONS.map(({ name }) => name));
    await expect(ground.names("select 'there' as name from half_way")).rejects.toThrow(/half_way/);
  });
});

describe("starting on postgres", () => {
  it("lets nodes that start together take turns", async () => {
    const ground = await postgresGround();
    const stores = await Promise.all(Array.from({ length: 6 }, () => ground.open()));
    await Promise.all(stores.map((store) => store.close()));
    expect(await ground.names("select name from migrations")).toEqual(MIGRATIONS.map(({ name }) => name));
    await ground.discard();
  });

  it("lets others read a table on while a migration of it waits for a long transaction, and tries again later", async () => {
    const ground = await postgresGround();
    await ground.migrate([first]);
    const dump = new Client({ connectionString: ground.where });
    await dump.connect();
    await dump.query("begin");
    await dump.query("select * from first");
    await dump.query("select * from migrations");
    // A start without pending migrations needs no table for itself.
    await ground.migrate([first]);
    const wider: Migration = { name: "0002-wider", statements: () => ["alter table first add column more text"] };
    const refusal = ground.migrate([first, wider]).catch((error: unknown) => error);
    await eventually(
      () => ground.names("select 'there' as name from pg_locks where not granted and relation = 'first'::regclass"),
      ({ length }) => length > 0,
    );
    expect(await ground.names("select 'there' as name from first")).toEqual([]);
    const error = (await refusal) as Error;
    expect(error).toBeInstanceOf(StorageUnavailable);
    expect(error.message).toContain("migration 0002-wider waits for another transaction");
    await dump.query("commit");
    await dump.end();
    await ground.migrate([first, wider]);
    expect(await ground.names("select more as name from first")).toEqual([]);
    await ground.discard();
  });

  it("changes kept counts and the search index only while no node of an older release runs", async () => {
    const ground = await postgresGround();
    const before = MIGRATIONS.findIndex(({ stopsNodes }) => stopsNodes);
    await ground.migrate(MIGRATIONS.slice(0, before));
    const now = "(extract(epoch from clock_timestamp()) * 1000)::bigint";
    await ground.write(`insert into nodes (beat_at, started_at, sends, roles) values (${now}, ${now}, 1, '')`);
    const refused = ground.migrate(MIGRATIONS);
    await expect(refused).rejects.toThrow("stop node 1 of the older release");
    await expect(refused).rejects.toBeInstanceOf(StorageUnavailable);
    expect(await ground.names("select name from migrations")).toHaveLength(before);
    // A node that was killed sends no heartbeats.
    await ground.write(`update nodes set beat_at = ${now} - 60000`);
    await ground.migrate(MIGRATIONS);
    expect(await ground.names("select name from migrations")).toHaveLength(MIGRATIONS.length);
    await ground.discard();
  });

  it("refuses a server older than PostgreSQL 15 and says so", async () => {
    const old = { query: () => Promise.resolve({ rows: [{ version: "140012", release: "14.12" }] }) };
    await expect(prepareSession(old as unknown as Client, 1000, "none")).rejects.toThrow(
      "PostgreSQL 15 or later is needed; this server is 14.12",
    );
  });
});

async function sqliteGround(): Promise<Ground> {
  const folder = await mkdtemp(join(tmpdir(), "heliograph-migrations-"));
  const where = join(folder, "store.db");
  const withDatabase = async <T>(work: (db: DatabaseSync) => T): Promise<T> => {
    const db = new DatabaseSync(where);
    try {
      return work(db);
    } finally {
      db.close();
    }
  };
  return {
    where,
    migrate: (known) => withDatabase((db) => migrateSqlite(db, known)),
    names: (sql) =>
      withDatabase((db) =>
        db
          .prepare(sql)
          .all()
          .map((row) => String(row["name"])),
      ),
    write: (sql) => withDatabase((db) => db.exec(sql)),
    open: async () => openSqliteStore(where, systemClock),
    async halfWay({ stdout }) {
      if (stdout) await once(stdout, "data");
    },
    discard: () => rm(folder, { recursive: true }),
  };
}

async function postgresGround(): Promise<Ground> {
  const database = await freshDatabase(inject("postgresUrl"));
  const names = async (sql: string): Promise<string[]> => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      return (await client.query<{ name: string }>(sql)).rows.map((row) => row.name);
    } finally {
      await client.end();
    }
  };
  return {
    where: database.url,
    names,
    write: names,
    migrate: (known) => migratePostgres(database.url, { known }),
    open: () => openPostgresStore(database.url),
    async halfWay() {
      const asleep = `select query as name from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;
      while ((await names(asleep)).length === 0) await sleep(20);
    },
    discard: () => database.drop(),
  };
}
