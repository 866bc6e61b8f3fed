import { existsSync } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshDatabase } from "../support/databases.ts";
import { freePort } from "../support/free-port.ts";
import { startServer, type ServerProcess } from "../support/server-process.ts";
import { readLedger } from "./ledger.ts";
import type { LedgerClientOptions } from "./ledger-client.ts";
import { reconcile, type Findings } from "./reconcile.ts";
import { untilSettled } from "./settle.ts";
import { startLedgerClient, type LedgerClient } from "./start-ledger-client.ts";
import {
  openPostgresReader,
  openSqliteReader,
  type PhoneRow,
  type StoredRow,
  type StoreReader,
} from "./stored-rows.ts";

export interface TrialOptions {
  /** Cluster to create a database in, or null for SQLite. */
  postgresUrl: string | null;
  /** An existing database, which may be on several servers. It is not dropped. */
  databaseUrl?: string;
  seed: number;
  window?: number;
  /** See `LedgerClientOptions`. */
  isThrottled?: boolean;
  env?: Record<string, string>;
  /** Data directory; default: a temporary one. */
  dataDir?: string;
}

/** A store with its servers, the ledger of the client, and direct read access to the tables. */
export interface Trial {
  window: number;
  databaseUrl: string | null;
  dataDir: string;
  /** Path of the ledger. */
  ledger: string;
  /** Starts a server on the store; all servers share the same keys. */
  start(env?: Record<string, string>): Promise<ServerProcess>;
  /** Restarts an exited server with the same data, keys and port. */
  restart(server: ServerProcess): Promise<ServerProcess>;
  /** Starts a ledger client that sends to the servers. */
  send(servers: readonly ServerProcess[], messagesPerSecond: number, connections?: number): LedgerClient;
  /** Number of accepted requests in the ledger. */
  countAccepted(): Promise<number>;
  storeReader(): Promise<StoreReader>;
  /** Waits until the store is settled, then reconciles. `kills` are the times that may have caused duplicates. */
  verify(
    kills?: readonly number[],
    observed?: ReadonlyMap<string, string>,
    reported?: ReadonlyMap<string, readonly string[]>,
    /** Reads the messages that an SMSC received; default: those on the simulated phones. */
    receivedBySmsc?: (messages: AsyncIterable<StoredRow>) => Promise<PhoneRow[]>,
  ): Promise<Findings & { settledMs: number }>;
  close(): Promise<void>;
}

const CONNECTIONS = 24;
export const SILENT_SECONDS = 2;
const SETTLE_WITHIN_MS = 240_000;

/** Campaigns whose kept message counts differ from their messages. */
async function findMiscounts({ select }: StoreReader): Promise<string[]> {
  const columns = "account_id, campaign_name, state";
  const kept = `select ${columns}, cast(sum(count) as bigint) as messages from campaign_totals group by ${columns} having sum(count) <> 0`;
  const counted = `select ${columns}, count(*) as messages from messages where campaign_name is not null group by ${columns}`;
  const difference = (a: string, b: string): string => `select * from (${a}) as a except select * from (${b}) as b`;
  const rows = [...(await select(difference(kept, counted))), ...(await select(difference(counted, kept)))];
  return rows.map((row) => `campaign counts: ${JSON.stringify(row)}`);
}

export async function openTrial(options: TrialOptions): Promise<Trial> {
  const { postgresUrl, seed, window = 50 } = options;
  const folder = await mkdtemp(join(tmpdir(), "heliograph-trial-"));
  const dataDir = options.dataDir ?? join(folder, "data");
  const ledger = join(folder, "ledger.jsonl");
  const created = postgresUrl === null ? null : await freshDatabase(postgresUrl);
  const databaseUrl = options.databaseUrl ?? created?.url ?? null;
  const servers: ServerProcess[] = [];
  const clients: LedgerClient[] = [];
  let opened: StoreReader | null = null;
  const settings = {
    HELIOGRAPH_DISPATCH_WINDOW: String(window),
    HELIOGRAPH_NODE_SILENT_SECONDS: String(SILENT_SECONDS),
    HELIOGRAPH_START_WAIT_SECONDS: "180",
    HELIOGRAPH_MASTER_KEY: "the master key of every node",
    HELIOGRAPH_API_KEY: `hg_live_${String(seed).padStart(24, "0")}`,
    // The compile cache halves the start time. A killed process never writes it, so the folder is shared.
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? join(folder, "compiled"),
    ...options.env,
  };
  const openReader = async (): Promise<StoreReader> =>
    databaseUrl === null ? openSqliteReader(dataDir) : await openPostgresReader(databaseUrl);
  const storeReader = async (): Promise<StoreReader> => {
    opened ??= await openReader();
    return opened;
  };

  let accepted = 0;
  let bytesRead = 0;
  /** The lines that clients have completed since the last call. */
  const newLines = async (): Promise<string> => {
    if (!existsSync(ledger)) return "";
    const file = await open(ledger);
    try {
      const length = (await file.stat()).size - bytesRead;
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, bytesRead);
      const whole = buffer.lastIndexOf("\n") + 1;
      bytesRead += whole;
      return buffer.toString("utf8", 0, whole);
    } finally {
      await file.close();
    }
  };

  return {
    window,
    databaseUrl,
    dataDir,
    ledger,
    async start(env = {}) {
      const server = await startServer({
        dataDir,
        ...(databaseUrl === null ? {} : { databaseUrl }),
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
      const clientOptions: LedgerClientOptions = {
        urls: targets.map(({ baseUrl }) => baseUrl),
        apiKey: settings.HELIOGRAPH_API_KEY,
        ledger,
        messagesPerSecond,
        connections,
        seed: seed + clients.length,
        ...(options.isThrottled === undefined ? {} : { isThrottled: options.isThrottled }),
      };
      const client = startLedgerClient(clientOptions);
      clients.push(client);
      return client;
    },
    async countAccepted() {
      // Called repeatedly while the ledger grows, so only new lines are read, and not parsed.
      accepted += (await newLines()).match(/^\{"entry":"accepted".*\}$/gm)?.length ?? 0;
      return accepted;
    },
    storeReader,
    async verify(kills = [], observed = new Map(), reported, receivedBySmsc) {
      // Opened anew, because the database may have moved to another server.
      const rows = await openReader();
      try {
        const { tookMs: settledMs } = await untilSettled(rows, SETTLE_WITHIN_MS);
        const onPhones = receivedBySmsc ? await receivedBySmsc(rows.messages()) : rows.onPhones();
        const findings = await reconcile({
          ledger: readLedger(ledger),
          messages: rows.messages(),
          onPhones,
          receiptsResolveDoubt: receivedBySmsc === undefined,
          kills,
          window,
          observed,
          ...(reported ? { reported } : {}),
        });
        return { ...findings, violations: [...findings.violations, ...(await findMiscounts(rows))], settledMs };
      } finally {
        await rows.close();
      }
    },
    async close() {
      for (const client of clients) client.abandon();
      await opened?.close();
      for (const server of servers) await server.cleanup();
      await created?.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
