import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { inject } from "vitest";
import { openBarePostgres, openBareSqlite } from "../../bench/bare-store.ts";
import { fillHistory, fillQueue } from "../../bench/fill-history.ts";
import { fillLists } from "../../bench/fill-lists.ts";
import { migratedDatabase } from "./databases.ts";
import type { EngineName } from "./engines.ts";
import { writeSqliteSchema } from "./sqlite-schema.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

/** A server on a store with some ten thousand messages. */
export interface FilledServer {
  server: TestServer;
  /** File path or database URL. */
  location: string;
  /** Name of the PostgreSQL database. */
  database: string;
  /** As if no ANALYZE had run since the tables were filled, and none runs while they are used. */
  forgetStatistics(): Promise<void>;
  close(): Promise<void>;
}

const ROWS = 60_000;
const LINKS = 20_000;
/** More than a statement may read without an exception. */
const QUEUED = 400;

export async function startFilledServer(engine: EngineName): Promise<FilledServer> {
  const folder = await mkdtemp(join(inject("scratchFolder"), "filled-"));
  const file = join(folder, "heliograph.db");
  const database = engine === "postgres" ? await migratedDatabase(inject("postgresUrl")) : null;
  if (engine === "sqlite") await writeSqliteSchema(file);
  const env = {
    HELIOGRAPH_DATA_DIR: folder,
    HELIOGRAPH_ROLES: "api",
    // Plans are compared, not times: the machine may be busy.
    HELIOGRAPH_REPORTING_TIMEOUT_SECONDS: "600",
    HELIOGRAPH_DATABASE_CONNECT_TIMEOUT_MS: "60000",
    HELIOGRAPH_DATABASE_STATEMENT_TIMEOUT_MS: "60000",
    ...(database && { HELIOGRAPH_DATABASE_URL: database.url }),
  };
  // The first start creates the account and its owner.
  await (await startTestServer(engine, { env })).close();
  const bare = database ? await openBarePostgres(database.url) : openBareSqlite(file);
  await fillHistory(bare, { rows: ROWS, links: LINKS, webhooks: 0, templates: 0, campaigns: 12 }, () => {});
  await fillLists(bare, ROWS, () => {});
  await fillQueue(bare, QUEUED, () => {});
  await bare.close();
  const server = await startTestServer(engine, { env });
  return {
    server,
    location: database?.url ?? file,
    database: database ? new URL(database.url).pathname.slice(1) : "",
    async forgetStatistics() {
      if (database) await forgetStatistics(database.url);
    },
    async close() {
      await server.close();
      await database?.drop();
    },
  };
}

async function forgetStatistics(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const ours = "select oid from pg_class where relnamespace = 'public'::regnamespace";
  await client.query(`
    do $$ declare name text; begin
      for name in select tablename from pg_tables where schemaname = 'public' loop
        execute format('alter table public.%I set (autovacuum_enabled = false)', name);
      end loop;
    end $$;
    delete from pg_statistic where starelid in (${ours});
    update pg_class set reltuples = -1, relpages = 0, relallvisible = 0 where oid in (${ours}) and relkind in ('r', 'i')`);
  await client.end();
}
