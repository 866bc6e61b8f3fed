import { delaysExit } from "../../lib/end-process.ts";
import { ClientLeft, QueryTimedOut, type ReportingLimits, type StartedQuery } from "../reporting-queue.ts";
import { StorageUnavailable } from "../store.ts";
import type { DatabaseThread } from "./thread.ts";

type QueryThread = Pick<DatabaseThread, "call" | "close" | "isBroken">;

/**
 * The reader threads of reporting queries, each with one query at a time. SQLite's driver cannot interrupt a statement, and
 * ending its thread waits for it. So a thread whose query exceeds the time limit is abandoned: it ends with its statement,
 * and a new one takes its place. There are never more abandoned threads than others; beyond that, a query keeps its turn.
 */
export class ReportingThreads {
  readonly #open: () => QueryThread;
  readonly #limits: ReportingLimits;
  readonly #idle: QueryThread[] = [];
  #abandoned = 0;
  #closed = false;

  constructor(open: () => QueryThread, limits: ReportingLimits) {
    this.#open = open;
    this.#limits = limits;
  }

  /** Starts a query. Threads start with the first query that needs them. */
  query<R>(sql: string, values: readonly unknown[], signal: AbortSignal | null): StartedQuery<R[]> {
    if (this.#closed) throw new StorageUnavailable("the store is closed");
    const thread = this.#idle.pop() ?? this.#open();
    const { timeoutMs, concurrency } = this.#limits;
    const result = Promise.withResolvers<R[]>();
    const ended = Promise.withResolvers<void>();
    let isAbandoned = false;
    const timer = setTimeout(() => {
      result.reject(new QueryTimedOut(timeoutMs));
      if (this.#abandoned >= concurrency) return;
      isAbandoned = true;
      this.#abandoned += 1;
      void thread.close();
      ended.resolve();
    }, timeoutMs).unref();
    const leave = (): void => result.reject(new ClientLeft("the client has left"));
    signal?.addEventListener("abort", leave);
    const answer = thread.call<R[]>("read", [sql, values]);
    delaysExit(answer);
    answer.then(result.resolve, result.reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", leave);
      if (isAbandoned) this.#abandoned -= 1;
      else if (this.#closed) void thread.close();
      else if (!thread.isBroken) this.#idle.push(thread);
      ended.resolve();
    });
    return { result: result.promise, ended: ended.promise };
  }

  /** A thread whose query is running ends with it. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#idle.map((thread) => thread.close()));
  }
}
