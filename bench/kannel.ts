// Single messages from the API to the SMSC, and from the API to the callback, compared with Kannel in the same run:
// same generator, SMSC and sink, alternating. Both sides run with few and with many connections, because Heliograph is
// fastest with many and Kannel is not. Both are restarted several times: throughput differs by up to an eighth between
// processes. Requires Debian's package kannel.
// Run: npm run bench:kannel [-- --processes 3 --rounds 2 --seconds 4 --store file --smsboxes 2 --connections 64,256
// --engine sqlite]
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freshDatabase } from "../test/support/databases.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { startServer } from "../test/support/server-process.ts";
import { portOf } from "./api-client.ts";
import { median, print } from "./report.ts";
import type { Load, Measured } from "./generator.ts";
import { startKannel, type KannelOptions } from "./kannel-process.ts";
import { LoadProcess } from "./load-process.ts";
import { record } from "./record.ts";
import { sendRequest, TEXT } from "./requests.ts";
import { configure, Counter, SMSC_WINDOW } from "./testbed.ts";

const { values: options } = parseArgs({
  options: {
    processes: { type: "string", default: "3" },
    /** Rounds per process. */
    rounds: { type: "string", default: "2" },
    seconds: { type: "string", default: "4" },
    store: { type: "string", default: "file" },
    smsboxes: { type: "string", default: "2" },
    engine: { type: "string", default: "sqlite,postgres" },
    connections: { type: "string", default: "64,256" },
  },
});
const PROCESSES = Number(options.processes);
const ROUNDS = Number(options.rounds);
const SECONDS = Number(options.seconds);
const SMSBOXES = Number(options.smsboxes);
const CONNECTIONS = options.connections.split(",").map(Number);
const STALLED_MS = 20_000;
/** Our JIT compilation needs about four rounds. */
const WARM_UP_ROUNDS = 4;

interface Side {
  name: string;
  port(): number;
  request: string;
}

const generator = new LoadProcess<Load, Measured>("generator.ts");

async function generate({ name, port, request }: Side, connections: number): Promise<Measured> {
  const measured = await generator.run({ port: port(), connections, seconds: SECONDS, request });
  if (measured.refused > 0) throw new Error(`${name} refused ${measured.refused} of ${measured.answers}`);
  return measured;
}

/** Messages per second, from the first request until the last message has reached the end of the measured path. */
async function measureRound(side: Side, connections: number, end: Counter): Promise<number> {
  const before = await end.received();
  const { answers, elapsedMs } = await generate(side, connections);
  const startedAt = performance.now() - elapsedMs;
  let last = { received: before, at: performance.now() };
  for (;;) {
    const received = await end.received();
    const now = performance.now();
    if (received - before >= answers) return answers / ((now - startedAt) / 1000);
    if (received > last.received) last = { received, at: now };
    if (now - last.at > STALLED_MS) throw new Error(`${side.name}: ${received - before} of ${answers} reached the end`);
    await pause(10);
  }
}

function kannelRequest(sinkPort: number | null): string {
  const query = new URLSearchParams({
    username: "bench",
    password: "secret",
    from: "HELIOG",
    to: "15550100100",
    text: TEXT,
    ...(sinkPort !== null && { "dlr-mask": "1", "dlr-url": `http://127.0.0.1:${sinkPort}/?id=%F&status=%d` }),
  });
  return `GET /cgi-bin/sendsms?${query.toString()} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`;
}

interface Rates {
  ours: number;
  kannel: number;
}

interface Result extends Rates {
  path: string;
  engine: string;
  /** Each side with its best number of connections: medians of the rounds, and the median of their ratios. */
  ratio: number;
  ratios: number[];
  byConnections: (Rates & { connections: number; ratio: number })[];
}

const ratioOf = ({ ours, kannel }: Rates): number => ours / kannel;

function medians(rounds: readonly Rates[]): Rates & { ratio: number } {
  return {
    ratio: median(rounds.map(ratioOf)),
    ours: median(rounds.map(({ ours }) => ours)),
    kannel: median(rounds.map(({ kannel }) => kannel)),
  };
}

/** Rates per round of one side with its best number of connections. */
function bestOf(side: keyof Rates, rounds: readonly (readonly Rates[])[]): number[] {
  const byConnections = CONNECTIONS.map((_, index) => rounds.map((round) => round[index]?.[side] ?? 0));
  return byConnections.toSorted((a, b) => median(b) - median(a))[0] ?? [];
}

