import { Client, DatabaseError } from "pg";
import { MIGRATIONS, pendingMigrations, type AppliedMigration } from "../migrations/all.ts";
import { POSTGRES, type Migration } from "../migrations/migration.ts";
import { checkPooler } from "./detect-pooler.ts";
import { isLockTimeout, readConnectFault, readFault } from "./faults.ts";
import { StorageUnavailable } from "../store.ts";
import { CONNECT_TIMEOUT_MS } from "./pool.ts";
import { DatabaseServers } from "./servers.ts";
import { beginText, prepareSession, type Pooler } from "./session.ts";

const TRIES_MAX = 10;

/**
 * Time that a statement of a migration waits for its lock. A change of a table waits for the transactions that read it, such as
 * a dump, and all later statements on the table wait behind the change: without a limit, older nodes would stop serving. The
 * start tries again. After `deadlock_timeout`, one second, PostgreSQL cancels an autovacuum that is in the way.
 */
const LOCK_TIMEOUT_MS = 2000;

export interface MigrateOptions {
  connectTimeoutMs?: number;
  pooler?: Pooler;
  known?: readonly Migration[];
  /** Time without heartbeat after which a node has ended. */
  nodeSilentMs?: number;
}

const NODE_SILENT_MS = 30_000;

/** Brings the schema up to date. Nodes that start together take turns; all but the first find nothing left to do. */
export async function migrate(
  database: string | DatabaseServers,
  {
    connectTimeoutMs = CONNECT_TIMEOUT_MS,
    pooler = "none",
    known = MIGRATIONS,
    nodeSilentMs = NODE_SILENT_MS,
  }: MigrateOptions = {},
): Promise<void> {
  const servers = typeof database === "string" ? new DatabaseServers(database) : database;
  const client = await connectToWritable(servers, connectTimeoutMs, pooler);
  try {
    await layGround(client);
    while (await migrateOnce(client, { known, nodeSilentMs }, beginText(pooler, 0)));
  } catch (error) {
    throw readFault(error);
  } finally {
    await client.end();
  }
}

/** Tries the servers in order. */
export async function connectToWritable(
  servers: DatabaseServers,
  connectTimeoutMs: number,
  pooler: Pooler,
): Promise<Client> {
  for (let tries = 1; ; tries += 1) {
    const attempt = servers.begin();
    const { url } = attempt.server;
    const client = new Client({
      connectionString: url,
      application_name: "heliograph",
      keepAlive: true,
      connectionTimeoutMillis: connectTimeoutMs,
    });
    // The statement on a broken connection fails; an error event without a listener would also end the process.
    client.on("error", () => {});
    try {
      await client.connect();
      await checkPooler(client, url, pooler);
      // No statement time-out: a migration may take long, and so may the wait for another node's migration.
      await prepareSession(client, 0, pooler);
      servers.succeeded();
      return client;
    } catch (error) {
      await client.end();
      servers.failed(attempt, error as Error);
      const fault = readFault(error);
      const isLast = tries >= servers.count;
      // A server may refuse the login for a while, for instance while it starts, so that the next one is tried too.
      if (isLast && servers.count > 1 && fault instanceof StorageUnavailable)
        throw new StorageUnavailable(`no database server accepts writes (${servers.faults})`, { cause: fault.cause });
      if (isLast || !(readConnectFault(error) instanceof StorageUnavailable)) throw fault;
    }
  }
}

/** Applies one migration and records it in the same transaction, under a row lock that all nodes share. */
async function migrateOnce(
  client: Client,
  { known, nodeSilentMs }: Required<Omit<MigrateOptions, "pooler" | "connectTimeoutMs">>,
  begin: string,
): Promise<boolean> {
  await client.query(begin);
  try {
    await client.query("select 1 from migration_turn for update");
    // A migration reads whole tables. Without sequential scans, filling the click counts of a million links took hours.
    await client.query(`set local enable_seqscan = on; set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    const { rows } = await client.query<AppliedMigration>('select name, works_with as "worksWith" from migrations');
    const [next] = pendingMigrations(rows, known);
    if (next) {
      if (next.stopsNodes) await refuseBesideNodes(client, nodeSilentMs);
      for (const statement of next.statements(POSTGRES)) await apply(client, next.name, statement);
      await client.query("insert into migrations (name, works_with) values ($1, $2)", [
        next.name,
        next.worksWith ?? null,
      ]);
    }
    await client.query("commit");
    return next !== undefined;
  } catch (error) {
    // If the connection is lost, the server has rolled back. The first failure is the one to report.
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

async function apply(client: Client, migration: string, statement: string): Promise<void> {
  try {
    await client.query(statement);
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    throw new StorageUnavailable(
      `migration ${migration} waits for another transaction, such as a dump, which uses a table that it changes`,
      { cause: error },
    );
  }
}

/** A start waits and tries again, so that nodes may be stopped and started in any order. */
async function refuseBesideNodes(client: Client, nodeSilentMs: number): Promise<void> {
  const { rows } = await client.query<{ id: number }>(
    `select id from nodes where dead = 0 and beat_at > (extract(epoch from clock_timestamp()) * 1000)::bigint - $1::bigint
      order by id`,
    [nodeSilentMs],
  );
  if (rows.length === 0) return;
  const nodes = rows.map(({ id }) => id).join(", ");
  throw new StorageUnavailable(`the schema changes only while no node runs: stop node ${nodes} of the older release`);
}

/** Even `add column if not exists` waits for all transactions that read the table, so it runs only where the column is missing. */
const HAS_WORKS_WITH =
  "select 1 from pg_attribute where attrelid = to_regclass('migrations') and attname = 'works_with'";
const WORKS_WITH = "alter table migrations add column if not exists works_with text";

const GROUND = [
  "create table if not exists migrations (name text primary key)",
  "create table if not exists migration_turn (one integer primary key)",
  "insert into migration_turn (one) values (1) on conflict do nothing",
];

/** Retries, because two nodes that create the same table at once collide in PostgreSQL's catalog despite `if not exists`. */
async function layGround(client: Client): Promise<void> {
  const { rows } = await client.query(HAS_WORKS_WITH);
  for (const statement of rows.length > 0 ? GROUND : [...GROUND, WORKS_WITH]) {
    for (let tries = 1; ; tries += 1) {
      try {
        await client.query(statement);
        break;
      } catch (error) {
        if (tries === TRIES_MAX || !isCollision(error)) throw error;
      }
    }
  }
}

const isCollision = (error: unknown): boolean =>
  error instanceof DatabaseError && /^(23505|42P07|42710|XX000)$/.test(error.code ?? "");
