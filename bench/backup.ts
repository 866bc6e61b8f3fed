// A backup of SQLite while messages are sent, restored into a new folder and compared row by row with the database of the moment
// of the snapshot. Run: npm run bench:backup [-- --rate 1000 --before 200000 --seconds 10]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { HOLD } from "../src/model/hold.ts";
import { COMMAND_LINE } from "../test/support/entries.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { record } from "./record.ts";
import { print } from "./report.ts";

const { values: options } = parseArgs({
  options: {
    /** Messages per second. */
    rate: { type: "string", default: "1000" },
    /** Messages that the database has before. */
    before: { type: "string", default: "200000" },
    /** Load before and after the backup. */
    seconds: { type: "string", default: "10" },
  },
});

const RECIPIENTS = 10;
const BULK = 1000;
const POLL_MS = 20;

type Value = string | number | bigint | null | Uint8Array;
type Row = Record<string, Value>;

interface Answer {
  at: number;
  ms: number;
  requestId: string | null;
}

const folder = await mkdtemp(join(tmpdir(), "heliograph-bench-backup-"));
const passphraseFile = join(folder, "passphrase");
writeFileSync(passphraseFile, "a passphrase of this bench", { mode: 0o600 });
const server = await startServer({ dataDir: join(folder, "data"), env: { HELIOGRAPH_LOG_LEVEL: "error" } });
const database = join(server.dataDir, "heliograph.db");

let sent = 0;
const answers: Answer[] = [];