/** One process of each side. */
interface ProcessPair {
  ours: Side;
  kannel: Side;
  end(): Promise<void>;
}

async function startProcesses(engine: string, callbackPort: number | null): Promise<ProcessPair> {
  const database = engine === "postgres" && cluster ? await freshDatabase(cluster.url) : null;
  const server = await startServer(database ? { databaseUrl: database.url } : {});
  await configure(server, smscPort, callbackPort);
  const store = options.store as KannelOptions["store"];
  const kannel = await startKannel({ smscPort, store, window: SMSC_WINDOW, smsboxes: SMSBOXES });
  let requests = 0;
  return {
    ours: {
      name: "Heliograph",
      port: () => portOf(server),
      request: sendRequest(server.apiKey, "TRANS"),
    },
    kannel: {
      name: "Kannel",
      port: () => kannel.ports[requests++ % SMSBOXES] ?? 0,
      request: kannelRequest(callbackPort),
    },
    async end() {
      await kannel.stop();
      await server.kill("SIGKILL");
      await server.cleanup();
      await database?.drop();
    },
  };
}

/** Rates of both sides per round and number of connections. */
async function measureProcesses(what: string, { ours, kannel }: ProcessPair, end: Counter): Promise<Rates[][]> {
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1)
    for (const side of [ours, kannel]) await measureRound(side, CONNECTIONS[round % CONNECTIONS.length] ?? 0, end);
  const rounds: Rates[][] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const measured: Rates[] = [];
    // The order alternates, so that no setting always comes first or always uses the same smsbox.
    for (const connections of round % 2 === 0 ? CONNECTIONS : CONNECTIONS.toReversed()) {
      const rates = {
        kannel: await measureRound(kannel, connections, end),
        ours: await measureRound(ours, connections, end),
      };
      measured[CONNECTIONS.indexOf(connections)] = rates;
      const rateTexts = `${ratioOf(rates).toFixed(2)} (${rates.ours.toFixed(0)} and ${rates.kannel.toFixed(0)})`;
      print(`  ${what}, round ${round + 1}, ${connections} connections: ${rateTexts}`);
    }
    rounds.push(measured);
  }
  return rounds;
}

async function compare(engine: string, callbackPort: number | null): Promise<Result> {
  const path = callbackPort === null ? "API to SMSC" : "API to callback";
  const rounds: Rates[][] = [];
  for (let count = 1; count <= PROCESSES; count += 1) {
    const pair = await startProcesses(engine, callbackPort);
    rounds.push(
      ...(await measureProcesses(`${path}, ${engine}, process ${count}`, pair, callbackPort === null ? smsc : sink)),
    );
    await pair.end();
  }
  const kannels = bestOf("kannel", rounds);
  const bests = bestOf("ours", rounds).map((rate, round) => ({ ours: rate, kannel: kannels[round] ?? 0 }));
  return {
    path,
    engine,
    ...medians(bests),
    ratios: bests.map(ratioOf),
    byConnections: CONNECTIONS.map((connections, index) => ({
      connections,
      ...medians(rounds.flatMap((round) => round[index] ?? [])),
    })),
  };
}

const smsc = new Counter("counting-smsc.ts");
const [smscPort] = (await once(smsc.child, "message")) as [number];
const sink = new Counter("sink.ts");
const [{ port: sinkPort }] = (await once(sink.child, "message")) as [AddressInfo];
const engines = options.engine.split(",");
const cluster = engines.includes("postgres") ? await startCluster() : null;

const results: Result[] = [];
for (const engine of engines)
  for (const callbackPort of [null, sinkPort]) results.push(await compare(engine, callbackPort));
generator.end();
smsc.child.disconnect();
sink.child.disconnect();
await cluster?.stop();

print(`\nratio to Kannel   ours/s   Kannel/s (store ${options.store}, ${SMSBOXES} smsboxes, window ${SMSC_WINDOW})`);
const line = ({ ratio, ours, kannel }: Rates & { ratio: number }): string =>
  `${ratio.toFixed(2).padStart(14)} ${ours.toFixed(0).padStart(9)} ${kannel.toFixed(0).padStart(10)}`;
for (const result of results) {
  print(`${line(result)}   ${result.path}, ${result.engine}, each side with its best number of connections`);
  for (const some of result.byConnections) print(`${line(some)}     with ${some.connections} connections`);
}
await record("kannel", {
  lives: PROCESSES,
  rounds: ROUNDS,
  seconds: SECONDS,
  store: options.store,
  smsboxes: SMSBOXES,
  window: SMSC_WINDOW,
  results,
});
