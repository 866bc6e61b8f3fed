import type { ClientBase, QueryConfig } from "pg";
import { StorageUnavailable } from "../store.ts";
import { ServerTooOld } from "./faults.ts";

/**
 * The pooler between this process and the server. A transaction pooler lends a server for one transaction; a session pooler
 * counts as none. `transaction-prepared` also keeps named statements, as PgBouncer does since 1.21.
 */
export type Pooler = "none" | "transaction" | "transaction-prepared";

/** As in `server_version_num`. */
export const VERSION_MIN = 150_000;
const PREPARED_WITHIN_MS = 5000;

/**
 * The settings of every statement. `synchronous_commit` is raised from off to on, because a resolved write must be on disk;
 * stricter values (`remote_apply` and others) stay. Sequential scans are off: named statements keep the plan made for small
 * tables, and would become slower as messages accumulate, until the next ANALYZE. Every statement has an index to use. JIT is
 * off, because no statement is worth compiling.
 */
const settings = (statementTimeoutMs: number, isLocal: boolean): string =>
  [
    ["statement_timeout", `'${statementTimeoutMs}'`],
    ["idle_in_transaction_session_timeout", "'15000'"],
    ["enable_seqscan", "'off'"],
    ["jit", "'off'"],
    ["synchronous_commit", "replace(current_setting('synchronous_commit'), 'off', 'on')"],
  ]
    .map(([name, value]) => `set_config('${name}', ${value}, ${isLocal})`)
    .join(", ");

/**
 * Begins a transaction. Behind a transaction pooler there is no session, so the settings apply to the transaction, in the same
 * round trip.
 */
export const beginText = (pooler: Pooler, statementTimeoutMs: number): string =>
  pooler === "none" ? "begin" : `begin; select ${settings(statementTimeoutMs, true)}`;

/** Runs first on every new connection: applies the settings, checks the server version, and refuses a read-only server, unless `onlyReads`. */
export async function prepareSession(
  client: ClientBase,
  statementTimeoutMs: number,
  pooler: Pooler,
  onlyReads = false,
): Promise<void> {
  const { rows } = await client.query<{ version: string; release: string; readonly: string }>({
    text: `select ${pooler === "none" ? `${settings(statementTimeoutMs, false)}, ` : ""}
       current_setting('server_version_num') as version, current_setting('server_version') as release,
       current_setting('transaction_read_only') as readonly`,
    query_timeout: PREPARED_WITHIN_MS,
  } as QueryConfig);
  const server = rows[0];
  if (!server || Number(server.version) < VERSION_MIN)
    throw new ServerTooOld(`PostgreSQL 15 or later is needed; this server is ${server?.release ?? "unknown"}`);
  if (server.readonly === "on" && !onlyReads)
    throw new StorageUnavailable(
      "the database server is read-only: a standby, or one with default_transaction_read_only",
    );
}
