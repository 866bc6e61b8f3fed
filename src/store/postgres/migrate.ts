import { Client, DatabaseError } from "pg";
import { MIGRATIONS, pendingMigrations } from "../migrations/all.ts";
import { POSTGRES, type Migration } from "../migrations/migration.ts";
import { readFault } from "./faults.ts";
import { prepareSession } from "./session.ts";

const TRIES_MAX = 10;

/** Brings the schema up to date. Nodes that start together take turns; all but the first find nothing left to do. */
export async function migrate(url: string, known: readonly Migration[] = MIGRATIONS): Promise<void> {
  const client = new Client({
    connectionString: url,
    application_name: "heliograph",
    keepAlive: true,
    connectionTimeoutMillis: 3_000,
  });
  // A connection that breaks fails the statement that runs on it.
  client.on("error", () => {});
  try {
    await client.connect();
    // A migration may take long, and so may the turn of another node.
    await prepareSession(client, 0);
    await layGround(client);
    while (await migrateOnce(client, known));
  } catch (error) {
    throw readFault(error);
  } finally {
    await client.end();
  }
}

/** One step and the note that it was done are one transaction, under the lock of a row that every node knows. */
async function migrateOnce(client: Client, known: readonly Migration[]): Promise<boolean> {
  await client.query("begin");
  try {
    await client.query("select 1 from migration_turn for update");
    const { rows } = await client.query<{ name: string }>("select name from migrations");
    const [next] = pendingMigrations(
      rows.map((row) => row.name),
      known,
    );
    if (next) {
      for (const statement of next.statements(POSTGRES)) await client.query(statement);
      await client.query("insert into migrations (name) values ($1)", [next.name]);
    }
    await client.query("commit");
    return next !== undefined;
  } catch (error) {
    // If the connection is gone, the server has undone everything; the first failure is the one to tell.
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

const GROUND = [
  "create table if not exists migrations (name text primary key)",
  "create table if not exists migration_turn (one integer primary key)",
  "insert into migration_turn (one) values (1) on conflict do nothing",
];

/** Two nodes that create the same table at once collide in PostgreSQL's own catalogue in spite of `if not exists`. */
async function layGround(client: Client): Promise<void> {
  for (const statement of GROUND) {
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
