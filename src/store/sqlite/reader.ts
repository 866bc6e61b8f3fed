import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import type { SQLInputValue, StatementSync } from "node:sqlite";
import { isStorageFault } from "./faults.ts";
import { openDatabase } from "./open.ts";
import type { Answer, Job } from "./thread.ts";

/** Reads in a thread beside the writer: it sees what is committed and holds nobody up. */

const KEPT_STATEMENTS = 200;

const port = parentPort as MessagePort;
const db = openDatabase((workerData as { path: string }).path, { readOnly: true });
const kept = new Map<string, StatementSync>();

port.on("message", (job: string) => {
  const { id, command, args } = JSON.parse(job) as Job;
  const [sql, values] = args as [string, SQLInputValue[]];
  port.postMessage(command === "readJson" ? readJson(id, sql, values) : read(id, sql, values));
});

function read(id: number, sql: string, values: SQLInputValue[]): string {
  return answer(id, () => JSON.stringify(statementOf(sql).all(...values)));
}

/** The statement's one value is JSON and crosses as it is: rows that nobody here looks at need not become objects first. */
function readJson(id: number, sql: string, values: SQLInputValue[]): string {
  return answer(id, () => String(Object.values(statementOf(sql).get(...values) ?? {})[0]));
}

/** The text of the one answer to a job, with a result that is JSON already. */
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
