// An upgrade of a store that an older commit has filled: the older server fills it, stops and gives way to this one; on
// PostgreSQL both serve side by side if the migrations allow it. Requests arrive at a constant rate all the time. Measures the
// start, the migrations, the work after them, what callers notice and the memory, and compares all rows with those before.
// Run: npm run bench:upgrade [-- --quick --engine sqlite,postgres --from COMMIT --messages 1000000 --rate 100]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { idFloor } from "../src/lib/ids.ts";
import { MIGRATIONS } from "../src/store/migrations/all.ts";
import { extractCommit, OLDER } from "../test/support/older-release.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { copyPostgresRows, copySqliteRows, type ComparedTable } from "../test/support/row-copy.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { openSink, type Sink } from "../test/support/sink.ts";
import { callApi, portOf } from "./api-client.ts";
import { createSampleRecords } from "./filled-store.ts";
import { Latencies } from "./latencies.ts";
import { record } from "./record.ts";
import { print } from "./report.ts";

const { values: options } = parseArgs({
  options: {
    /** Smoke test with a few thousand messages. */
    quick: { type: "boolean", default: false },
    engine: { type: "string", default: "sqlite,postgres" },
    /** The commit to upgrade from. */
    from: { type: "string", default: OLDER },
    messages: { type: "string" },
    /** Requests per second. */
    rate: { type: "string", default: "100" },
  },
});
const MESSAGES = Number(options.messages ?? (options.quick ? 20_000 : 1_000_000));
const RATE = Number(options.rate);
/** Messages with waiting callbacks, and messages that are due after the upgrade. */
const WAITING = 1000;
const SCHEDULED_AFTER_MS = options.quick ? 15_000 : 50_000;
const BASELINE_MS = options.quick ? 2000 : 10_000;
const AFTERWARDS_MS = options.quick ? 2000 : 10_000;
const POLL_MS = 20;
/** A block of the search index. */
const BLOCK = 1024;

// Starts use the compile cache, as `npm start` does.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "..", "node_modules", ".cache", "compiled");

const startedAt = performance.now();
const printProgress = (line: string): void =>
  print(`  ${((performance.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${line}`);

interface Database {
  url: string | null;
  /** Runs on a connection of its own. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

async function openDatabase(dataDir: string, url: string | null): Promise<Database> {
  if (url === null) {
    const db = new DatabaseSync(join(dataDir, "heliograph.db"), { readOnly: true, timeout: 10_000 });
    return { url, query: async (sql) => db.prepare(sql).all(), close: async () => db.close() };
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  return { url, query: async (sql) => (await client.query(sql)).rows as never, close: () => client.end() };
}

/** Requests at a constant rate to the nodes that serve, each at its due time (open loop). */
class Customer {
  nodes: ServerProcess[] = [];
  readonly accepted: string[] = [];
  #answers: { at: number; ms: number; isAccepted: boolean }[] = [];
  #sent = 0;
  #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #loop: Promise<void> = Promise.resolve();

  start(): void {
    this.#stopping = new AbortController();
    this.#loop = this.#run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    await this.untilAnswered();
  }

