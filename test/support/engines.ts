import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { inject } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { migratedDatabase } from "./databases.ts";
import { writeSqliteSchema } from "./sqlite-schema.ts";

export const ENGINES = ["sqlite", "postgres"] as const;
export type EngineName = (typeof ENGINES)[number];

export interface OpenStore {
  store: Store;
  /** Runs a statement behind the store's back, to bring about what would take long otherwise. */
  execute(sql: string): Promise<unknown[]>;
  /** Resolves once the store waits for a transaction that `execute` has begun. */
  untilBlocked(): Promise<void>;
  discard(): Promise<void>;
}

/** A store with nothing in it but its schema. */
export const openStore = (engine: EngineName): Promise<OpenStore> =>
  engine === "sqlite" ? openSqlite() : openPostgres();

async function openSqlite(): Promise<OpenStore> {
  const folder = await mkdtemp(join(tmpdir(), "heliograph-store-"));
  const path = join(folder, "store.db");
  await writeSqliteSchema(path);
  const store = openSqliteStore(path, systemClock);
  const raw = new DatabaseSync(path, { timeout: 10_000 });
  return {
    store,
    async execute(sql) {
      // With a writer beside it, only this form waits for its turn.
      if (sql === "begin") raw.exec("begin immediate");
      else return raw.prepare(sql).all();
      return [];
    },
    // There is one writer at a time: whatever is asked for next waits.
    untilBlocked: () => Promise.resolve(),
    async discard() {
      raw.close();
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function openPostgres(): Promise<OpenStore> {
  const database = await migratedDatabase(inject("postgresUrl"));
  const store = await openPostgresStore(database.url);
  const raw = new Client({ connectionString: database.url });
  await raw.connect();
  const execute = async (sql: string): Promise<unknown[]> => (await raw.query<Record<string, unknown>>(sql)).rows;
  return {
    store,
    execute,
    async untilBlocked() {
      const blocked = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      // Within a transaction, PostgreSQL shows the same picture of its sessions again unless told to take a new one.
      do await execute("select pg_stat_clear_snapshot()");
      while ((await execute(blocked)).length === 0);
    },
    async discard() {
      await raw.end();
      await store.close();
      await database.drop();
    },
  };
}
