// Compares a store in long use with an empty one in the same run, alternating: accept, dispatch and the queries of the
// dashboard. Also measures start time and memory of a server with a long queue.
// Run: npm run bench:growth [-- --quick --engine sqlite,postgres --rows 10000000 --queued 1000000 --webhooks 10000
//   --templates 100000 --links 10000000 --seconds 3 --rounds 5 --messages 20000]
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freshDatabase, type FreshDatabase } from "../test/support/databases.ts";
import { startCluster, type Cluster } from "../test/support/postgres-cluster.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { callApi, portOf } from "./api-client.ts";
import { bulk, BULK_SETTINGS, readCounter, useSmsc } from "./bulk.ts";
import { median, print } from "./report.ts";
import { openBarePostgres, openBareSqlite, type BareStore } from "./bare-store.ts";
import { fillHistory, fillQueue, type Sizes } from "./fill-history.ts";
import { createSampleRecords } from "./filled-store.ts";
import type { Load, Measured } from "./generator.ts";
import { LoadProcess } from "./load-process.ts";
import { record } from "./record.ts";
import { sendRequest } from "./requests.ts";
import { Counter } from "./testbed.ts";

const { values: options } = parseArgs({
  options: {
    /** Smoke test with one hundredth of the rows. */
    quick: { type: "boolean", default: false },
    engine: { type: "string", default: "sqlite,postgres" },
    rows: { type: "string" },
    queued: { type: "string" },
    webhooks: { type: "string" },
    templates: { type: "string" },
    links: { type: "string" },
    seconds: { type: "string" },
    rounds: { type: "string" },
    /** Size of one bulk. */
    messages: { type: "string" },
  },
});
const optionOr = (given: string | undefined, normal: number, quick: number): number =>
  given === undefined ? (options.quick ? quick : normal) : Number(given);
const SIZES: Sizes = {
  rows: optionOr(options.rows, 10_000_000, 100_000),
  queued: optionOr(options.queued, 1_000_000, 10_000),
  webhooks: optionOr(options.webhooks, 10_000, 100),
  templates: optionOr(options.templates, 100_000, 1000),
  links: optionOr(options.links, 10_000_000, 100_000),
};
const SECONDS = optionOr(options.seconds, 3, 1);
const ROUNDS = optionOr(options.rounds, 5, 1);
const MESSAGES = optionOr(options.messages, 20_000, 2000);
const CONNECTIONS = 64;
const REQUESTS_PER_QUERY = 15;
/** Memory is sampled this long after a start: enough to fill the priority queues and to try the carrier. */
const MEMORY_WATCH_MS = options.quick ? 3000 : 20_000;

// Starts use the compile cache, as `npm start` does.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "..", "node_modules", ".cache", "compiled");

const startedAt = performance.now();
const printProgress = (line: string): void =>
  print(`  ${((performance.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${line}`);

/** A server with its own store, which can stop and restart. */
interface Side {
  server: ServerProcess;
  startAs(env: Record<string, string>): Promise<void>;
  stop(): Promise<void>;
  openBare(): Promise<BareStore>;
  remove(): Promise<void>;
}