  async untilAnswered(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (let dueAt = performance.now(); !signal.aborted; dueAt += 1000 / RATE) {
      const early = dueAt - performance.now();
      if (early > 0) await pause(early);
      const node = this.nodes[this.#sent % Math.max(1, this.nodes.length)];
      this.#sent += 1;
      const request = this.#send(node, dueAt).finally(() => this.#running.delete(request));
      this.#running.add(request);
    }
  }

  async #send(node: ServerProcess | undefined, dueAt: number): Promise<void> {
    const id = node ? await sendMessage(node, numberOf(this.#sent)).catch(() => null) : null;
    const at = performance.now();
    this.#answers.push({ at, ms: at - dueAt, isAccepted: id !== null });
    if (id !== null) this.accepted.push(id);
  }

  /** The first acceptance after a time. */
  firstAfter(time: number): number {
    return Math.min(...this.#answers.filter(({ at, isAccepted }) => isAccepted && at > time).map(({ at }) => at));
  }

  figures(from: number, to: number): { p50Ms: number; p99Ms: number; longestGapMs: number; failed: number } {
    const chosen = this.#answers.filter(({ at }) => at >= from && at < to).toSorted((a, b) => a.at - b.at);
    const accepted = chosen.filter(({ isAccepted }) => isAccepted);
    const times = new Latencies();
    for (const { ms } of accepted) times.add(ms);
    const ends = [from, ...accepted.map(({ at }) => at), to];
    return {
      p50Ms: rounded(times.quantile(0.5)),
      p99Ms: rounded(times.quantile(0.99)),
      longestGapMs: Math.round(Math.max(...ends.slice(1).map((at, index) => at - (ends[index] ?? at)))),
      failed: chosen.length - accepted.length,
    };
  }
}

/** The simulator delivers messages to these: numbers that end in 9000 and more have other outcomes. */
const numberOf = (index: number): string => `1777${100 + Math.floor(index / 8000)}${1000 + (index % 8000)}`;

const rounded = (value: number): number => Number(value.toPrecision(3));

async function sendMessage(node: ServerProcess, to: string | string[], more: object = {}): Promise<string> {
  const body = { sender: "HELIOG", to, text: "Your table is ready.", type: "TRANS", ...more };
  return (await callApi<{ id: string }>(node, "POST", "/v1/sms", body)).id;
}

/** Fills the store with the programs of the older commit, which know its schema. */
async function fill(source: string, dataDir: string, url: string | null): Promise<void> {
  const bench = (name: string): string => JSON.stringify(join(source, "bench", name));
  const opens = existsSync(join(source, "bench/bare-store.ts")) ? "bare-store.ts" : "fill-history.ts";
  const sizes = { rows: MESSAGES, links: Math.ceil(MESSAGES / 10), webhooks: 100, templates: 1000 };
  const script = `
    const progress = (line) => console.log("         " + line);
    const { openBareSqlite, openBarePostgres } = await import(${bench(opens)});
    const { fillHistory } = await import(${bench("fill-history.ts")});
    const store = await (${url === null ? `openBareSqlite(${JSON.stringify(join(dataDir, "heliograph.db"))})` : `openBarePostgres(${JSON.stringify(url)})`});
    await fillHistory(store, ${JSON.stringify(sizes)}, progress);
    ${existsSync(join(source, "bench/fill-lists.ts")) ? `await (await import(${bench("fill-lists.ts")})).fillLists(store, ${MESSAGES}, progress);` : ""}
    await store.close();`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`filling the store ended with ${code}`);
}

/** The highest resident memory of a process so far, in MB; 0 where the system has no /proc. */
async function peakMemoryMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Math.round((Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024) / 1e6);
}

async function until(isTrue: () => Promise<boolean>, everyMs = 200): Promise<void> {
  while (!(await isTrue())) await pause(everyMs);
}

/** Watches the migrations and the search index, on a connection of its own. */
class Progress {
  readonly #database: Database;
  readonly #applied = new Map<string, number>();
  #watching: Promise<void> = Promise.resolve();

  constructor(database: Database) {
    this.#database = database;
  }

