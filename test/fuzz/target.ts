import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { startServer } from "../support/server-process.ts";
import type { Target } from "./campaign.ts";

export interface OwnTarget extends Target {
  count: () => Promise<{ messages: number; keys: number }>;
  /** Log lines of the server. */
  output(): string;
  rssMb(): number | null;
  /** Exit code or signal of the process; null while it runs. */
  death(): string | null;
  close(): Promise<void>;
}

const COUNT = "select (select count(*) from messages) as messages, (select count(*) from api_keys) as keys";

/** On a busy machine the server would refuse requests that have waited too long, which is not what is tested. */
const PATIENT = { HELIOGRAPH_ACCEPT_WAIT_MS: "60000", HELIOGRAPH_REQUEST_PATIENCE_SECONDS: "600" };

/** A server in its own process, with read access to its store. */
export async function openTarget(databaseUrl?: string): Promise<OwnTarget> {
  const server = await startServer({ env: PATIENT, ...(databaseUrl === undefined ? {} : { databaseUrl }) });
  let death: string | null = null;
  void server.exited.then(({ code, signal }) => (death = `the server exited with ${signal ?? code}`));
  const rows = databaseUrl === undefined ? openSqlite(server.dataDir) : await openPostgres(databaseUrl);
  return {
    url: server.baseUrl,
    key: server.apiKey,
    count: rows.count,
    output: () =>
      server
        .output()
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .join("\n"),
    rssMb: () => rssMb(server.pid),
    death: () => death,
    async close() {
      await rows.close();
      await server.cleanup();
    },
  };
}

interface StoreAccess {
  count: OwnTarget["count"];
  close(): Promise<void>;
}

function openSqlite(dataDir: string): StoreAccess {
  const db = new DatabaseSync(join(dataDir, "heliograph.db"), { readOnly: true, timeout: 10_000 });
  return {
    count: async () => db.prepare(COUNT).get() as { messages: number; keys: number },
    close: async () => db.close(),
  };
}

async function openPostgres(url: string): Promise<StoreAccess> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return {
    count: async () => {
      const { rows } = await client.query<{ messages: string; keys: string }>(COUNT);
      return { messages: Number(rows[0]?.messages), keys: Number(rows[0]?.keys) };
    },
    close: () => client.end(),
  };
}

/** Null if the platform has no /proc. */
function rssMb(pid: number): number | null {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return null;
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(file, "utf8"))?.[1]) / 1024);
}
