// Rate at which retention deletes messages, and the latency of accepts at a constant rate, in turn without retention and
// with it. Afterwards the file must have become smaller.
// Run: npm run bench:retention [-- --messages 1000000 --rate 1000 --seconds 12 --rounds 3 --engine sqlite,postgres]
import { mkdtemp, rm, stat } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { idFloor } from "../src/lib/ids.ts";
import type { ServerProcess } from "../test/support/server-process.ts";
import { callApi } from "./api-client.ts";
import { openFilledStore } from "./filled-store.ts";
import { Latencies } from "./latencies.ts";
import { record } from "./record.ts";
import { median, print } from "./report.ts";
import { TEXT } from "./requests.ts";

const { values: options } = parseArgs({
  options: {
    /** Messages of the filled store, over 90 days. */
    messages: { type: "string", default: "1000000" },
    /** Accepted messages per second. */
    rate: { type: "string", default: "1000" },
    seconds: { type: "string", default: "12" },
    rounds: { type: "string", default: "3" },
    engine: { type: "string", default: "sqlite,postgres" },
  },
});
const MESSAGES = Number(options.messages);
const RATE = Number(options.rate);
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);
const DAY_MS = 86_400_000;
/** Days of the filled store that a round with retention deletes: more than it manages. */
const DAYS_A_ROUND = Math.floor(80 / ROUNDS);
const KEEP_ALL_DAYS = 400;
const POLL_MS = 500;
/** The pages are freed after the messages, some at a time. */
const STAYS_MS = 10_000;
/** Until the server is warm. */
const WARM_UP_MS = 2000;

/** Counts of the database, read beside the server. */
interface Counter {
  /** Messages with ids below a floor. */
  below(floor: string): Promise<number>;
  close(): Promise<void>;
}

function countSqlite(dataDir: string): Counter {
  const db = new DatabaseSync(join(dataDir, "heliograph.db"), { readOnly: true });
  const count = db.prepare("select count(*) as count from messages where account_id = 1 and request_id < ?");
  return {
    below: (floor) => Promise.resolve(Number(count.get(floor)?.["count"])),
    close: () => Promise.resolve(db.close()),
  };
}

async function countPostgres(url: string): Promise<Counter> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const text = "select count(*)::int as count from messages where account_id = 1 and request_id < $1";
  return {
    below: async (floor) => (await client.query<{ count: number }>(text, [floor])).rows[0]?.count ?? 0,
    close: () => client.end(),
  };
}

/** Sends single messages at a constant rate, each at its due time (open loop), and returns the latencies of the answers. */
async function accept(server: ServerProcess, seconds: number): Promise<Latencies> {
  const latencies = new Latencies();
  const headers = { apikey: server.apiKey, "content-type": "application/json" };
  const running = new Set<Promise<void>>();
  const startedAt = performance.now();
  for (let sent = 0; sent < RATE * seconds; sent += 1) {
    const dueAt = startedAt + (sent * 1000) / RATE;
    const early = dueAt - performance.now();
    if (early > 1) await pause(early);
    const body = JSON.stringify({ sender: "HELIOG", to: String(12_025_550_000 + sent), text: TEXT, type: "TRANS" });
    const request = fetch(`${server.baseUrl}/v1/sms`, { method: "POST", headers, body }).then(async (response) => {
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`a send got ${response.status}`);
      latencies.add(performance.now() - dueAt);
    });
    running.add(request);
    void request.finally(() => running.delete(request));
  }
  await Promise.all(running);
  return latencies;
}

/** Messages deleted per second, from the first deletion that is seen to the last. */
async function watchDeletions(counter: Counter, floor: string, seconds: number): Promise<number> {
  const samples = [{ at: performance.now(), left: await counter.below(floor) }];
  for (const endsAt = performance.now() + seconds * 1000; performance.now() < endsAt; await pause(POLL_MS))
    samples.push({ at: performance.now(), left: await counter.below(floor) });
  const changes = samples.filter(({ left }, index) => left !== samples[index - 1]?.left).slice(1);
  const [first, last] = [changes[0], changes.at(-1)];
  if (first === undefined || last === undefined || last.at === first.at) return 0;
  return ((first.left - last.left) * 1000) / (last.at - first.at);
}

/** Reads a value until it stays, and returns it. */
async function untilStays<T>(read: () => Promise<T>): Promise<T> {
  for (let value = await read(); ;) {
    await pause(STAYS_MS);
    const next = await read();
    if (next === value) return value;
    value = next;
  }
}

