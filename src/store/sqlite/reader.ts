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
  const { id, args } = JSON.parse(job) as Job;
  const [sql, values] = args as [string, SQLInputValue[]];
  port.postMessage(JSON.stringify([read(id, sql, values)]));
});

function read(id: number, sql: string, values: SQLInputValue[]): Answer {
  try {
    return { id, result: statementOf(sql).all(...values) };
  } catch (error) {
    const { message, errcode } = error as { message: string; errcode?: number };
    return { id, error: { message, errcode: errcode ?? 0 }, storage: isStorageFault(error) };
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
