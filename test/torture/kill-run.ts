import { constants } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerProcess } from "../support/server-process.ts";
import { observeHistories, type Histories } from "./histories.ts";
import { seededRandom } from "./random.ts";
import type { Findings } from "./reconcile.ts";
import { openReportSink } from "./report-sink.ts";
import { openTrial, SILENT_SECONDS } from "./trial.ts";

const NAP_MS = SILENT_SECONDS * 1000 + 500;

export interface KillOrders {
  /** A cluster to make a database in, or null for SQLite. */
  postgresUrl: string | null;
  kills: number;
  messagesPerSecond: number;
  seed: number;
  window?: number;
  /** The bounds of the instant of a kill, in milliseconds after the server is ready. */
  afterReadyMs?: readonly [number, number];
  /** How many of the kills come after a sleep that is longer than a node may be silent; none unless given. */
  napShare?: number;
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

/** Kills the server again and again under load, lets the last start finish the work, and proves that nothing was lost. */
export async function runKills(orders: KillOrders): Promise<KillReport> {
  const { postgresUrl, kills, messagesPerSecond, seed, window, afterReadyMs = [200, 2500], napShare = 0 } = orders;
  const startedAt = performance.now();
  const random = seededRandom(seed);
  const trial = await openTrial({ postgresUrl, seed, ...(window === undefined ? {} : { window }) });
  const broken: string[] = [];
  const killedAt: number[] = [];
  const readyMs: number[] = [];
  let histories: Histories | null = null;
  const sink = await openReportSink();
  try {
    let server = await trial.start();
    await sink.register(server);
    const client = trial.send([server], messagesPerSecond);
    histories = observeHistories(server.baseUrl, server.apiKey);
    for (let done = 1; done <= kills; done += 1) {
      await sleep(random.between(...afterReadyMs));
      if (random.chance(napShare)) {
        await nap(server);
        await sleep(random.between(...afterReadyMs));
      }
      killedAt.push(Date.now());
      await server.kill("SIGKILL");
      if (postgresUrl === null) broken.push(...(await checkIntegrity(trial.dataDir, done)));
      const restartedAt = performance.now();
      server = await trial.restart(server);
      readyMs.push(Math.round(performance.now() - restartedAt));
      orders.onKill?.(done);
    }
    await client.stop();
    const findings = await trial.prove(killedAt, histories.last, sink.reported);
    broken.push(...histories.broken.map((step) => `I5: ${step}`), ...findings.broken);
    const tookMs = Math.round(performance.now() - startedAt);
    return { engine: postgresUrl === null ? "sqlite" : "postgres", seed, kills, ...findings, broken, readyMs, tookMs };
  } finally {
    await histories?.stop();
    await trial.close();
    await sink.close();
  }
}

/** Nobody is there to declare it dead: it wakes as who it was, with all that it had in hand. */
async function nap({ pid }: ServerProcess): Promise<void> {
  process.kill(pid, "SIGSTOP");
  await sleep(NAP_MS);
  process.kill(pid, "SIGCONT");
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
