import { constants } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { freshDatabase } from "../support/databases.ts";
import { startServer } from "../support/server-process.ts";
import { observeHistories } from "./histories.ts";
import { readLedger } from "./ledger.ts";
import { seededRandom } from "./random.ts";
import { reconcile, type Findings } from "./reconcile.ts";
import { untilSettled } from "./settle.ts";
import { startLedgerClient } from "./start-ledger-client.ts";
import { openPostgresWitness, openSqliteWitness, type Witness } from "./stored-rows.ts";

export interface KillOrders {
  /** A cluster to make a database in, or null for SQLite. */
  postgresUrl: string | null;
  kills: number;
  messagesPerSecond: number;
  seed: number;
  window?: number;
  /** The bounds of the instant of a kill, in milliseconds after the server is ready. */
  afterReadyMs?: readonly [number, number];
  onKill?(done: number): void;
}

export interface KillReport extends Findings {
  engine: "sqlite" | "postgres";
  seed: number;
  kills: number;
  /** From the start of the process to ready, one per start. */
  readyMs: readonly number[];
  settledMs: number;
  tookMs: number;
}

const CONNECTIONS = 24;
const SETTLE_WITHIN_MS = 45_000;

/** Kills the server again and again under load, lets the last start finish the work, and proves that nothing was lost. */
export async function runKills(orders: KillOrders): Promise<KillReport> {
  const { postgresUrl, kills, messagesPerSecond, seed, window = 50, afterReadyMs = [200, 2500] } = orders;
  const startedAt = performance.now();
  const random = seededRandom(seed);
  const folder = await mkdtemp(join(tmpdir(), "heliograph-kills-"));
  const ledger = join(folder, "ledger.jsonl");
  const database = postgresUrl === null ? null : await freshDatabase(postgresUrl);
  const broken: string[] = [];
  const killedAt: number[] = [];
  const readyMs: number[] = [];

  let server = await startServer({
    dataDir: join(folder, "data"),
    ...(database ? { databaseUrl: database.url } : {}),
    env: {
      HELIOGRAPH_DISPATCH_WINDOW: String(window),
      HELIOGRAPH_NODE_SILENT_SECONDS: "2",
      // A start takes half as long when Node need not compile everything again.
      NODE_COMPILE_CACHE: join(folder, "compiled"),
    },
  });
  const client = startLedgerClient({
    urls: [server.baseUrl],
    apiKey: server.apiKey,
    ledger,
    messagesPerSecond,
    connections: CONNECTIONS,
    seed,
  });
  const histories = observeHistories(() => server.baseUrl, server.apiKey);
  let witness: Witness | null = null;
  try {
    for (let done = 0; done < kills; done += 1) {
      await sleep(random.between(...afterReadyMs));
      killedAt.push(Date.now());
      await server.kill("SIGKILL");
      if (!database) broken.push(...(await checkIntegrity(join(folder, "data"), done + 1)));
      const restartedAt = performance.now();
      server = await server.restart();
      readyMs.push(Math.round(performance.now() - restartedAt));
      orders.onKill?.(done + 1);
    }
    await client.stop();
    witness = database ? await openPostgresWitness(database.url) : openSqliteWitness(join(folder, "data"));
    const { tookMs: settledMs } = await untilSettled(witness, SETTLE_WITHIN_MS);
    await histories.stop();
    const findings = await reconcile({
      ledger: readLedger(ledger),
      messages: witness.messages(),
      onPhones: witness.onPhones(),
      kills: killedAt,
      window,
      observed: histories.last,
    });
    return {
      engine: database ? "postgres" : "sqlite",
      seed,
      kills,
      ...findings,
      broken: [...broken, ...histories.broken.map((step) => `I5: ${step}`), ...findings.broken],
      readyMs,
      settledMs,
      tookMs: Math.round(performance.now() - startedAt),
    };
  } finally {
    client.abandon();
    await histories.stop();
    await witness?.close();
    await server.cleanup();
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Checks a copy, so that the server's own recovery is not done for it. */
async function checkIntegrity(dataDir: string, kill: number): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "heliograph-copy-"));
  try {
    for (const name of ["heliograph.db", "heliograph.db-wal"])
      await copyFile(join(dataDir, name), join(folder, name), constants.COPYFILE_FICLONE);
    const db = new DatabaseSync(join(folder, "heliograph.db"));
    const found = db.prepare("pragma integrity_check").all() as { integrity_check: string }[];
    db.close();
    return found
      .filter((row) => row.integrity_check !== "ok")
      .map((row) => `integrity after kill ${kill}: ${row.integrity_check}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
