import type { DatabaseSync } from "node:sqlite";
import { isStorageFault } from "./faults.ts";

export interface Failed {
  failed: { message: string; errcode: number };
}

/** Writes that a transaction gathers in memory. They are written before its commit, and dropped when it is rolled back. */
interface DeferredWrites {
  write(): void;
  drop(): void;
}

/**
 * Isolates a failing item from the others in its transaction. A savepoint for each item would copy every touched page, and
 * failures are rare. So a transaction first runs without savepoints; if an item fails, it is rolled back and run again with
 * them.
 */
export class Isolation {
  readonly #db: DatabaseSync;
  readonly #deferred: DeferredWrites;
  #careful = false;

  constructor(db: DatabaseSync, deferred: DeferredWrites) {
    this.#db = db;
    this.#deferred = deferred;
  }

  /** True while each item runs in its own savepoint. */
  get careful(): boolean {
    return this.#careful;
  }

  /** Runs everything as one transaction. Throws, with nothing written, when the storage itself fails. */
  transact<T>(run: () => T): T {
    try {
      return this.#attempt(run);
    } catch (error) {
      if (isStorageFault(error)) throw error;
    }
    this.#careful = true;
    try {
      return this.#attempt(run);
    } finally {
      this.#careful = false;
    }
  }

  /** Runs one item that may fail: its writes are rolled back, and the rest continues. */
  alone<T>(run: () => T): T | Failed {
    if (!this.#careful) return run();
    this.#deferred.write();
    this.#db.exec("savepoint alone");
    try {
      const result = run();
      this.#deferred.write();
      this.#db.exec("release alone");
      return result;
    } catch (error) {
      if (!this.#db.isTransaction || isStorageFault(error)) throw error;
      this.#deferred.drop();
      this.#db.exec("rollback to alone");
      this.#db.exec("release alone");
      return { failed: describe(error) };
    }
  }

  /** Runs several items as one batch, which is faster; one by one in careful mode. */
  together<I, T>(items: readonly I[], run: (items: readonly I[]) => T[]): (T | Failed)[] {
    if (!this.#careful) return run(items);
    return items.flatMap((item): (T | Failed)[] => {
      const result = this.alone(() => run([item]));
      return Array.isArray(result) ? result : [result];
    });
  }

  #attempt<T>(run: () => T): T {
    try {
      this.#db.exec("begin immediate");
      const result = run();
      this.#deferred.write();
      this.#db.exec("commit");
      return result;
    } catch (error) {
      this.#deferred.drop();
      if (this.#db.isTransaction) this.#db.exec("rollback");
      throw error;
    }
  }
}

export function describe(error: unknown): Failed["failed"] {
  const { message, errcode } = error as { message?: string; errcode?: number };
  return { message: message ?? String(error), errcode: errcode ?? 0 };
}
