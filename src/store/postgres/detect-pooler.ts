import { Client, DatabaseError, type QueryConfig } from "pg";
import type { Pooler } from "./session.ts";

/** The connection leads to a transaction pooler, and the settings do not say so. */
class PoolerNotSet extends Error {
  override name = "PoolerNotSet";

  constructor() {
    super(
      "the database is behind a transaction pooler (PgBouncer with pool_mode=transaction): " +
        "set HELIOGRAPH_DATABASE_POOLER=transaction, or give HELIOGRAPH_DATABASE_URL the address of PostgreSQL itself",
    );
  }
}

/** The settings promise named statements, and the pooler does not keep them. */
class PoolerForgets extends Error {
  override name = "PoolerForgets";

  constructor() {
    super(
      "the pooler does not keep named statements: set max_prepared_statements in PgBouncer 1.21 or later, " +
        "or HELIOGRAPH_DATABASE_POOLER=transaction",
    );
  }
}

const ROUNDS = 5;
const ANSWER_WITHIN_MS = 3000;

/** Refuses a pooler whose mode is not the one in the settings. */
export async function checkPooler(client: Client, url: string, pooler: Pooler): Promise<void> {
  if (pooler === "none") await refuseTransactionPooler(client, url);
  if (pooler === "transaction-prepared") await refuseForgetfulPooler(client, url);
}

/** SQLSTATE codes of a named statement that the server has from another client, or has not. */
const NAME_TAKEN = "42P05";
const NAME_UNKNOWN = "26000";

/**
 * Two clients use the same statement name. Without support, they meet each other's statement on the server, or miss their own.
 * Two queries in a row, as below.
 */
async function refuseForgetfulPooler(client: Client, url: string): Promise<void> {
  const other = new Client({ connectionString: url, connectionTimeoutMillis: ANSWER_WITHIN_MS });
  other.on("error", () => {});
  try {
    await other.connect();
    for (let round = 0; round < ROUNDS; round += 1)
      for (const each of [client, client, other]) await each.query({ name: "heliograph_probe", text: "select 1" });
  } catch (error) {
    const isForgotten = error instanceof DatabaseError && [NAME_TAKEN, NAME_UNKNOWN].includes(error.code ?? "");
    throw isForgotten ? new PoolerForgets() : error;
  } finally {
    await other.end();
  }
}

/**
 * Refuses a transaction pooler that is not configured. Session settings and named statements would reach the sessions of other
 * clients, so some requests would fail while others work. A pooler gives its clients process ids of its own. In session mode
 * each client keeps its server; in transaction mode a statement may run on the server that another client has just used.
 */
async function refuseTransactionPooler(client: Client, url: string): Promise<void> {
  const { processID } = client as unknown as { processID: number | null };
  if ((await serverOf(client)) === processID) return;
  const other = new Client({ connectionString: url, connectionTimeoutMillis: ANSWER_WITHIN_MS });
  other.on("error", () => {});
  try {
    await other.connect();
    for (let round = 0; round < ROUNDS; round += 1) {
      // Two queries in a row: a round-robin pooler would otherwise alternate its servers between the two clients.
      const [first, second] = [await serverOf(client), await serverOf(client)];
      const another = await serverOf(other);
      if (another === null) return;
      if (first !== second || another === first) throw new PoolerNotSet();
    }
  } finally {
    await other.end();
  }
}

/**
 * Id of the server process that runs the statement. Null if the pooler has no free server, which only session mode can cause.
 */
async function serverOf(client: Client): Promise<number | null> {
  const text = "select pg_backend_pid() as pid";
  try {
    const { rows } = await client.query<{ pid: number }>({ text, query_timeout: ANSWER_WITHIN_MS } as QueryConfig);
    return rows[0]?.pid ?? null;
  } catch (error) {
    if (error instanceof Error && error.message === "Query read timeout") return null;
    throw error;
  }
}
