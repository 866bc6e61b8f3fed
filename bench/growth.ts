// What a store that has been used for long costs beside an empty one in the same run, turn by turn: accepting, sending, the
// pages of the dashboard; and how fast a server with a long queue starts, and how much memory it takes.
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
import { ask, portOf } from "./ask.ts";
import { bulk, BULK_SETTINGS, counted, useSmsc } from "./bulk.ts";
import { median, say } from "./figures.ts";
import {
  fillHistory,
  fillQueue,
  openBarePostgres,
  openBareSqlite,
  type BareStore,
  type Sizes,
} from "./fill-history.ts";
import type { Load, Measured } from "./generator.ts";
import { LoadProcess } from "./load-process.ts";
import { record } from "./record.ts";
import { sendRequest } from "./requests.ts";
import { Counter } from "./walk.ts";

const { values: options } = parseArgs({
  options: {
    /** A hundredth of it, to see that everything runs. */
    quick: { type: "boolean", default: false },
    engine: { type: "string", default: "sqlite,postgres" },
    rows: { type: "string" },
    queued: { type: "string" },
    webhooks: { type: "string" },
    templates: { type: "string" },
    links: { type: "string" },
    seconds: { type: "string" },
    rounds: { type: "string" },
    /** In one bulk that is sent. */
    messages: { type: "string" },
  },
});
const either = (given: string | undefined, usual: number, quick: number): number =>
  given === undefined ? (options.quick ? quick : usual) : Number(given);
const SIZES: Sizes = {
  rows: either(options.rows, 10_000_000, 100_000),
  queued: either(options.queued, 1_000_000, 10_000),
  webhooks: either(options.webhooks, 10_000, 100),
  templates: either(options.templates, 100_000, 1000),
  links: either(options.links, 10_000_000, 100_000),
};
const SECONDS = either(options.seconds, 3, 1);
const ROUNDS = either(options.rounds, 5, 1);
const MESSAGES = either(options.messages, 20_000, 2000);
const CONNECTIONS = 64;
const ASKED_TIMES = 15;
/** How long a server with a queue is looked at: long enough for its lanes to fill and its carrier to be tried. */
const QUEUE_WATCHED_MS = options.quick ? 3000 : 20_000;

// A start is measured as `npm start` makes it: what was compiled once is not compiled again.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "..", "node_modules", ".cache", "compiled");

const startedAt = performance.now();
const tell = (line: string): void =>
  say(`  ${((performance.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${line}`);

/** A server with its own store, which stops and starts again. */
interface Side {
  server: ServerProcess;
  startAs(env: Record<string, string>): Promise<void>;
  stop(): Promise<void>;
  openBare(): Promise<BareStore>;
  remove(): Promise<void>;
}

async function makeSide(engine: string, cluster: Cluster | null): Promise<Side> {
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

/** The same records on both sides; the full one gets more like them. */
async function configure(server: ServerProcess, smscPort: number): Promise<void> {
  await useSmsc(server, smscPort, "all");
  await ask(server, "PATCH", "/api/account", { keepTextsDays: 400 });
  await ask(server, "POST", "/api/templates", { name: "bench", channel: "sms", text: "Your order {1} is on its way." });
  const webhook = { name: "bench", url: "https://shop.example/events", channel: "sms", events: ["user_message"] };
  const { id } = await ask<{ id: string }>(server, "POST", "/api/webhooks", webhook);
  const dlr = { name: "bench", url: "https://shop.example/reports" };
  const { id: dlrId } = await ask<{ id: string }>(server, "POST", "/api/dlr-configs", dlr);
  // They are there to be copied; in this account nobody wants to know.
  await ask(server, "PATCH", `/api/webhooks/${id}`, { enabled: false });
  await ask(server, "PATCH", `/api/dlr-configs/${dlrId}`, { enabled: false });
}

const generator = new LoadProcess<Load, Measured>("generator.ts");

async function accepts({ server }: Side, seconds = SECONDS): Promise<number> {
  const request = sendRequest(server.apiKey, "TRANS");
  const port = portOf(server);
  return (await generator.measure({ port, connections: CONNECTIONS, seconds, request })).perSecond;
}

const ENDED = /^heliograph_messages_ended_total\{[^}]*\} (\d+)/gm;