  async start(): Promise<void> {
    const before = new Set(await this.#names());
    this.#watching = this.#watch(before);
  }

  async #names(): Promise<string[]> {
    return (await this.#database.query("select name from migrations")).map(({ name }) => String(name));
  }

  async #watch(before: ReadonlySet<string>): Promise<void> {
    const pending = MIGRATIONS.filter(({ name }) => !before.has(name));
    for (; this.#applied.size < pending.length; await pause(POLL_MS))
      for (const name of await this.#names())
        if (!before.has(name) && !this.#applied.has(name)) this.#applied.set(name, performance.now());
  }

  /** Time of each migration, from the end of the one before it; that of the first is from the start of the process. */
  async migrations(startAt: number): Promise<{ name: string; ms: number; endedMs: number }[]> {
    await this.#watching;
    let last = startAt;
    return [...this.#applied].map(([name, endedAt]) => {
      const ms = Math.round(endedAt - last);
      last = endedAt;
      return { name, ms, endedMs: Math.round(endedAt - startAt) };
    });
  }

  /** Waits until the search index has all messages of the copy, and no block waits for its summary. */
  async untilIndexed(messages: ReadonlyMap<number, number>): Promise<void> {
    await until(async () => {
      const blocks = await this.#database.query(
        "select account_id, sum(messages) as messages, sum(case when firm_after = 0 then 1 else 0 end) as due from search_blocks group by account_id",
      );
      const of = (account: number): Record<string, unknown> | undefined =>
        blocks.find((row) => Number(row["account_id"]) === account);
      return [...messages].every(([account, count]) => {
        const row = of(account);
        return Number(row?.["messages"] ?? 0) > count - BLOCK && Number(row?.["due"] ?? 0) === 0;
      });
    });
  }
}

interface Result {
  engine: string;
  from: string;
  messages: number;
  databaseMb: number;
  sideBySide: boolean;
  migrations: { name: string; ms: number; endedMs: number }[];
  /** From the start of the new process. */
  firstAcceptMs: number;
  migratedMs: number;
  /** Starts that found the database locked or in use. */
  repeatedStarts: number;
  indexedMs: number;
  /** From the start of this release once more, without migrations, until it is ready. */
  restartMs: number;
  /** The stop of the older server. */
  stopMs: number;
  pauseMs: number;
  older: ReturnType<Customer["figures"]>;
  during: ReturnType<Customer["figures"]>;
  afterwards: ReturnType<Customer["figures"]>;
  olderPeakMb: number;
  newerPeakMb: number;
  rows: number;
  tables: ComparedTable[];
  missing: number;
  changed: number;
  accepted: number;
  lost: number;
  waitingCallbacks: number;
  undeliveredCallbacks: number;
  unsentMessages: number;
}

async function upgrade(engine: string, source: string, folder: string, sink: Sink): Promise<Result> {
  const cluster = engine === "postgres" ? await startCluster() : null;
  const url = cluster?.url ?? null;
  const dataDir = join(folder, engine);
  const customer = new Customer();
  const servers: ServerProcess[] = [];
  const common = { dataDir, ...(url === null ? {} : { databaseUrl: url }) };
  const olderEntry = join(source, "src/main.ts");
  try {
    printProgress(`${engine}: filling`);
    let older = await startServer({ ...common, entry: olderEntry });
    servers.push(older);
    await createSampleRecords(older);
    await older.kill("SIGTERM");
    await fill(source, dataDir, url);
    older = await older.restart();
    servers.push(older);

    // The customer's endpoint is down until the new release runs, so that callbacks wait.
    sink.respondWith((_request, response) => response.writeHead(500).end());
    const database = await openDatabase(dataDir, url);
    const liveFrom = idFloor(Date.now());
    await callApi(older, "PATCH", "/api/account", { sameText: null });
    const reports = { name: "upgrade", url: sink.url };
    const { id: reportsId } = await callApi<{ id: string }>(older, "POST", "/api/dlr-configs", reports);
    const waitingSince = new Date().toISOString();
    await sendMessage(
      older,
      Array.from({ length: WAITING }, (_, index) => `1666${1_000_000 + index}`),
    );
    const sendAt = new Date(Date.now() + SCHEDULED_AFTER_MS + BASELINE_MS).toISOString();
    await sendMessage(
      older,
      Array.from({ length: WAITING }, (_, index) => `1667${1_000_000 + index}`),
      { sendAt },
    );

    const unfinished = `select count(*) as count from messages where account_id = 1 and request_id >= '${liveFrom}' and state in
      ('accepted', 'submitting', 'submitted', 'enroute')`;
    const untilSent = (): Promise<void> =>
      until(async () => Number((await database.query(unfinished))[0]?.["count"]) === 0);
    await untilSent();

    printProgress(`${engine}: requests to the older server`);
    customer.nodes = [older];
    customer.start();
    const baselineAt = performance.now();
    await pause(BASELINE_MS);
    await customer.stop();
    const baselineTo = performance.now();
    await untilSent();

    const applied = new Set((await database.query("select name from migrations")).map(({ name }) => name));
    const pending = MIGRATIONS.filter(({ name }) => !applied.has(name));
    const sideBySide = engine === "postgres" && !pending.some(({ stopsNodes }) => stopsNodes);
    const olderPeakMb = await peakMemoryMb(older.pid);
    let stopMs = 0;
    const stopOlder = async (): Promise<void> => {
      const stoppingAt = performance.now();
      await older.kill("SIGTERM");
      stopMs = performance.now() - stoppingAt;
    };
    if (!sideBySide) await stopOlder();
    printProgress(`${engine}: copying the rows`);
    const copy = await (url === null ? copySqliteRows(join(dataDir, "heliograph.db")) : copyPostgresRows(url));
    const perAccount = new Map(
      (
        await copy.query(
          `select account_id, count(*) as count from copied.messages where request_id < '${liveFrom}' group by account_id`,
        )
      ).map((row) => [Number(row["account_id"]), Number(row["count"])]),
    );
    const size =
      url === null
        ? "select page_count * page_size as bytes from pragma_page_count, pragma_page_size"
        : "select sum(pg_total_relation_size(oid)) as bytes from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace";
    const databaseMb = Math.round(Number((await database.query(size))[0]?.["bytes"]) / 1e6);

    printProgress(`${engine}: upgrading ${databaseMb} MB${sideBySide ? ", side by side" : ""}`);
    const progress = new Progress(database);
    await progress.start();
    customer.start();
    if (sideBySide) await pause(1000);
    const startAt = performance.now();
    const port = sideBySide ? "0" : String(portOf(older));
    const keys = { HELIOGRAPH_API_KEY: older.apiKey, HELIOGRAPH_TEST_API_KEY: older.testKey, HELIOGRAPH_PORT: port };
    const newer = await startServer({ ...common, env: keys });
    servers.push(newer);
    sink.respondWith((_request, response) => response.writeHead(200).end("{}"));
    if (sideBySide) customer.accepted.push(await sendMessage(newer, "17770001000"));
    const readyAt = performance.now();
    if (sideBySide) {
      customer.nodes = [older, newer];
      await pause(2000);
      customer.nodes = [newer];
      await customer.untilAnswered();
      await stopOlder();
    }
    if (newer.output().includes("trying to start again")) print(newer.output());
    const migrations = await progress.migrations(startAt);
    printProgress(`${engine}: ${migrations.length} migrations, ready after ${Math.round(readyAt - startAt)} ms`);
    await progress.untilIndexed(perAccount);
    const indexedAt = performance.now();
    printProgress(`${engine}: indexed after ${Math.round(indexedAt - startAt)} ms`);
    await pause(AFTERWARDS_MS);
    const endAt = performance.now();
    await customer.stop();
    await callApi(newer, "POST", `/api/dlr-configs/${reportsId}/recover`, { since: waitingSince });
    const newerPeakMb = await peakMemoryMb(newer.pid);

    printProgress(`${engine}: waiting for all messages and callbacks`);
    const count = async (sql: string): Promise<number> => Number((await copy.query(sql))[0]?.["count"]);
    const giveUpAt = performance.now() + 120_000;
    const current = url === null ? "main" : "public";
    const waiting = `select count(*) as count from copied.callbacks as copy left join ${current}.callbacks as later
      on later.account_id = copy.account_id and later.event_id = copy.event_id and later.endpoint_id = copy.endpoint_id
      where copy.state = 'waiting' and later.state is distinct from 'delivered'`;
    const unsent = unfinished
      .replace("('accepted'", "('scheduled', 'accepted'")
      .replace("from messages", `from ${current}.messages`);
    await until(async () => (await count(unsent)) + (await count(waiting)) === 0 || performance.now() > giveUpAt, 1000);

    printProgress(`${engine}: comparing the rows`);
    const tables = await copy.compare();
    const sum = (field: "rows" | "missing" | "changed"): number =>
      tables.reduce((total, table) => total + table[field], 0);
    const known = new Set(
      (
        await copy.query(
          `select request_id as id from ${current}.messages where account_id = 1 and request_id >= '${liveFrom}' and state = 'delivered'`,
        )
      ).map(({ id }) => id),
    );
    const result: Omit<Result, "restartMs"> = {
      engine,
      from: options.from,
      messages: MESSAGES,
      databaseMb,
      sideBySide,
      migrations,
      firstAcceptMs: Math.round((sideBySide ? readyAt : customer.firstAfter(startAt)) - startAt),
      migratedMs: Math.max(0, ...migrations.map(({ endedMs }) => endedMs)),
      repeatedStarts: newer.output().split("trying to start again").length - 1,
      indexedMs: Math.round(indexedAt - startAt),
      stopMs: Math.round(stopMs),
      pauseMs: sideBySide ? 0 : Math.round(stopMs + customer.firstAfter(startAt) - startAt),
      older: customer.figures(baselineAt, baselineTo),
      during: customer.figures(sideBySide ? startAt : customer.firstAfter(startAt), indexedAt),
      afterwards: customer.figures(indexedAt, endAt),
      olderPeakMb,
      newerPeakMb,
      rows: sum("rows"),
      missing: sum("missing"),
      changed: sum("changed"),
      accepted: customer.accepted.length,
      lost: customer.accepted.filter((id) => !known.has(id)).length,
      waitingCallbacks: await count("select count(*) as count from copied.callbacks where state = 'waiting'"),
      undeliveredCallbacks: await count(waiting),
      unsentMessages: await count(unsent),
      tables: tables.filter(({ rows }) => rows > 0),
    };
    await copy.close();
    await database.close();
    await newer.kill("SIGTERM");
    const restartAt = performance.now();
    servers.push(await newer.restart());
    return { ...result, restartMs: Math.round(performance.now() - restartAt) };
  } finally {
    await customer.stop();
    for (const server of servers) await server.kill("SIGKILL");
    await cluster?.stop();
  }
}

const folder = await mkdtemp(join(tmpdir(), "heliograph-bench-upgrade-"));
// Fills the compile cache.
await (await startServer()).cleanup();
const sink = await openSink();
const results: Result[] = [];
try {
  const source = join(folder, "source");
  await extractCommit(options.from, source, ["bench", "scripts", "src", "test/support", "package.json"]);
  for (const engine of options.engine.split(",")) {
    const result = await upgrade(engine, source, folder, sink);
    results.push(result);
    for (const [label, value] of Object.entries(result)) print(`${label}: ${JSON.stringify(value)}`);
  }
} finally {
  await sink.close();
  await rm(folder, { recursive: true, force: true });
}
print(`load ${loadavg()[0]?.toFixed(1)}`);
await record("upgrade", { rate: RATE, load: loadavg()[0], results });
const isWhole = results.every(
  (result) => result.missing + result.changed + result.lost + result.undeliveredCallbacks + result.unsentMessages === 0,
);
process.exitCode = isWhole ? 0 : 1;
