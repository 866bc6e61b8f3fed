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

export type EngineName = "sqlite" | "postgres";

const ALL_ENGINES: readonly EngineName[] = ["sqlite", "postgres"];

/** The engines that suites run on: both, or those that HELIOGRAPH_TEST_ENGINES names, as `npm run test:api` does. */
export const ENGINES: readonly EngineName[] = ALL_ENGINES.filter((engine) =>
  (process.env["HELIOGRAPH_TEST_ENGINES"] ?? ALL_ENGINES.join()).split(",").includes(engine),
);

/** Suites with several nodes need PostgreSQL: SQLite allows one. */
export const hasPostgres: boolean = ENGINES.includes("postgres");

export interface OpenStore {
  store: Store;
  /** Runs SQL directly on the database, to create states that the store reaches only slowly. */
  execute(sql: string): Promise<unknown[]>;
  /** Resolves when the given number of the store's statements wait for a transaction begun by `execute`. */
  untilBlocked(statements?: number): Promise<void>;
  discard(): Promise<void>;
}

/** A store with an empty schema. */
export const openStore = (engine: EngineName): Promise<OpenStore> =>
  engine === "sqlite" ? openSqlite() : openPostgres();

interface PooledStore {
  /** File path or database URL. */
  location: string;
  store: Store;
}

/**
 * Pool of stores from finished tests. Emptying one takes a tenth of the time to open a new one on PostgreSQL, and a
 * hundredth on SQLite, because of its threads.
 */
const pooled: Record<EngineName, PooledStore[]> = { sqlite: [], postgres: [] };

async function openSqlite(): Promise<OpenStore> {
  const kept = pooled.sqlite.pop();
  if (kept) await writeSqliteSchema(kept.location);
  const opened = kept ?? (await startSqlite());
  const { borrowed, giveBack } = borrow("sqlite", opened);
  const raw = new DatabaseSync(opened.location, { timeout: 10_000 });
  return {
    store: borrowed,
    async execute(sql) {
      // With a second writer, only this form waits for the lock.
      if (sql === "begin") raw.exec("begin immediate");
      else return raw.prepare(sql).all();
      return [];
    },
    // SQLite has a single writer, so every later write waits.
    untilBlocked: () => Promise.resolve(),
    async discard() {
      raw.close();
      await giveBack();
    },
  };
}

async function startSqlite(): Promise<PooledStore> {
  const folder = await mkdtemp(join(inject("scratchFolder"), "store-"));
  const location = join(folder, "store.db");
  await writeSqliteSchema(location);
  return { location, store: openSqliteStore(location, systemClock) };
}

/** An indirect connection of stores to PostgreSQL, such as a pooler. */
interface IndirectConnection {
  through(url: string): string;
  options: Parameters<typeof openPostgresStore>[1];
}

let indirect: (IndirectConnection & { kept: PooledStore[] }) | null = null;

/** Opens stores through another connection until the returned function is called. */
export function openPostgresThrough(connection: IndirectConnection): () => Promise<void> {
  const kept: PooledStore[] = [];
  indirect = { ...connection, kept };
  return async () => {
    indirect = null;
    await Promise.all(kept.map(({ store }) => store.close()));
  };
}

const poolOf = (engine: EngineName): PooledStore[] =>
  engine === "postgres" && indirect ? indirect.kept : pooled[engine];

async function openPostgres(): Promise<OpenStore> {
  const kept = poolOf("postgres").pop();
  const opened = kept ?? (await startPostgres());
  const raw = new Client({ connectionString: opened.location });
  await raw.connect();
  const execute = async (sql: string): Promise<unknown[]> => (await raw.query<Record<string, unknown>>(sql)).rows;
  if (kept) await execute(RESTORE);
  const { borrowed, giveBack } = borrow("postgres", opened);
  return {
    store: borrowed,
    execute,
    async untilBlocked(statements = 1) {
      const blocked = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      // Inside a transaction PostgreSQL caches its session statistics until they are cleared.
      do await execute("select pg_stat_clear_snapshot()");
      while ((await execute(blocked)).length < statements);
    },
    async discard() {
      await raw.end();
      await giveBack();
    },
  };
}

async function startPostgres(): Promise<PooledStore> {
  const { url: location } = await migratedDatabase(inject("postgresUrl"));
  return { location, store: await openPostgresStore(indirect?.through(location) ?? location, indirect?.options) };
}

/**
 * A store on loan to one test. Returning it waits for the test's pending calls; later calls fail as on a closed store.
 * It is reused only if it still works.
 */
function borrow(engine: EngineName, opened: PooledStore): { borrowed: Store; giveBack(): Promise<void> } {
  const { store } = opened;
  const kept = poolOf(engine);
  const running = new Set<Promise<unknown>>();
  let isOver = false;
  const borrowMember = (member: unknown): unknown => {
    if (typeof member !== "function") return member;
    return (...args: unknown[]) => {
      if (isOver) return Promise.reject(new StorageUnavailable("the test has ended"));
      const answer = member.apply(store, args) as Promise<unknown>;
      running.add(answer);
      return answer.finally(() => running.delete(answer));
    };
  };
  const members = Object.entries(store).map(([name, member]) => [name, borrowMember(member)]);
  return {
    borrowed: Object.fromEntries(members) as Store,
    async giveBack() {
      if (isOver) return;
      isOver = true;
      await Promise.allSettled(running);
      const works = await store.ping().then(
        () => true,
        () => false,
      );
      if (works) kept.push(opened);
    },
  };
}
