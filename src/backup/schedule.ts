import { Worker } from "node:worker_threads";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../metrics.ts";
import { listAt, nameOfDestination, type Destination } from "./destination.ts";
import { timeOf } from "./manifest.ts";
import type { BackupRequest } from "./write-backup.ts";

interface BackupScheduleDeps {
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, "registry" | "backupFailures">;
}

/** The task of the thread of a scheduled backup. */
export interface ScheduledBackup extends Omit<BackupRequest, "folder"> {
  destination: Destination;
  /** The number of backups that stay. */
  keep: number;
}

interface ScheduleOptions extends ScheduledBackup {
  everyMs: number;
}

interface Written {
  path: string;
  /** Time of its snapshot. */
  at: number;
  bytes: number;
  removed: readonly string[];
  /** Why old backups could not be deleted. */
  pruneError?: string;
}

/** The next run after a failure comes sooner than after a success. */
const RETRY_MS = 600_000;
/** Timers take at most 24 days, and a run that finds nothing due costs one look into the folder. */
const PAUSE_MAX_MS = 3_600_000;

/**
 * Writes backups periodically. The name of the newest one tells when it was written, so a restart neither skips a backup nor
 * writes one too many.
 */
export class BackupSchedule {
  readonly #deps: BackupScheduleDeps;
  readonly #options: ScheduleOptions;
  #worker: Worker | null = null;
  /** Time of the newest backup; 0 without one, and until the destination was listed. */
  #newestAt = 0;
  #stopped = false;

  constructor(deps: BackupScheduleDeps, options: ScheduleOptions) {
    this.#deps = deps;
    this.#options = options;
    const gauge = (name: string, help: string, read: () => number): void =>
      deps.metrics.registry.gauge({ name, help }, read);
    gauge(
      "heliograph_backup_last_success_timestamp_seconds",
      "Time of the newest whole backup in HELIOGRAPH_BACKUP_DIR; 0 without one, and until it was listed after a start.",
      () => this.#newestAt / 1000,
    );
    gauge(
      "heliograph_backup_interval_seconds",
      "Time between scheduled backups (HELIOGRAPH_BACKUP_EVERY).",
      () => options.everyMs / 1000,
    );
  }

  /** Writes a backup if one is due; resolves to the pause before the next look. */
  async run(): Promise<number> {
    const { clock, log, metrics } = this.#deps;
    const { destination, everyMs } = this.#options;
    try {
      const newest = (await listAt(destination)).at(-1);
      this.#newestAt = newest === undefined ? 0 : timeOf(newest);
      const dueInMs = this.#newestAt + everyMs - clock.now();
      if (dueInMs > 0 || this.#stopped) return Math.min(dueInMs, PAUSE_MAX_MS);
      const { path, at, bytes, removed, pruneError } = await this.#write();
      this.#newestAt = Math.floor(at / 1000) * 1000;
      log.info({ path, bytes, removed }, "backup written");
      if (pruneError !== undefined) log.warn({ error: pruneError }, "old backups not deleted");
      return Math.min(everyMs, PAUSE_MAX_MS);
    } catch (error) {
      if (this.#stopped) return PAUSE_MAX_MS;
      const { code, name } = error as { code?: string; name?: string };
      metrics.backupFailures(code ?? name ?? "unknown").inc();
      log.error({ err: error, destination: nameOfDestination(destination) }, "backup failed");
      return Math.min(everyMs, RETRY_MS);
    }
  }

  /** Ends a backup in progress; it never gets a backup's name, or a manifest. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#worker?.terminate();
  }

  #write(): Promise<Written> {
    const { everyMs: _, ...workerData } = this.#options;
    const worker = new Worker(new URL("worker.ts", import.meta.url), { workerData });
    this.#worker = worker;
    return new Promise<Written>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", () => reject(new Error("the backup thread ended early")));
    }).finally(() => {
      this.#worker = null;
    });
  }
}
