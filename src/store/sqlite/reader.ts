import { setPriority } from "node:os";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import type { SQLInputValue, StatementSync } from "node:sqlite";
import { isStorageFault } from "./faults.ts";
import { openDatabase } from "./open.ts";
import type { Answer, Job, ThreadData } from "./thread.ts";

/** A reader thread: it sees committed data and never blocks the writer. */

const KEPT_STATEMENTS = 200;

/** Niceness of threads for reporting queries: on a busy machine the event loop and the writer run first. */
const BACKGROUND_NICENESS = 10;

const port = parentPort as MessagePort;
const { path, isBackground } = workerData as ThreadData;
const db = openDatabase(path, { readOnly: true });
// Only Linux has a niceness per thread. Elsewhere this would slow the whole process down.
if (isBackground && process.platform === "linux") setPriority(0, BACKGROUND_NICENESS);
const kept = new Map<string, StatementSync>();

port.on("message", (job: string) => {
  const { id, command, args } = JSON.parse(job) as Job;
  const [sql, values] = args as [string, SQLInputValue[]];
  port.postMessage(command === "readJson" ? readJson(id, sql, values) : read(id, sql, values));
});

function read(id: number, sql: string, values: SQLInputValue[]): string {
  return answer(id, () => JSON.stringify(statementOf(sql).all(...values)));
}

/** The statement returns one JSON value, which crosses unparsed: this thread need not build objects from it. */
function readJson(id: number, sql: string, values: SQLInputValue[]): string {
  return answer(id, () => String(Object.values(statementOf(sql).get(...values) ?? {})[0]));
}

/** The response to a job whose result is already JSON. */
function answer(id: number, result: () => string): string {
  try {
    return `[{"id":${id},"result":${result()}}]`;
  } catch (error) {
    const { message, errcode } = error as { message: string; errcode?: number };
    const failed: Answer = { id, error: { message, errcode: errcode ?? 0 }, storage: isStorageFault(error) };
    return JSON.stringify([failed]);
  }
}

function statementOf(sql: string): StatementSync {
  const known = kept.get(sql);
  if (known) return known;
  if (kept.size >= KEPT_STATEMENTS) kept.clear();
  const statement = db.prepare(sql);
  kept.set(sql, statement);
  return statement;
}
