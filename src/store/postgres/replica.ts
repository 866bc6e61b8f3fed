import { setTimeout as sleep } from "node:timers/promises";
import { StorageUnavailable, type ReplicaState } from "../store.ts";
import type { ConnectionPool, Query } from "./pool.ts";

/** A read waits this long for the replica to apply what the primary has committed, then goes to the primary. */
const CATCH_UP_MS = 250;
const LOOKS_MS = [2, 5, 10, 20, 40];
/** A server that did not answer is not asked again for this time, because each attempt takes the connection time-out. */
const REST_MS = 5000;

/** The identity of a cluster and its database. A replica has that of its primary. */
const SYSTEM = "(select system_identifier from pg_control_system()) || '/' || current_database()";

const POSITION = `select pg_current_wal_flush_lsn()::text as position, ${SYSTEM} as system`;

/** A former replica that was promoted compares its own position. */
const REPLAYED = `
  select ${SYSTEM} as system, at.position >= $1::pg_lsn as current,
    case when at.position >= $1::pg_lsn then 0
      else greatest(0, extract(epoch from clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), clock_timestamp())) * 1000)
    end::double precision as "lagMs"
  from (select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_flush_lsn() end as position) as at`;

/**
 * A streaming replica for reporting reads. A read waits until the replica has applied everything that the primary had committed
 * when the read arrived. It therefore shows every write that was answered before it. If the replica lags, fails or is
 * another database, the primary answers.
 */
export class ReadReplica {
  readonly #primary: Query;
  readonly #pool: ConnectionPool;
  #restsUntil = 0;
  #state: ReplicaState = { status: "unavailable", lagMs: 0, reads: { replica: 0, primary: 0 } };

  /** `primary` runs statements on the server that accepts writes. */
  constructor(primary: Query, pool: ConnectionPool) {
    this.#primary = primary;
    this.#pool = pool;
  }

  get state(): ReplicaState {
    return { ...this.#state, reads: { ...this.#state.reads } };
  }

  /** Runs a read on the replica, or else on the primary. */
  async read<T>(
    onReplica: (pool: ConnectionPool) => Promise<T>,
    onPrimary: () => Promise<T>,
    isFinal: (error: unknown) => boolean,
  ): Promise<T> {
    if (await this.#isCurrent()) {
      try {
        const result = await onReplica(this.#pool);
        this.#state.reads.replica += 1;
        return result;
      } catch (error) {
        // A replica also cancels a read that conflicts with what it has to apply.
        if (isFinal(error)) throw error;
        this.#rest();
      }
    }
    this.#state.reads.primary += 1;
    return onPrimary();
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  async #isCurrent(): Promise<boolean> {
    if (performance.now() < this.#restsUntil) return false;
    const { rows } = await this.#primary<{ position: string; system: string }>({ text: POSITION });
    const committed = rows[0];
    const giveUpAt = performance.now() + CATCH_UP_MS;
    for (let look = 0; ; look += 1) {
      const replayed = await this.#replayed(committed?.position ?? "0/0");
      if (replayed?.system !== committed?.system) {
        this.#rest();
        return false;
      }
      this.#state.lagMs = Math.round(replayed?.lagMs ?? 0);
      this.#state.status = replayed?.current === true ? "in use" : "behind";
      if (replayed?.current === true) return true;
      if (performance.now() >= giveUpAt) return false;
      await sleep(LOOKS_MS[Math.min(look, LOOKS_MS.length - 1)]);
    }
  }

  /** Null if the replica does not answer. */
  async #replayed(position: string): Promise<{ system: string; current: boolean; lagMs: number } | null> {
    try {
      const { rows } = await this.#pool.query<{ system: string; current: boolean; lagMs: number }>({
        text: REPLAYED,
        values: [position],
      });
      return rows[0] ?? null;
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      return null;
    }
  }

  #rest(): void {
    this.#state.status = "unavailable";
    this.#restsUntil = performance.now() + REST_MS;
  }
}
