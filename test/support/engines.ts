import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { inject } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { StorageUnavailable, type Store } from "../../src/store/store.ts";
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

interface SqliteStore {
  path: string;
  store: Store;
}

/** Stores of tests that are over. To start the threads of one takes a hundred times as long as to write over its file. */
const spare: SqliteStore[] = [];

async function openSqlite(): Promise<OpenStore> {
  const kept = spare.pop();
  if (kept) await writeSqliteSchema(kept.path);
  const opened = kept ?? (await startSqlite());
  const { lent, takeBack } = lend(opened.store);
  const raw = new DatabaseSync(opened.path, { timeout: 10_000 });
  return {
    store: lent,
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
      await takeBack();
      spare.push(opened);
    },
  };
}

async function startSqlite(): Promise<SqliteStore> {
  const folder = await mkdtemp(join(inject("scratchFolder"), "store-"));
  const path = join(folder, "store.db");
  await writeSqliteSchema(path);
  return { path, store: openSqliteStore(path, systemClock) };
}

/** A store for one test. When it is taken back, what the test has begun comes to its end, and nothing more can be begun. */
function lend(store: Store): { lent: Store; takeBack(): Promise<void> } {
  const running = new Set<Promise<unknown>>();
  let isOver = false;
  const lendOne = (member: unknown): unknown => {
    if (typeof member !== "function") return member;
    return (...args: unknown[]) => {
      if (isOver) return Promise.reject(new StorageUnavailable("the test is over"));
      const answer = member.apply(store, args) as Promise<unknown>;
      running.add(answer);
      const end = (): void => void running.delete(answer);
      answer.then(end, end);
      return answer;
    };
  };
  const members = Object.entries(store).map(([name, member]) => [name, lendOne(member)]);
  return {
    lent: Object.fromEntries(members) as Store,
    async takeBack() {
      isOver = true;
      await Promise.allSettled(running);
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