/** A bulk on its way to the SMSC; its receipts are waited for, so that they are nobody else's turn. */
async function dispatches({ server }: Side, smsc: Counter, messages = MESSAGES): Promise<number> {
  const before = await counted(server, ENDED);
  const perSecond = await bulk(server, smsc, messages);
  while ((await counted(server, ENDED)) < before + messages) await pause(50);
  return perSecond;
}

interface Pair {
  full: number;
  empty: number;
}

/** Turn by turn, so that both meet the same moods of the machine. */
async function turns(
  name: string,
  { full, empty }: { full: Side; empty: Side },
  measure: (side: Side) => Promise<number>,
): Promise<{ ratio: number; ratios: number[] } & Pair> {
  const rounds: Pair[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // Who begins changes: whatever the first leaves behind, such as a file to be synced, falls on both.
    const isFullFirst = round % 2 === 1;
    const first = await measure(isFullFirst ? full : empty);
    const second = await measure(isFullFirst ? empty : full);
    const pair = isFullFirst ? { full: first, empty: second } : { full: second, empty: first };
    rounds.push(pair);
    tell(
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

/** What the dashboard asks for. */
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
/** What is asked of a server with a queue by whoever watches it. */
const QUERIES_OF_QUEUE = {
  system: "/api/system",
  metrics: "/metrics",
  "messages, pending": "/api/messages?status=Pending",
};

interface QueryResult extends Pair {
  name: string;
}

async function medianMs({ server }: Side, path: string): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < ASKED_TIMES + 2; time += 1) {
    const askedAt = performance.now();
    await ask(server, "GET", path);
    // The first two warm up.
    if (time > 1) times.push(performance.now() - askedAt);
  }
  return median(times);
}

async function askQueries(
  queries: Record<string, string>,
  { full, empty }: { full: Side; empty: Side },
): Promise<QueryResult[]> {
  const results: QueryResult[] = [];
  for (const [name, path] of Object.entries(queries)) {
    const result = { name, full: await medianMs(full, path), empty: await medianMs(empty, path) };
    results.push(result);
    tell(`${name}: ${result.full.toFixed(1)} ms (empty ${result.empty.toFixed(1)} ms)`);
  }
  return results;
}

const residentMB = ({ server }: Side): number =>
  (Number(execFileSync("ps", ["-o", "rss=", "-p", String(server.pid)], { encoding: "utf8" })) * 1024) / 1e6;

/** The most that was seen within a while. */
async function watchedMB(side: Side, watchMs: number): Promise<number> {
  let most = 0;
  for (const until = performance.now() + watchMs; performance.now() < until; await pause(250))
    most = Math.max(most, residentMB(side));
  return most;
}

/** From the start of the process, with the settings that everybody has, until it says that it is ready. */
async function startMs(side: Side): Promise<number> {
  const begunAt = performance.now();
  await side.startAs({});
  return performance.now() - begunAt;
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
  /** With the role api, before the first request: what configuration alone takes. */
  idleMemoryMB: Pair;
  /** After the bulks. */
  workedMemoryMB: Pair;
  /** With the history, the records and the queue; and with nothing. */
  fullMemoryMB: number;
  emptyMemoryMB: number;
  emptyStartMs: number;
  /** Medians, in ms. */
  queries: QueryResult[];
  queriesWithQueue: QueryResult[];
}

async function compare(engine: string, cluster: Cluster | null): Promise<Result> {
  const smsc = new Counter("counting-smsc.ts");
  const [smscPort] = (await once(smsc.child, "message")) as [number];
  const sides = { full: await makeSide(engine, cluster), empty: await makeSide(engine, cluster) };
  const each = async (act: (side: Side) => Promise<void>): Promise<void> => {
    await act(sides.full);
    await act(sides.empty);
  };
  const fillQueueOf = async (side: Side): Promise<void> => {
    const queueing = await side.openBare();
    await fillQueue(queueing, SIZES.queued, (line) => tell(`${engine}: ${line}`));
    await queueing.close();
  };
  try {
    await each((side) => configure(side.server, smscPort));
    await each((side) => side.stop());
    const filling = await sides.full.openBare();
    await fillHistory(filling, SIZES, (line) => tell(`${engine}: ${line}`));
    await filling.close();

    await each((side) => side.startAs({ ...BULK_SETTINGS, HELIOGRAPH_ROLES: "api" }));
    await pause(1000);
    const idleMemoryMB = { full: residentMB(sides.full), empty: residentMB(sides.empty) };
    await each(async (side) => void (await accepts(side, 1)));
    const accept = await turns(`${engine}, accepts per s`, sides, (side) => accepts(side));
    await each((side) => side.stop());

    // Nobody sent what was accepted until now, and what the bulks meet must be the same on both sides.
    await each(async (side) => {
      const bare = await side.openBare();
      await bare.run("delete from messages where state = 'accepted'");
      await bare.close();
      await side.startAs(BULK_SETTINGS);
    });
    // A server that sends campaigns has been running for longer than it takes to be compiled.
    await each(async (side) => void (await dispatches(side, smsc)));
    const dispatch = await turns(`${engine}, messages per s to the SMSC`, sides, (side) => dispatches(side, smsc));
    const workedMemoryMB = { full: residentMB(sides.full), empty: residentMB(sides.empty) };
    const queries = await askQueries(QUERIES, sides);
    await each((side) => side.stop());

    // From here on the carrier is down, and what waits for it stays.
    smsc.child.disconnect();
    await fillQueueOf(sides.full);
    const starts: Pair[] = [];
    for (let round = 0; round < Math.min(3, ROUNDS); round += 1) {
      starts.push({ full: await startMs(sides.full), empty: await startMs(sides.empty) });
      tell(
        `${engine}, start ${round + 1}: ${starts.at(-1)?.full.toFixed(0)} ms with the queue, ${starts.at(-1)?.empty.toFixed(0)} ms empty`,
      );
      await each((side) => side.stop());
    }
    await each((side) => side.startAs({}));
    const [fullMemoryMB, emptyMemoryMB] = await Promise.all([
      watchedMB(sides.full, QUEUE_WATCHED_MS),
      watchedMB(sides.empty, QUEUE_WATCHED_MS),
    ]);
    tell(`${engine}, memory: ${fullMemoryMB.toFixed(0)} MB with all of it, ${emptyMemoryMB.toFixed(0)} MB empty`);
    const queriesWithQueue = await askQueries(QUERIES_OF_QUEUE, sides);
    await each((side) => side.stop());

    // The queue alone: templates and webhooks are in memory by design, waiting messages are not.
    await fillQueueOf(sides.empty);
    await sides.empty.startAs({});
    const queuedMemoryMB = await watchedMB(sides.empty, QUEUE_WATCHED_MS);
    tell(`${engine}, memory: ${queuedMemoryMB.toFixed(0)} MB with the queue alone`);
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
    await each((side) => side.remove());
  }
}

const engines = options.engine.split(",");
const cluster = engines.includes("postgres") ? await startCluster() : null;
const results: Result[] = [];
for (const engine of engines) results.push(await compare(engine, cluster));
generator.end();
await cluster?.stop();

say("\naccept, full to empty   dispatch, full to empty   memory with the queue   start with the queue");
for (const result of results) {
  const cells = [
    result.acceptRatio.toFixed(2).padStart(21),
    result.dispatchRatio.toFixed(2).padStart(25),
    `${result.queuedMemoryMB.toFixed(0)} MB`.padStart(23),
    `${result.startMs.toFixed(0)} ms`.padStart(22),
  ];
  say(`${cells.join(" ")}   ${result.engine}`);
}
await record("growth", { ...SIZES, seconds: SECONDS, rounds: ROUNDS, messages: MESSAGES, results });
