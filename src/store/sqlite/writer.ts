import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from "node:worker_threads";
import { CampaignCounts } from "./campaign-counts.ts";
import { createCommands, type WriterCommands } from "./commands.ts";
import { describe, Isolation } from "./isolation.ts";
import { openDatabase } from "./open.ts";
import type { Answer, Job, ThreadData } from "./thread.ts";

/**
 * The only writer, in its own thread so that a disk sync never blocks the event loop. Group commit: waiting jobs share a
 * transaction and its sync, within the bounds below. An urgent job waits for at most one short transaction.
 * Next: src/store/sqlite/commands.ts
 */

const JOBS_PER_COMMIT = 64;
const ROWS_PER_COMMIT = 500;
/** Background jobs take some 4 ms each. Where ordinary jobs never pause, one in this time takes a twelfth of the writer. */
const BACKGROUND_WAIT_MS = 50;

const port = parentPort as MessagePort;
// SQLite scans its whole cache at most commits, so a large cache costs more than it saves. The page cache of the operating
// system holds the rest.
const CACHE_MIB = 8;

const db = openDatabase((workerData as ThreadData).path, { cacheMiB: CACHE_MIB });
const counts = new CampaignCounts(db);
const isolation = new Isolation(db, counts);
const commands = createCommands(db, isolation, counts);
const urgent: Job[] = [];
const ordinary: Job[] = [];
const background: Job[] = [];
let backgroundSince = 0;
let wasUrgent = false;

port.on("message", (first: string) => {
  arrive(first);
  while (urgent.length + ordinary.length + background.length > 0) {
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
  if (!job.background) return void (job.urgent ? urgent : ordinary).push(job);
  if (background.length === 0) backgroundSince = performance.now();
  background.push(job);
}

/**
 * The jobs of the next transaction. Urgent jobs run without ordinary ones, but never twice in a row while ordinary ones wait.
 */
function takeSome(): Job[] {
  if (isBackgroundsTurn()) {
    backgroundSince = performance.now();
    return background.splice(0, 1);
  }
  const queue = urgent.length > 0 && (!wasUrgent || ordinary.length === 0) ? urgent : ordinary;
  wasUrgent = queue === urgent;
  return takeFrom(queue);
}

const isBackgroundsTurn = (): boolean =>
  background.length > 0 &&
  urgent.length === 0 &&
  (ordinary.length === 0 || performance.now() - backgroundSince > BACKGROUND_WAIT_MS);

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
  const start = performance.now();
  try {
    const transact = (): Answer[] => isolation.transact(() => jobs.map(run));
    if (!jobs[0]?.background) return transact();
    const answers = withoutSync(transact);
    return answers.map((answer) => withDuration(answer, performance.now() - start));
  } catch (error) {
    return jobs.map(({ id }) => ({ id, error: describe(error), storage: true }));
  }
}

/**
 * Runs a transaction whose commit is not synced. A crash of the process loses nothing; a power failure may undo the
 * transaction, and never one that was synced after it. Only for maintenance that is repeated then: the sync takes longer than
 * the rest of such a transaction, and sends wait for it.
 */
function withoutSync<T>(transact: () => T): T {
  db.exec("pragma synchronous = normal");
  try {
    return transact();
  } finally {
    db.exec("pragma synchronous = full");
  }
}

/** Background jobs choose their size by the time that they took. */
const withDuration = (answer: Answer, ms: number): Answer =>
  "result" in answer ? { ...answer, result: { changes: answer.result, ms } } : answer;

function run({ id, command, args }: Job): Answer {
  const call = commands[command as keyof WriterCommands] as (...values: unknown[]) => unknown;
  const result = isolation.alone(() => ({ value: call(...args) }));
  return "failed" in result ? { id, error: result.failed, storage: false } : { id, result: result.value };
}
