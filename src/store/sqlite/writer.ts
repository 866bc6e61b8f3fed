import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from "node:worker_threads";
import { createCommands, type Commands } from "./commands.ts";
import { describe, Isolation } from "./isolation.ts";
import { openDatabase } from "./open.ts";
import type { Answer, Job } from "./thread.ts";

/**
 * The one writer, in a thread of its own so that a sync never blocks the event loop.
 * Whatever jobs have arrived share a transaction and its sync, as long as it stays short: what is urgent goes first, and so
 * waits for one short transaction at the most, however much has piled up.
 */

const JOBS_PER_COMMIT = 64;
const ROWS_PER_COMMIT = 500;

const port = parentPort as MessagePort;
// At most commits SQLite goes through all of its cache, and so a large one costs more than it saves: what it would hold, the
// system has in memory as well.
const CACHE_MIB = 8;

const db = openDatabase((workerData as { path: string }).path, { cacheMiB: CACHE_MIB });
const isolation = new Isolation(db);
const commands = createCommands(db, isolation);
const urgent: Job[] = [];
const ordinary: Job[] = [];
let wasUrgent = false;

port.on("message", (first: string) => {
  arrive(first);
  while (urgent.length + ordinary.length > 0) {
    for (let next = receive(); next !== undefined; next = receive()) arrive(next);
    port.postMessage(JSON.stringify(commitTogether(takeSome())));
  }
});

function receive(): string | undefined {
  const received: { message: string } | undefined = receiveMessageOnPort(port);
  return received?.message;
}

function arrive(text: string): void {
  const job = JSON.parse(text) as Job;
  (job.urgent ? urgent : ordinary).push(job);
}

/** What the next transaction does: what is urgent alone, so that it waits for nothing else; but not twice in a row. */
function takeSome(): Job[] {
  const queue = urgent.length > 0 && (!wasUrgent || ordinary.length === 0) ? urgent : ordinary;
  wasUrgent = queue === urgent;
  return takeFrom(queue);
}

/** At least one job, and more while the transaction stays short. */
function takeFrom(queue: Job[]): Job[] {
  let rows = 0;
  let count = 0;
  for (const job of queue) {
    if (count > 0 && (count >= JOBS_PER_COMMIT || rows + job.rows > ROWS_PER_COMMIT)) break;
    rows += job.rows;
    count += 1;
  }
  return queue.splice(0, count);
}

function commitTogether(jobs: Job[]): Answer[] {
  try {
    return isolation.transact(() => jobs.map(run));
  } catch (error) {
    return jobs.map(({ id }) => ({ id, error: describe(error), storage: true }));
  }
}

function run({ id, command, args }: Job): Answer {
  const call = commands[command as keyof Commands] as (...values: unknown[]) => unknown;
  const result = isolation.alone(() => ({ value: call(...args) }));
  return "failed" in result ? { id, error: result.failed, storage: false } : { id, result: result.value };
}