async function send(recipients: number): Promise<void> {
  const startedAt = performance.now();
  const to = Array.from({ length: recipients }, () => String(15_550_000_000 + (sent++ % 9_000_000) + 1_000_000));
  const body = { sender: "HELIOG", to, text: `Message ${sent} of the bench`, type: "TRANS", campaignName: "bench" };
  const response = await fetch(`${server.baseUrl}/v1/sms`, {
    method: "POST",
    headers: { apikey: server.apiKey, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { id: string | null };
  const at = performance.now();
  answers.push({ at, ms: at - startedAt, requestId: response.status === 200 ? answer.id : null });
}

/** Sends at the rate until it is stopped, each request at its due time (open loop). */
function startLoad(): () => Promise<void> {
  const everyMs = (RECIPIENTS * 1000) / Number(options.rate);
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const loop = (async () => {
    for (let due = performance.now(); !stopping.signal.aborted; due += everyMs) {
      const early = due - performance.now();
      if (early > 0) await sleep(early);
      const request = send(RECIPIENTS).finally(() => running.delete(request));
      running.add(request);
    }
  })();
  return async () => {
    stopping.abort();
    await loop;
    await Promise.all(running);
  };
}

async function untilSent(node: ServerProcess): Promise<void> {
  for (;;) {
    const response = await fetch(`${node.baseUrl}/api/system`, { headers: { apikey: node.apiKey } });
    const { waitingInStore, inFlight } = (await response.json()) as { waitingInStore: number; inFlight: number };
    if (waitingInStore + inFlight === 0) return;
    await sleep(500);
  }
}

async function command(dataDir: string, ...args: string[]): Promise<void> {
  const child = spawn(process.execPath, [COMMAND_LINE, ...args, "--passphrase-file", passphraseFile], {
    env: { PATH: process.env["PATH"], HELIOGRAPH_DATA_DIR: dataDir },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`heliograph ${args[0]} ended with ${code}`);
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** The copy has pages as soon as the snapshot exists. */
async function untilSnapshot(backups: string): Promise<void> {
  const hasPages = (): boolean => readdirSync(backups).some((name) => sizeOf(join(backups, name, "heliograph.db")) > 0);
  while (!hasPages()) await sleep(POLL_MS);
}

function percentiles(from: number, to: number): { perSecond: number; p50Ms: number; p99Ms: number; refused: number } {
  const chosen = answers.filter(({ at }) => at >= from && at < to);
  const accepted = chosen.filter(({ requestId }) => requestId !== null);
  const times = accepted.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round(times[Math.floor(times.length * share)] ?? 0);
  return {
    perSecond: Math.round((accepted.length * RECIPIENTS * 1000) / (to - from)),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    refused: chosen.length - accepted.length,
  };
}

const tablesOf = (db: DatabaseSync): string[] =>
  db
    .prepare(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name",
    )
    .all()
    .map(({ name }) => String(name));

function rowsOf(db: DatabaseSync, table: string): Iterator<Row> {
  const columns = db.prepare(`select name, pk from pragma_table_info('${table}') order by pk`).all() as Row[];
  const keys = columns.filter(({ pk }) => Number(pk) > 0).map(({ name }) => `"${String(name)}"`);
  const all = columns.map(({ name }) => `"${String(name)}"`);
  const statement = db.prepare(`select * from "${table}" order by ${(keys.length > 0 ? keys : all).join()}`);
  statement.setReadBigInts(true);
  return statement.iterate() as Iterator<Row>;
}

/** Compares all rows of all tables; the hold of the restore is left out. */
function compare(original: DatabaseSync, restored: DatabaseSync): { tables: number; rows: number; different: number } {
  const tables = tablesOf(original);
  if (!isDeepStrictEqual(tables, tablesOf(restored))) throw new Error("the restored database has other tables");
  const isAdded = (table: string, row: Row): boolean => table === "service" && row["name"] === HOLD;
  let [rows, different] = [0, 0];
  for (const table of tables) {
    const [ours, theirs] = [rowsOf(original, table), rowsOf(restored, table)];
    for (;;) {
      const one = ours.next();
      let other = theirs.next();
      if (!other.done && isAdded(table, other.value)) other = theirs.next();
      if (one.done && other.done) break;
      rows += 1;
      if (one.done || other.done || !isDeepStrictEqual(one.value, other.value)) different += 1;
    }
  }
  return { tables: tables.length, rows, different };
}

let isWhole = false;
try {
  for (let count = 0; count < Number(options.before); count += BULK) await send(BULK);
  await untilSent(server);
  answers.length = 0;
  const stopBefore = startLoad();
  const startedAt = performance.now();
  await sleep(Number(options.seconds) * 1000);

  // The server is stopped until both snapshots exist, so that they are of the same moment. No request waits meanwhile, because
  // its response time would be that of the pause.
  await stopBefore();
  const backups = join(folder, "backups");
  mkdirSync(backups);
  process.kill(server.pid, "SIGSTOP");
  const frozenAt = performance.now();
  const original = new DatabaseSync(database, { readOnly: true, timeout: 10_000 });
  original.exec("begin");
  original.prepare("select count(*) from sqlite_schema").get();
  const writing = command(server.dataDir, "backup", backups);
  await Promise.race([untilSnapshot(backups), writing]);
  process.kill(server.pid, "SIGCONT");
  const backupAt = performance.now();
  const stop = startLoad();
  let walBytes = 0;
  const watching = setInterval(() => (walBytes = Math.max(walBytes, sizeOf(`${database}-wal`))), 100);
  await writing;
  const doneAt = performance.now();
  await sleep(Number(options.seconds) * 1000);
  await stop();
  clearInterval(watching);

  const [name = ""] = readdirSync(backups);
  const restoredDir = join(folder, "restored");
  const restoreAt = performance.now();
  await command(restoredDir, "restore", join(backups, name));
  const restoreMs = performance.now() - restoreAt;

  const restored = new DatabaseSync(join(restoredDir, "heliograph.db"), { readOnly: true });
  const compared = compare(original, restored);
  const find = restored.prepare("select 1 from messages where request_id = ? limit 1");
  const acceptedBefore = answers.filter(({ at, requestId }) => at < frozenAt && requestId !== null);
  const missing = acceptedBefore.filter(({ requestId }) => find.get(requestId) === undefined).length;
  original.close();
  restored.close();

  const results = {
    messagesBefore: Number(options.before),
    databaseMb: Math.round(sizeOf(join(backups, name, "heliograph.db")) / 1e6),
    backupMs: Math.round(doneAt - backupAt),
    restoreMs: Math.round(restoreMs),
    walMb: Math.round(walBytes / 1e6),
    before: percentiles(startedAt, frozenAt),
    during: percentiles(backupAt, doneAt),
    ...compared,
    requestsBefore: acceptedBefore.length,
    missing,
  };
  print(`load ${loadavg()[0]?.toFixed(1)}`);
  for (const [label, value] of Object.entries(results)) print(`${label}: ${JSON.stringify(value)}`);
  await record("backup", { rate: Number(options.rate), load: loadavg()[0], results: [results] });
  isWhole = compared.different === 0 && missing === 0;
} finally {
  await server.cleanup();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = isWhole ? 0 : 1;
