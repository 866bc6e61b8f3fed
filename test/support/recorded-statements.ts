import { Worker } from "node:worker_threads";
import { Client } from "pg";
import type { EngineName } from "./engines.ts";

export interface RecordedStatement {
  text: string;
  values: readonly unknown[];
}

/** Records the reading statements of stores in this process until `stop`. */
export interface StatementRecorder {
  /** The statements since the last call, each text once. */
  take(): RecordedStatement[];
  stop(): void;
}

const READS = /^\s*(?:select|with)\b/i;
const WRITES = /\b(?:insert into|delete from|for update)\b|\bupdate\s+\w+\s+set\b/i;

export function recordStatements(engine: EngineName, database: string): StatementRecorder {
  const recorded = new Map<string, RecordedStatement>();
  const add = (text: unknown, values: unknown): void => {
    if (typeof text !== "string" || !READS.test(text) || WRITES.test(text)) return;
    recorded.set(text, { text, values: Array.isArray(values) ? values : [] });
  };
  const stop = engine === "sqlite" ? recordThreads(add) : recordClients(database, add);
  return {
    take() {
      const taken = [...recorded.values()];
      recorded.clear();
      return taken;
    },
    stop,
  };
}

type Add = (text: unknown, values: unknown) => void;

/** A database thread receives its jobs as JSON messages. */
function recordThreads(add: Add): () => void {
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function recordAndPost(this: Worker, ...posted) {
    const [message] = posted as unknown[];
    if (typeof message === "string" && message.startsWith("{")) {
      const { args = [] } = JSON.parse(message) as { args?: unknown[] };
      add(args[0], args[1]);
    }
    return postMessage.apply(this, posted);
  };
  return () => {
    Worker.prototype.postMessage = postMessage;
  };
}

function recordClients(database: string, add: Add): () => void {
  const query: (...given: unknown[]) => unknown = Client.prototype.query;
  Client.prototype.query = function recordAndQuery(this: Client, ...given: unknown[]) {
    const [statement] = given as [{ text?: unknown; values?: unknown } | string];
    if (this.database === database && typeof statement === "object") add(statement.text, statement.values);
    return query.apply(this, given);
  } as typeof Client.prototype.query;
  return () => {
    Client.prototype.query = query as typeof Client.prototype.query;
  };
}
