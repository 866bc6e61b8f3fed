import { Worker } from "node:worker_threads";
import { StorageUnavailable } from "../store.ts";

export interface Job {
  id: number;
  /** Runs before other waiting jobs. */
  urgent: boolean;
  /** Waits until no other job does. */
  background?: boolean;
  /** Approximate number of rows that it writes. */
  rows: number;
  command: string;
  args: readonly unknown[];
}

interface JobOptions {
  urgent?: boolean | undefined;
  rows?: number;
  background?: boolean;
}

export type Answer =
  | { id: number; result?: unknown }
  | { id: number; error: { message: string; errcode: number }; storage: boolean };

/** Runs a select statement on a reader thread. */
export type Read = <R>(text: string, ...values: unknown[]) => Promise<R[]>;

interface ThreadOptions {
  /** Called when the thread ends unexpectedly; it is not restarted. */
  onBroken?: (error: Error) => void;
  /** Runs with lower priority where the system has priorities for threads. */
  isBackground?: boolean;
}

/** Read by the thread at its start. */
export interface ThreadData {
  path: string;
  isBackground: boolean;
}

/** Young generation in MB. A batch is garbage once it is answered, so a larger heap would stay allocated and unused. */
const YOUNG_MB = 12;

/**
 * A thread with a database connection: it receives jobs as messages, and each call returns a promise. Messages cross as JSON
 * text, which the other side reads in half the time of a structured clone (batches of 32 requests).
 * Next: src/store/sqlite/writer.ts
 */
export class DatabaseThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  #nextId = 1;
  #broken: Error | null = null;
  #closing = false;

  constructor(file: URL, path: string, { onBroken = () => {}, isBackground = false }: ThreadOptions = {}) {
    const workerData: ThreadData = { path, isBackground };
    this.#worker = new Worker(file, { workerData, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } });
    this.#worker.unref();
    this.#worker.on("message", (answers: string) => this.#settle(JSON.parse(answers) as Answer[]));
    this.#worker.on("error", (error) => this.#break(error));
    this.#worker.on("exit", () => {
      this.#break(new Error("the database thread has ended"));
      if (!this.#closing && this.#broken) onBroken(this.#broken);
    });
  }

  /** The thread has ended, or is about to. */
  get isBroken(): boolean {
    return this.#broken !== null;
  }

  call<T>(
    command: string,
    args: readonly unknown[],
    { urgent = false, rows = 1, background }: JobOptions = {},
  ): Promise<T> {
    if (this.#broken) return Promise.reject(this.#broken);
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve, reject });
      const job: Job = { id, urgent, rows, command, args, ...(background && { background }) };
      this.#worker.postMessage(JSON.stringify(job));
    });
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#worker.terminate();
  }

  #settle(answers: Answer[]): void {
    for (const answer of answers) {
      const caller = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if ("error" in answer) caller?.reject(errorOf(answer));
      else caller?.resolve(answer.result);
    }
  }

  #break(cause: Error): void {
    this.#broken ??= new StorageUnavailable("the database thread is gone", { cause });
    for (const caller of this.#waiting.values()) caller.reject(this.#broken);
    this.#waiting.clear();
  }
}

function errorOf({ error, storage }: Extract<Answer, { error: unknown }>): Error {
  const cause = Object.assign(new Error(error.message), { errcode: error.errcode });
  return storage ? new StorageUnavailable(error.message, { cause }) : cause;
}
