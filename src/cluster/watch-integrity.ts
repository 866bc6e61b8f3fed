import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../metrics.ts";
import { INTEGRITY_CHECK, readLastCheck, RESTORE_ADVICE, type LastIntegrityCheck } from "../model/integrity.ts";
import type { Warning } from "../model/warning.ts";
import type { RecordStore } from "../store/records.ts";

interface IntegrityWatchDeps {
  store: Pick<RecordStore, "settled" | "replaceSettled">;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, "registry" | "integrityFailures">;
  /** Starts a check of the database file. */
  start(): { faults: Promise<readonly string[]>; stop(): void };
}

/** The next run after one that could not be made comes sooner. */
const RETRY_MS = 600_000;
/** Timers take at most 24 days, and a run that finds nothing due costs one read. */
const PAUSE_MAX_MS = 3_600_000;

/**
 * Checks the SQLite file periodically. The time and the result of the last check are stored, so a restart neither skips a check
 * nor repeats one, and a node knows of damage from its start.
 */
export class IntegrityWatch {
  readonly #deps: IntegrityWatchDeps;
  readonly #everyMs: number;
  #last: LastIntegrityCheck | null = null;
  #lastSuccessAt = 0;
  #running: ReturnType<IntegrityWatchDeps["start"]> | null = null;
  #stopped = false;

  constructor(deps: IntegrityWatchDeps, { everyMs }: { everyMs: number }) {
    this.#deps = deps;
    this.#everyMs = everyMs;
    const gauge = (name: string, help: string, read: () => number): void =>
      deps.metrics.registry.gauge({ name, help }, read);
    gauge(
      "heliograph_integrity_check_last_success_timestamp_seconds",
      "Time of the last check of the SQLite file that found no damage; 0 without one.",
      () => this.#lastSuccessAt / 1000,
    );
    gauge(
      "heliograph_integrity_check_interval_seconds",
      "Time between checks of the SQLite file (HELIOGRAPH_INTEGRITY_CHECK_HOURS).",
      () => everyMs / 1000,
    );
    gauge("heliograph_database_damaged", "1 if the last check of the SQLite file found damage, else 0.", () =>
      this.#isDamaged ? 1 : 0,
    );
  }

  get #isDamaged(): boolean {
    return this.#last !== null && this.#last.faults.length > 0;
  }

  get warnings(): readonly Warning[] {
    if (!this.#last || !this.#isDamaged) return [];
    const { at, faults } = this.#last;
    const found = `The check of ${new Date(at).toISOString()} found damage in the database: ${faults[0] ?? ""}.`;
    return [{ code: "DATABASE_DAMAGED", message: `${found} ${RESTORE_ADVICE}` }];
  }

  /** Reads the result of the last check. */
  async load(): Promise<string | null> {
    const stored = await this.#deps.store.settled(INTEGRITY_CHECK);
    this.#note(readLastCheck(stored));
    return stored;
  }

  /** Makes a check if one is due; resolves to the pause before the next look. */
  async run(): Promise<number> {
    const { store, clock, log, metrics } = this.#deps;
    const stored = await this.load();
    const dueInMs = (this.#last?.at ?? 0) + this.#everyMs - clock.now();
    if (dueInMs > 0 || this.#stopped) return Math.min(dueInMs, PAUSE_MAX_MS);
    const [startedAt, at] = [clock.monotonic(), clock.now()];
    let faults: readonly string[];
    try {
      this.#running = this.#deps.start();
      faults = await this.#running.faults;
    } catch (error) {
      if (this.#stopped) return PAUSE_MAX_MS;
      metrics.integrityFailures("not run").inc();
      log.error({ err: error }, "integrity check failed");
      return Math.min(this.#everyMs, RETRY_MS);
    } finally {
      this.#running = null;
    }
    const durationMs = Math.round(clock.monotonic() - startedAt);
    // Before it is stored: a damaged database may refuse the write.
    this.#note({ at, faults });
    if (faults.length === 0) log.info({ durationMs }, "database integrity checked");
    else {
      metrics.integrityFailures("damaged").inc();
      log.error({ faults, durationMs }, "database is damaged");
    }
    await store.replaceSettled(INTEGRITY_CHECK, stored, JSON.stringify(this.#last));
    return Math.min(this.#everyMs, PAUSE_MAX_MS);
  }

  /** Ends a check in progress. */
  stop(): void {
    this.#stopped = true;
    this.#running?.stop();
  }

  #note(last: LastIntegrityCheck | null): void {
    // A result that could not be stored is newer than the stored one.
    if (this.#last && (last?.at ?? 0) < this.#last.at) return;
    this.#last = last;
    if (last?.faults.length === 0) this.#lastSuccessAt = last.at;
  }
}
