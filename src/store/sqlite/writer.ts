import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from "node:worker_threads";
import { createCommands, type Commands } from "./commands.ts";
import { isStorageFault } from "./faults.ts";
import { openDatabase } from "./open.ts";
import type { Answer, Job } from "./thread.ts";

/**
 * The one writer, in a thread of its own so that a sync never blocks the event loop.
 * Whatever jobs have arrived are one transaction with one sync: this is where all kinds of writes share a commit.
 */

const JOBS_PER_COMMIT = 64;

const port = parentPort as MessagePort;
const db = openDatabase((workerData as { path: string }).path);
const commands = createCommands(db);

port.on("message", (first: string) => {
  const jobs = [JSON.parse(first) as Job];
  while (jobs.length < JOBS_PER_COMMIT) {
    const next: { message: string } | undefined = receiveMessageOnPort(port);
    if (!next) break;
    jobs.push(JSON.parse(next.message) as Job);
  }
  port.postMessage(JSON.stringify(commitTogether(jobs)));
});

function commitTogether(jobs: Job[]): Answer[] {
  try {
    db.exec("begin immediate");
    const answers = jobs.map(runAlone);
    db.exec("commit");
    return answers;
  } catch (error) {
    if (db.isTransaction) db.exec("rollback");
    return jobs.map(({ id }) => ({ id, error: describe(error), storage: true }));
  }
}

/** A job that fails is undone alone; a store that fails (the transaction is gone) fails them all. */
function runAlone({ id, command, args }: Job): Answer {
  db.exec("savepoint job");
  try {
    const run = commands[command as keyof Commands] as (...values: unknown[]) => unknown;
    const result = run(...args);
    db.exec("release job");
    return { id, result };
  } catch (error) {
    if (!db.isTransaction || isStorageFault(error)) throw error;
    db.exec("rollback to job");
    db.exec("release job");
    return { id, error: describe(error), storage: false };
  }
}

function describe(error: unknown): { message: string; errcode: number } {
  const { message, errcode } = error as { message?: string; errcode?: number };
  return { message: message ?? String(error), errcode: errcode ?? 0 };
}
