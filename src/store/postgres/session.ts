import type { ClientBase } from "pg";
import { ServerTooOld } from "./faults.ts";

const VERSION_MIN = 150_000;

/**
 * Runs first on every new connection. A server told to commit without a sync would break the promise
 * that a resolved write is on disk; the stricter settings (`remote_apply` and the like) are left as they are.
 * Statements under a name keep the plan that was right while the tables were small: read row by row, messages would be moved
 * ever slower until the server next counts them. Every statement has an index to go by, and none is worth compiling.
 */
export async function prepareSession(client: ClientBase, statementTimeoutMs: number): Promise<void> {
  const { rows } = await client.query<{ version: string; release: string }>(
    `select set_config('statement_timeout', $1, false),
       set_config('idle_in_transaction_session_timeout', '15000', false),
       set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false),
       set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), false),
       current_setting('server_version_num') as version, current_setting('server_version') as release`,
    [String(statementTimeoutMs)],
  );
  const server = rows[0];
  if (server && Number(server.version) >= VERSION_MIN) return;
  throw new ServerTooOld(`PostgreSQL 15 or later is needed; this server is ${server?.release ?? "unknown"}`);
}