async function createSide(engine: string, cluster: Cluster | null): Promise<Side> {
  const dataDir = await mkdtemp(join(tmpdir(), "heliograph-growth-"));
  const database: FreshDatabase | null = engine === "postgres" && cluster ? await freshDatabase(cluster.url) : null;
  const common = { dataDir, ...(database ? { databaseUrl: database.url } : {}) };
  const first = await startServer(common);
  const keys = { HELIOGRAPH_API_KEY: first.apiKey, HELIOGRAPH_TEST_API_KEY: first.testKey };
  const side: Side = {
    server: first,
    async startAs(env) {
      side.server = await startServer({ ...common, env: { ...keys, ...env } });
    },
    async stop() {
      await side.server.kill("SIGTERM");
    },
    openBare: async () => (database ? openBarePostgres(database.url) : openBareSqlite(join(dataDir, "heliograph.db"))),
    async remove() {
      await side.server.cleanup();
      await database?.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  return side;
}

/** Both sides get the same records; the full side gets copies of them. */
async function configure(server: ServerProcess, smscPort: number): Promise<void> {
  await useSmsc(server, smscPort, "all");
  await createSampleRecords(server);
}

const generator = new LoadProcess<Load, Measured>("generator.ts");

async function measureAccepts({ server }: Side, seconds = SECONDS): Promise<number> {
  const request = sendRequest(server.apiKey, "TRANS");
  const port = portOf(server);
  return (await generator.measure({ port, connections: CONNECTIONS, seconds, request })).perSecond;
}

const ENDED = /^heliograph_messages_ended_total\{[^}]*\} (\d+)/gm;

/** Sends a bulk and waits for its receipts, so that they do not run during the next measurement. */
async function measureDispatch({ server }: Side, smsc: Counter, messages = MESSAGES): Promise<number> {
  const before = await readCounter(server, ENDED);
  const perSecond = await bulk(server, smsc, messages);
  while ((await readCounter(server, ENDED)) < before + messages) await pause(50);
  return perSecond;
}

interface Pair {
  full: number;
  empty: number;
}

/** The two sides alternate, so that variations of the machine affect both. */
async function compareSides(
  name: string,
  { full, empty }: { full: Side; empty: Side },
  measure: (side: Side) => Promise<number>,
): Promise<{ ratio: number; ratios: number[] } & Pair> {
  const rounds: Pair[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // The order alternates too: work left over by the first side, such as a pending sync, affects both equally.
    const isFullFirst = round % 2 === 1;
    const first = await measure(isFullFirst ? full : empty);
    const second = await measure(isFullFirst ? empty : full);
    const pair = isFullFirst ? { full: first, empty: second } : { full: second, empty: first };
    rounds.push(pair);
    printProgress(
      `${name}, round ${round + 1}: ${(pair.full / pair.empty).toFixed(2)} (full ${pair.full.toFixed(0)}, empty ${pair.empty.toFixed(0)})`,
    );
  }
  const ratios = rounds.map((pair) => pair.full / pair.empty);
  return {
    ratio: median(ratios),
    ratios,
    full: median(rounds.map((pair) => pair.full)),
    empty: median(rounds.map((pair) => pair.empty)),
  };
}

/** Queries of the dashboard. */
const QUERIES = {
  "messages, first page": "/api/messages",
  "messages, failed ones": "/api/messages?status=Failed",
  "messages to one number": "/api/messages?recipient=15561000007",
  "overview, a day": "/api/stats",
  "overview, 90 days": `/api/stats?from=${Date.now() - 90 * 86_400_000}`,
  campaigns: "/api/campaigns",
  callbacks: "/api/callbacks",
  "callbacks that failed": "/api/callbacks?state=exhausted",
  links: "/api/links",
  templates: "/api/templates",
};
/** Queries an operator makes while a queue is long. */
const QUEUE_QUERIES = {
  system: "/api/system",
  metrics: "/metrics",
  "messages, pending": "/api/messages?status=Pending",
};

interface QueryResult extends Pair {
  name: string;
}

async function medianMs({ server }: Side, path: string): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < REQUESTS_PER_QUERY + 2; time += 1) {
    const sentAt = performance.now();
    await callApi(server, "GET", path);
    // The first two requests are the warm-up.
    if (time > 1) times.push(performance.now() - sentAt);
  }
  return median(times);
}

async function measureQueries(
  queries: Record<string, string>,
  { full, empty }: { full: Side; empty: Side },
): Promise<QueryResult[]> {
  const results: QueryResult[] = [];
  for (const [name, path] of Object.entries(queries)) {
    const result = { name, full: await medianMs(full, path), empty: await medianMs(empty, path) };
    results.push(result);
    printProgress(`${name}: ${result.full.toFixed(1)} ms (empty ${result.empty.toFixed(1)} ms)`);
  }
  return results;
}

const residentMB = ({ server }: Side): number =>
  (Number(execFileSync("ps", ["-o", "rss=", "-p", String(server.pid)], { encoding: "utf8" })) * 1024) / 1e6;

/** Highest resident memory within a period. */
async function peakMemoryMB(side: Side, watchMs: number): Promise<number> {
  let peak = 0;
  for (const until = performance.now() + watchMs; performance.now() < until; await pause(250))
    peak = Math.max(peak, residentMB(side));
  return peak;
}

/** From the start of the process with default settings until it is ready. */
async function startMs(side: Side): Promise<number> {
  const launchedAt = performance.now();
  await side.startAs({});
  return performance.now() - launchedAt;
}

interface Result {
  engine: string;
  acceptRatio: number;
  dispatchRatio: number;
  /** With the queue and nothing else in the store. */
  queuedMemoryMB: number;
  startMs: number;
  accept: Pair & { ratios: number[] };
  dispatch: Pair & { ratios: number[] };
  /** With the role api before the first request: the memory of the configuration alone. */
  idleMemoryMB: Pair;
  /** After the bulks. */
  workedMemoryMB: Pair;
  /** With history, records and queue, compared with an empty store. */
  fullMemoryMB: number;
  emptyMemoryMB: number;
  emptyStartMs: number;
  /** Medians in ms. */
  queries: QueryResult[];
  queriesWithQueue: QueryResult[];
}

