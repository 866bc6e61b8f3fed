import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshDatabase } from "../support/databases.ts";
import { freePort } from "../support/free-port.ts";
import { startServer, type ServerProcess } from "../support/server-process.ts";
import { readLedger } from "./ledger.ts";
import type { Orders } from "./ledger-client.ts";
import { reconcile, type Findings } from "./reconcile.ts";
import { untilSettled } from "./settle.ts";
import { startLedgerClient, type LedgerClient } from "./start-ledger-client.ts";
import { openPostgresWitness, openSqliteWitness, type Witness } from "./stored-rows.ts";

export interface TrialOptions {
  /** A cluster to make a database in, or null for SQLite. */
  postgresUrl: string | null;
  seed: number;
  window?: number;
  env?: Record<string, string>;
  /** Of the data; a temporary one unless given. */
  dataDir?: string;
}

/** A store with servers on it, a ledger of what was asked of them, and a witness of what became of it. */
export interface Trial {
  window: number;
  databaseUrl: string | null;
  dataDir: string;
  /** Starts a server on the store; all of them have the same keys. */
  start(env?: Record<string, string>): Promise<ServerProcess>;
  /** Starts a server that has ended again, with the same data, keys and port. */
  restart(server: ServerProcess): Promise<ServerProcess>;
  /** Sets a ledger client on servers. */
  send(servers: readonly ServerProcess[], messagesPerSecond: number, connections?: number): LedgerClient;
  /** How many requests have been accepted, by the ledger. */
  countAccepted(): Promise<number>;
  witness(): Promise<Witness>;
  /** Waits for everything to settle, then reconciles; `kills` are the instants that may have caused duplicates. */
  prove(
    kills?: readonly number[],
    observed?: ReadonlyMap<string, string>,
    reported?: ReadonlyMap<string, readonly string[]>,
  ): Promise<Findings & { settledMs: number }>;
  close(): Promise<void>;
}

const CONNECTIONS = 24;
export const SILENT_SECONDS = 2;
const SETTLE_WITHIN_MS = 45_000;

export async function openTrial(options: TrialOptions): Promise<Trial> {
  const { postgresUrl, seed, window = 50 } = options;
  const folder = await mkdtemp(join(tmpdir(), "heliograph-trial-"));
  const dataDir = options.dataDir ?? join(folder, "data");
  const ledger = join(folder, "ledger.jsonl");
  const database = postgresUrl === null ? null : await freshDatabase(postgresUrl);
  const servers: ServerProcess[] = [];
  const clients: LedgerClient[] = [];
  let opened: Witness | null = null;
  const settings = {
    HELIOGRAPH_DISPATCH_WINDOW: String(window),
    HELIOGRAPH_NODE_SILENT_SECONDS: String(SILENT_SECONDS),
    HELIOGRAPH_MASTER_KEY: "the master key of every node",
    HELIOGRAPH_API_KEY: `hg_live_${String(seed).padStart(24, "0")}`,
    // A start takes half as long when Node need not compile everything again; a server that is killed keeps nothing of it.
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? join(folder, "compiled"),
    ...options.env,
  };
  const witness = async (): Promise<Witness> => {
    opened ??= database ? await openPostgresWitness(database.url) : openSqliteWitness(dataDir);
    return opened;
  };

  return {
    window,
    databaseUrl: database?.url ?? null,
    dataDir,
    async start(env = {}) {
      const server = await startServer({
        dataDir,
        ...(database ? { databaseUrl: database.url } : {}),
        env: { ...settings, HELIOGRAPH_PORT: String(await freePort()), ...env },
      });
      servers.push(server);
      return server;
    },
    async restart(ended) {
      const server = await ended.restart();
      servers.push(server);
      return server;
    },
    send(targets, messagesPerSecond, connections = CONNECTIONS) {
      const orders: Orders = {
        urls: targets.map(({ baseUrl }) => baseUrl),
        apiKey: settings.HELIOGRAPH_API_KEY,
        ledger,
        messagesPerSecond,
        connections,
        seed: seed + clients.length,
      };
      const client = startLedgerClient(orders);
      clients.push(client);
      return client;
    },
    async countAccepted() {
      // Asked again and again while a ledger grows: the lines are counted, and not read.
      const text = existsSync(ledger) ? await readFile(ledger, "utf8") : "";
      return text.match(/^\{"entry":"accepted".*\}$/gm)?.length ?? 0;
    },
    witness,
    async prove(kills = [], observed = new Map(), reported) {
      const rows = await witness();
      const { tookMs: settledMs } = await untilSettled(rows, SETTLE_WITHIN_MS);
      const told = reported ? { reported } : {};
      const evidence = { messages: rows.messages(), onPhones: rows.onPhones(), kills, window, observed, ...told };
      return { ...(await reconcile({ ledger: readLedger(ledger), ...evidence })), settledMs };
    },
    async close() {
      for (const client of clients) client.abandon();
      await opened?.close();
      for (const server of servers) await server.cleanup();
      await database?.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
