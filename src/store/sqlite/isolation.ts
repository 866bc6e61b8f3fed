import type { DatabaseSync } from "node:sqlite";
import { isStorageFault } from "./faults.ts";

export interface Failed {
  failed: { message: string; errcode: number };
}

/**
 * Keeps what is wrong with one thing from the others in its transaction. A savepoint for each would copy every page that is
 * touched, and nearly always nothing is wrong: so a transaction is first run without any, and where something fails it is
 * taken back and run once more, carefully.
 */
export class Isolation {
  readonly #db: DatabaseSync;
  #careful = false;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Whether one thing may fail without the others. */
  get careful(): boolean {
    return this.#careful;
  }

  /** Runs all of it as one transaction; throws where the store itself fails, and nothing has happened then. */
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

  /** Something within the transaction that may fail by itself; it is undone then, and the rest goes on. */
  alone<T>(run: () => T): T | Failed {
    if (!this.#careful) return run();
    this.#db.exec("savepoint alone");
    try {
      const result = run();
      this.#db.exec("release alone");
      return result;
    } catch (error) {
      if (!this.#db.isTransaction || isStorageFault(error)) throw error;
      this.#db.exec("rollback to alone");
      this.#db.exec("release alone");
      return { failed: describe(error) };
    }
  }

  /** Several that are quicker done in one; one after the other where care is needed. */
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
      this.#db.exec("commit");
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("rollback");
      throw error;
    }
  }
}

export function describe(error: unknown): Failed["failed"] {
  const { message, errcode } = error as { message?: string; errcode?: number };
  return { message: message ?? String(error), errcode: errcode ?? 0 };
}