interface Phase {
  p50Ms: number;
  p99Ms: number;
}

const figures = (latencies: Latencies): Phase => ({ p50Ms: latencies.quantile(0.5), p99Ms: latencies.quantile(0.99) });

interface Result {
  engine: string;
  deletedPerSecond: number;
  without: Phase;
  withRetention: Phase;
  bytesBefore: number | null;
  bytesAfter: number | null;
}

async function measure(folder: string, engine: string): Promise<Result> {
  const store = await openFilledStore(folder, engine, MESSAGES, (line) => print(`  ${engine}: ${line}`));
  const { server: filled, firstAt } = store;
  const { dataDir } = filled;
  const file = join(dataDir, "heliograph.db");
  const bytesOf = async (): Promise<number | null> => (engine === "sqlite" ? (await stat(file)).size : null);
  const { databaseUrl } = store;
  const counter = databaseUrl === undefined ? countSqlite(dataDir) : await countPostgres(databaseUrl);
  const bytesBefore = await bytesOf();
  const phases: { without: Phase; withRetention: Phase; deletedPerSecond: number }[] = [];
  let server = filled;
  /** A pass begins when a server starts. */
  const restartWith = async (days: number): Promise<void> => {
    await callApi(server, "PATCH", "/api/account", { keepTextsDays: days, keepMessagesDays: days });
    await server.kill("SIGTERM");
    server = await server.restart();
    await pause(WARM_UP_MS);
  };
  for (let round = 1; round <= ROUNDS; round += 1) {
    await restartWith(KEEP_ALL_DAYS);
    const without = figures(await accept(server, SECONDS));
    const cutoff = firstAt + round * DAYS_A_ROUND * DAY_MS;
    await restartWith(Math.ceil((Date.now() - cutoff) / DAY_MS));
    const [deletedPerSecond, withRetention] = await Promise.all([
      watchDeletions(counter, idFloor(cutoff), SECONDS),
      accept(server, SECONDS).then(figures),
    ]);
    phases.push({ without, withRetention, deletedPerSecond });
    print(
      `  ${engine} round ${round}: ${deletedPerSecond.toFixed(0)} deleted per second; accepts without and with retention: p50 ${without.p50Ms.toFixed(1)}, ${withRetention.p50Ms.toFixed(1)} ms, p99 ${without.p99Ms.toFixed(1)}, ${withRetention.p99Ms.toFixed(1)} ms`,
    );
  }
  const floor = idFloor(firstAt + ROUNDS * DAYS_A_ROUND * DAY_MS);
  await untilStays(() => counter.below(floor));
  const bytesAfter = await untilStays(bytesOf);
  await counter.close();
  await server.kill("SIGTERM");
  await store.close();
  const over = (value: (phase: (typeof phases)[number]) => number): number => median(phases.map(value));
  return {
    engine,
    deletedPerSecond: over((phase) => phase.deletedPerSecond),
    without: { p50Ms: over(({ without }) => without.p50Ms), p99Ms: over(({ without }) => without.p99Ms) },
    withRetention: {
      p50Ms: over(({ withRetention }) => withRetention.p50Ms),
      p99Ms: over(({ withRetention }) => withRetention.p99Ms),
    },
    bytesBefore,
    bytesAfter,
  };
}

const folder = await mkdtemp(join(tmpdir(), "heliograph-retention-"));
const results: Result[] = [];
try {
  for (const engine of options.engine.split(",")) results.push(await measure(folder, engine));
} finally {
  await rm(folder, { recursive: true, force: true });
}
await record("retention", { messages: MESSAGES, rate: RATE, load: loadavg()[0], results });
print("\n            deleted/s   p50 without, with (ms)   p99 without, with (ms)   file before, after (MB)");
for (const { engine, deletedPerSecond, without, withRetention, bytesBefore, bytesAfter } of results)
  print(
    `${engine.padEnd(10)}${deletedPerSecond.toFixed(0).padStart(11)}   ${without.p50Ms.toFixed(1)}, ${withRetention.p50Ms.toFixed(1)}   ${without.p99Ms.toFixed(1)}, ${withRetention.p99Ms.toFixed(1)}   ${bytesBefore === null ? "–" : `${(bytesBefore / 1e6).toFixed(0)}, ${((bytesAfter ?? 0) / 1e6).toFixed(0)}`}`,
  );
