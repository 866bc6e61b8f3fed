import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { startServer } from "../support/server-process.ts";
import type { Target } from "./campaign.ts";

export interface OwnTarget extends Target {
  count: () => Promise<{ messages: number; keys: number }>;
  /** What the server has printed: the causes of what should not have happened. */
  output(): string;
  rssMb(): number | null;
  /** How the process ended, if it has. */
  death(): string | null;
  close(): Promise<void>;
}

const COUNT = "select (select count(*) from messages) as messages, (select count(*) from api_keys) as keys";

/** A server in a process of its own, whose store can be looked into. */
export async function openTarget(databaseUrl?: string): Promise<OwnTarget> {
  const server = await startServer(databaseUrl === undefined ? {} : { databaseUrl });
  let death: string | null = null;
  void server.exited.then(({ code, signal }) => (death = `the server ended with ${signal ?? code}`));
  const rows = databaseUrl === undefined ? lookIntoSqlite(server.dataDir) : await lookIntoPostgres(databaseUrl);
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

interface Looking {
  count: OwnTarget["count"];
  close(): Promise<void>;
}

function lookIntoSqlite(dataDir: string): Looking {
  const db = new DatabaseSync(join(dataDir, "heliograph.db"), { readOnly: true, timeout: 10_000 });
  return {
    count: async () => db.prepare(COUNT).get() as { messages: number; keys: number },
    close: async () => db.close(),
  };
}

async function lookIntoPostgres(url: string): Promise<Looking> {
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

/** Null where the system does not tell. */
function rssMb(pid: number): number | null {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return null;
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(file, "utf8"))?.[1]) / 1024);
}
