import { EventEmitter } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";

const builtin = threads as unknown as Record<string, unknown>;
const realReceive = threads.receiveMessageOnPort;

/** The thread's end of the channel. */
class Port extends EventEmitter {
  readonly #answer: (message: unknown) => void;

  constructor(answer: (message: unknown) => void) {
    super();
    this.#answer = answer;
  }

  postMessage(message: unknown): void {
    this.#answer(message);
  }
}

let loading: Promise<unknown> = Promise.resolve();
let count = 0;

/** In place of a thread: a second copy of its module, which answers while it is called. */
class ThreadInProcess extends EventEmitter {
  readonly #port = new Port((message) => this.emit("message", message));
  /** Messages that came while the module was loading; null afterwards. */
  #early: unknown[] | null = [];

  constructor(file: URL, { workerData }: { workerData: object }) {
    super();
    count += 1;
    const copy = `${file.href}?copy=${count}`;
    loading = loading.then(async () => {
      builtin["parentPort"] = this.#port;
      builtin["workerData"] = { ...workerData, isBackground: false };
      syncBuiltinESMExports();
      await import(copy);
      for (const message of this.#early ?? []) this.#port.emit("message", message);
      this.#early = null;
    });
  }

  unref(): void {}

  postMessage(message: unknown): void {
    if (this.#early) this.#early.push(message);
    else this.#port.emit("message", message);
  }

  async terminate(): Promise<number> {
    this.emit("exit", 0);
    return 0;
  }
}

/**
 * Runs the database threads of SQLite in the main thread. The world stands still during a store call, so threads would only add
 * the switches between them: a minute per run on a busy machine.
 */
export function runThreadsInProcess(): void {
  builtin["Worker"] = ThreadInProcess;
  builtin["receiveMessageOnPort"] = (port: unknown) =>
    port instanceof Port ? undefined : realReceive(port as threads.MessagePort);
  syncBuiltinESMExports();
}