async function compare(engine: string, cluster: Cluster | null): Promise<Result> {
  const smsc = new Counter("counting-smsc.ts");
  const [smscPort] = (await once(smsc.child, "message")) as [number];
  const sides = { full: await createSide(engine, cluster), empty: await createSide(engine, cluster) };
  const forBoth = async (act: (side: Side) => Promise<void>): Promise<void> => {
    await act(sides.full);
    await act(sides.empty);
  };
  const fillQueueOf = async (side: Side): Promise<void> => {
    const queueing = await side.openBare();
    await fillQueue(queueing, SIZES.queued, (line) => printProgress(`${engine}: ${line}`));
    await queueing.close();
  };
  try {
    await forBoth((side) => configure(side.server, smscPort));
    await forBoth((side) => side.stop());
    const filling = await sides.full.openBare();
    await fillHistory(filling, SIZES, (line) => printProgress(`${engine}: ${line}`));
    await filling.close();

    await forBoth((side) => side.startAs({ ...BULK_SETTINGS, HELIOGRAPH_ROLES: "api" }));
    await pause(1000);
    const idleMemoryMB = { full: residentMB(sides.full), empty: residentMB(sides.empty) };
    await forBoth(async (side) => void (await measureAccepts(side, 1)));
    const accept = await compareSides(`${engine}, accepts per s`, sides, (side) => measureAccepts(side));
    await forBoth((side) => side.stop());

    // Discard the messages accepted so far: the bulks need the same conditions on both sides.
    await forBoth(async (side) => {
      const bare = await side.openBare();
      await bare.run("delete from messages where state = 'accepted'");
      await bare.close();
      await side.startAs(BULK_SETTINGS);
    });
    // Warm-up: a server that sends campaigns has been running for longer than its JIT compilation takes.
    await forBoth(async (side) => void (await measureDispatch(side, smsc)));
    const dispatch = await compareSides(`${engine}, messages per s to the SMSC`, sides, (side) =>
      measureDispatch(side, smsc),
    );
    const workedMemoryMB = { full: residentMB(sides.full), empty: residentMB(sides.empty) };
    const queries = await measureQueries(QUERIES, sides);
    await forBoth((side) => side.stop());

    // The carrier is down from here on, so the queue stays.
    smsc.child.disconnect();
    await fillQueueOf(sides.full);
    const starts: Pair[] = [];
    for (let round = 0; round < Math.min(3, ROUNDS); round += 1) {
      starts.push({ full: await startMs(sides.full), empty: await startMs(sides.empty) });
      printProgress(
        `${engine}, start ${round + 1}: ${starts.at(-1)?.full.toFixed(0)} ms with the queue, ${starts.at(-1)?.empty.toFixed(0)} ms empty`,
      );
      await forBoth((side) => side.stop());
    }
    await forBoth((side) => side.startAs({}));
    const [fullMemoryMB, emptyMemoryMB] = await Promise.all([
      peakMemoryMB(sides.full, MEMORY_WATCH_MS),
      peakMemoryMB(sides.empty, MEMORY_WATCH_MS),
    ]);
    printProgress(
      `${engine}, memory: ${fullMemoryMB.toFixed(0)} MB with history and queue, ${emptyMemoryMB.toFixed(0)} MB empty`,
    );
    const queriesWithQueue = await measureQueries(QUEUE_QUERIES, sides);
    await forBoth((side) => side.stop());

    // The queue alone: templates and webhooks are kept in memory by design, queued messages are not.
    await fillQueueOf(sides.empty);
    await sides.empty.startAs({});
    const queuedMemoryMB = await peakMemoryMB(sides.empty, MEMORY_WATCH_MS);
    printProgress(`${engine}, memory: ${queuedMemoryMB.toFixed(0)} MB with the queue alone`);
    return {
      engine,
      acceptRatio: accept.ratio,
      dispatchRatio: dispatch.ratio,
      queuedMemoryMB,
      startMs: median(starts.map(({ full }) => full)),
      accept,
      dispatch,
      idleMemoryMB,
      workedMemoryMB,
      fullMemoryMB,
      emptyMemoryMB,
      emptyStartMs: median(starts.map(({ empty }) => empty)),
      queries,
      queriesWithQueue,
    };
  } finally {
    if (smsc.child.connected) smsc.child.disconnect();
    await forBoth((side) => side.remove());
  }
}

const engines = options.engine.split(",");
const cluster = engines.includes("postgres") ? await startCluster() : null;
const results: Result[] = [];
for (const engine of engines) results.push(await compare(engine, cluster));
generator.end();
await cluster?.stop();

print("\naccept, full to empty   dispatch, full to empty   memory with the queue   start with the queue");
for (const result of results) {
  const cells = [
    result.acceptRatio.toFixed(2).padStart(21),
    result.dispatchRatio.toFixed(2).padStart(25),
    `${result.queuedMemoryMB.toFixed(0)} MB`.padStart(23),
    `${result.startMs.toFixed(0)} ms`.padStart(22),
  ];
  print(`${cells.join(" ")}   ${result.engine}`);
}
await record("growth", { ...SIZES, seconds: SECONDS, rounds: ROUNDS, messages: MESSAGES, results });
