import { constants } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerProcess } from "../support/server-process.ts";
import { eventually } from "../support/eventually.ts";
import { observeHistories, type Histories } from "./histories.ts";
import { seededRandom } from "./random.ts";
import type { Findings } from "./reconcile.ts";
import { openReportSink } from "./report-sink.ts";
import { openTrial, SILENT_SECONDS } from "./trial.ts";

const ACCEPTED_PER_KILL = 25;
const ACCEPT_WITHIN_MS = 240_000;
const NAP_MS = SILENT_SECONDS * 1000 + 500;

export interface KillRunOptions {
  /** Cluster to create a database in, or null for SQLite. */
  postgresUrl: string | null;
  kills: number;
  messagesPerSecond: number;
  seed: number;
  window?: number;
  /** Bounds of the time between ready and kill, in ms. */
  afterReadyMs?: readonly [number, number];
  /** Share of kills that follow a freeze longer than the heartbeat time-out; default 0. */
  napShare?: number;
  onKill?(done: number): void;
}

export interface KillReport extends Findings {
  engine: "sqlite" | "postgres";
  seed: number;
  kills: number;
  /** Start-up times in ms, one per start. */
  readyMs: readonly number[];
  settledMs: number;
  tookMs: number;
}

/**
 * Kills the server repeatedly under load, lets the last process finish the work, and verifies that nothing was lost.
 */
export async function runKills(options: KillRunOptions): Promise<KillReport> {
  const { postgresUrl, kills, messagesPerSecond, seed, window, afterReadyMs = [200, 2500], napShare = 0 } = options;
  const startedAt = performance.now();
  const random = seededRandom(seed);
  const trial = await openTrial({ postgresUrl, seed, ...(window === undefined ? {} : { window }) });
  const violations: string[] = [];
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
      // On a busy machine a process that is killed after a fixed time has accepted nothing yet.
      await eventually(trial.countAccepted, (count) => count >= done * ACCEPTED_PER_KILL, ACCEPT_WITHIN_MS);
      if (random.chance(napShare)) {
        await nap(server);
        await sleep(random.between(...afterReadyMs));
      }
      killedAt.push(Date.now());
      await server.kill("SIGKILL");
      if (postgresUrl === null) violations.push(...(await checkIntegrity(trial.dataDir, done)));
      const restartedAt = performance.now();
      server = await trial.restart(server);
      readyMs.push(Math.round(performance.now() - restartedAt));
      options.onKill?.(done);
    }
    await client.stop();
    const findings = await trial.verify(killedAt, histories.last, sink.reported);
    violations.push(...histories.violations.map((step) => `I5: ${step}`), ...findings.violations);
    const tookMs = Math.round(performance.now() - startedAt);
    return {
      engine: postgresUrl === null ? "sqlite" : "postgres",
      seed,
      kills,
      ...findings,
      violations,
      readyMs,
      tookMs,
    };
  } finally {
    await histories?.stop();
    await trial.close();
    await sink.close();
  }
}

/**
 * Freezes the process longer than the heartbeat time-out. No other node expires it, so it resumes with all the messages
 * it owns.
 */
async function nap({ pid }: ServerProcess): Promise<void> {
  process.kill(pid, "SIGSTOP");
  await sleep(NAP_MS);
  process.kill(pid, "SIGCONT");
}

/** Checks a copy, so that the check does not run the WAL recovery for the server. */
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
