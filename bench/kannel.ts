// Single messages from the API to the SMSC, and on through the receipt to the callback, beside Kannel in the same run: the
// same generator, the same SMSC, the same sink, turn by turn, and each side by few and by many connections, because ours
// needs many to be at its best and Kannel does not. Both are started anew several times: one life of a process does up
// to an eighth less than another, from its beginning to its end. Kannel is Debian's package, which has to be installed.
// Run: npm run bench:kannel [-- --lives 3 --rounds 2 --seconds 4 --store file --smsboxes 2 --connections 64,256 --engine sqlite]
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freshDatabase } from "../test/support/databases.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { startServer } from "../test/support/server-process.ts";
import { portOf } from "./ask.ts";
import { median, say } from "./figures.ts";
import type { Load, Measured } from "./generator.ts";
import { startKannel, type KannelOptions } from "./kannel-process.ts";
import { LoadProcess } from "./load-process.ts";
import { record } from "./record.ts";
import { sendRequest, TEXT } from "./requests.ts";
import { configure, Counter, SMSC_WINDOW } from "./walk.ts";

const { values: options } = parseArgs({
  options: {
    lives: { type: "string", default: "3" },
    /** Of each life. */
    rounds: { type: "string", default: "2" },
    seconds: { type: "string", default: "4" },
    store: { type: "string", default: "file" },
    smsboxes: { type: "string", default: "2" },
    engine: { type: "string", default: "sqlite,postgres" },
    connections: { type: "string", default: "64,256" },
  },
});
const LIVES = Number(options.lives);
const ROUNDS = Number(options.rounds);
const SECONDS = Number(options.seconds);
const SMSBOXES = Number(options.smsboxes);
const CONNECTIONS = options.connections.split(",").map(Number);
const STALLED_MS = 20_000;
/** It takes us as long until everything is compiled. */
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

/** Messages per second, from the first request until the last of them has reached the end of the way. */
async function turn(side: Side, connections: number, end: Counter): Promise<number> {
  const before = await end.taken();
  const { answers, elapsedMs } = await generate(side, connections);
  const startedAt = performance.now() - elapsedMs;
  let last = { taken: before, at: performance.now() };
  for (;;) {
    const taken = await end.taken();
    const now = performance.now();
    if (taken - before >= answers) return answers / ((now - startedAt) / 1000);
    if (taken > last.taken) last = { taken, at: now };
    if (now - last.at > STALLED_MS) throw new Error(`${side.name}: ${taken - before} of ${answers} came to the end`);
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
  /** With the number of connections at which each side is best: medians of the rounds, and the ratio of each round. */
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

/** What one side did in each round with the number of connections at which it is best. */
function bestOf(side: keyof Rates, rounds: readonly (readonly Rates[])[]): number[] {
  const byConnections = CONNECTIONS.map((_, index) => rounds.map((round) => round[index]?.[side] ?? 0));
  return byConnections.toSorted((a, b) => median(b) - median(a))[0] ?? [];
}

/** Both sides, from their start to their end. */
interface Life {
  ours: Side;
  kannel: Side;
  end(): Promise<void>;
}

async function begin(engine: string, toldAt: number | null): Promise<Life> {
  const database = engine === "postgres" && cluster ? await freshDatabase(cluster.url) : null;
  const server = await startServer(database ? { databaseUrl: database.url } : {});
  await configure(server, smscPort, toldAt);
  const store = options.store as KannelOptions["store"];
  const kannel = await startKannel({ smscPort, store, window: SMSC_WINDOW, smsboxes: SMSBOXES });
  let asked = 0;
  return {
    ours: {
      name: "Heliograph",
      port: () => portOf(server),
      request: sendRequest(server.apiKey, "TRANS"),
    },
    kannel: {
      name: "Kannel",
      port: () => kannel.ports[asked++ % SMSBOXES] ?? 0,
      request: kannelRequest(toldAt),
    },
    async end() {
      await kannel.stop();
      await server.kill("SIGKILL");
      await server.cleanup();
      await database?.drop();
    },
  };
}

/** What each side does in each round of one life, by each number of connections. */
async function measureLife(what: string, { ours, kannel }: Life, end: Counter): Promise<Rates[][]> {
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1)
    for (const side of [ours, kannel]) await turn(side, CONNECTIONS[round % CONNECTIONS.length] ?? 0, end);
  const rounds: Rates[][] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const measured: Rates[] = [];
    // The other way round in every second round, so that none of them always comes first, or asks the same smsbox.
    for (const connections of round % 2 === 0 ? CONNECTIONS : CONNECTIONS.toReversed()) {
      const rates = { kannel: await turn(kannel, connections, end), ours: await turn(ours, connections, end) };
      measured[CONNECTIONS.indexOf(connections)] = rates;
      const told = `${ratioOf(rates).toFixed(2)} (${rates.ours.toFixed(0)} and ${rates.kannel.toFixed(0)})`;
      say(`  ${what}, round ${round + 1}, ${connections} connections: ${told}`);
    }
    rounds.push(measured);
  }
  return rounds;
}

async function compare(engine: string, toldAt: number | null): Promise<Result> {
  const path = toldAt === null ? "API to SMSC" : "API to callback";
  const rounds: Rates[][] = [];
  for (let count = 1; count <= LIVES; count += 1) {
    const life = await begin(engine, toldAt);
    rounds.push(...(await measureLife(`${path}, ${engine}, life ${count}`, life, toldAt === null ? smsc : sink)));
    await life.end();
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
for (const engine of engines) for (const toldAt of [null, sinkPort]) results.push(await compare(engine, toldAt));
generator.end();
smsc.child.disconnect();
sink.child.disconnect();
await cluster?.stop();

say(`\nratio to Kannel   ours/s   Kannel/s (store ${options.store}, ${SMSBOXES} smsboxes, window ${SMSC_WINDOW})`);
const line = ({ ratio, ours, kannel }: Rates & { ratio: number }): string =>
  `${ratio.toFixed(2).padStart(14)} ${ours.toFixed(0).padStart(9)} ${kannel.toFixed(0).padStart(10)}`;
for (const result of results) {
  say(`${line(result)}   ${result.path}, ${result.engine}, each at its best`);
  for (const some of result.byConnections) say(`${line(some)}     by ${some.connections} connections`);
}
await record("kannel", {
  lives: LIVES,
  rounds: ROUNDS,
  seconds: SECONDS,
  store: options.store,
  smsboxes: SMSBOXES,
  window: SMSC_WINDOW,
  results,
});
