import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { inject } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { StorageUnavailable, type Store } from "../../src/store/store.ts";
import { migratedDatabase, RESTORE } from "./databases.ts";
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

interface Kept {
  /** A file's path, or a database's address. */
  place: string;
  store: Store;
}

/**
 * Stores of tests that are over, to be emptied when they are opened next. That takes a tenth of what it takes to open another
 * on PostgreSQL, and a hundredth on SQLite, for its threads.
 */
const spare: Record<EngineName, Kept[]> = { sqlite: [], postgres: [] };

async function openSqlite(): Promise<OpenStore> {
  const kept = spare.sqlite.pop();
  if (kept) await writeSqliteSchema(kept.place);
  const opened = kept ?? (await startSqlite());
  const { lent, takeBack } = lend("sqlite", opened);
  const raw = new DatabaseSync(opened.place, { timeout: 10_000 });
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
    },
  };
}

async function startSqlite(): Promise<Kept> {
  const folder = await mkdtemp(join(inject("scratchFolder"), "store-"));
  const place = join(folder, "store.db");
  await writeSqliteSchema(place);
  return { place, store: openSqliteStore(place, systemClock) };
}

async function openPostgres(): Promise<OpenStore> {
  const kept = spare.postgres.pop();
  const opened = kept ?? (await startPostgres());
  const raw = new Client({ connectionString: opened.place });
  await raw.connect();
  const execute = async (sql: string): Promise<unknown[]> => (await raw.query<Record<string, unknown>>(sql)).rows;
  if (kept) await execute(RESTORE);
  const { lent, takeBack } = lend("postgres", opened);
  return {
    store: lent,
    execute,
    async untilBlocked() {
      const blocked = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      // Within a transaction, PostgreSQL shows the same picture of its sessions again unless told to take a new one.
      do await execute("select pg_stat_clear_snapshot()");
      while ((await execute(blocked)).length === 0);
    },
    async discard() {
      await raw.end();
      await takeBack();
    },
  };
}

async function startPostgres(): Promise<Kept> {
  const { url: place } = await migratedDatabase(inject("postgresUrl"));
  return { place, store: await openPostgresStore(place) };
}

/**
 * A store for one test. When it is taken back, what the test has begun comes to its end, and what is begun after it hears what a
 * closed store says. It is taken back once, and is of use for another test only if it still works.
 */
function lend(engine: EngineName, opened: Kept): { lent: Store; takeBack(): Promise<void> } {
  const { store } = opened;
  const running = new Set<Promise<unknown>>();
  let isOver = false;
  const lendOne = (member: unknown): unknown => {
    if (typeof member !== "function") return member;
    return (...args: unknown[]) => {
      if (isOver) return Promise.reject(new StorageUnavailable("the test is over"));
      const answer = member.apply(store, args) as Promise<unknown>;
      running.add(answer);
      return answer.finally(() => running.delete(answer));
    };
  };
  const members = Object.entries(store).map(([name, member]) => [name, lendOne(member)]);
  return {
    lent: Object.fromEntries(members) as Store,
    async takeBack() {
      if (isOver) return;
      isOver = true;
      await Promise.allSettled(running);
      const works = await store.ping().then(
        () => true,
        () => false,
      );
      if (works) spare[engine].push(opened);
    },
  };
}
