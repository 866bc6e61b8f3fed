// The whole walk (request, submit, receipt, signed callback) for a long time at a share of full speed: whether anything
// grows, slows down or is lost. Requests are due at fixed times and their time counts from then, so that no stall is hidden.
// Run: npm run bench:soak [-- --minutes 30 --share 0.7 --engine sqlite|postgres --every 10 --measure 15]
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { ask } from "./ask.ts";
import type { CustomerSample } from "./customer.ts";
import { say } from "./figures.ts";
import { record } from "./record.ts";
import { figureOf, MIB, readMetrics } from "./server-figures.ts";
import { sendRequest } from "./requests.ts";
import { drained, measureRate, openWalk, type Walk } from "./walk.ts";

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    /** Of the rate that was measured at full speed. */
    share: { type: "string", default: "0.7" },
    engine: { type: "string", default: "sqlite" },
    /** Seconds between two samples. */
    every: { type: "string", default: "10" },
    /** Seconds of full speed. */
    measure: { type: "string", default: "15" },
  },
});
const SECONDS = Number(options.minutes) * 60;
const EVERY_MS = Number(options.every) * 1000;
const CONNECTIONS = 256;

interface Sample {
  second: number;
  /** Requests that were due in this time. */
  sent: number;
  acceptP50: number;
  acceptP99: number;
  acceptP999: number;
  callbackP50: number;
  callbackP99: number;
  callbackP999: number;
  rssMiB: number;
  heapMiB: number;
  walMiB: number;
  loopP99Ms: number;
  databaseMiB: number;
  accepted: number;
  calledBack: number;
}

const round = (value: number, digits = 1): number => Number(value.toFixed(digits));

/** The log that is written ahead: SQLite's file, or all of PostgreSQL's. */
async function walBytes({ server, databaseUrl }: Walk): Promise<number> {
  if (databaseUrl === null) return (await stat(join(server.dataDir, "heliograph.db-wal"))).size;
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ bytes: string }>("select sum(size) as bytes from pg_ls_waldir()");
    return Number(rows[0]?.bytes ?? 0);
  } finally {
    await client.end();
  }
}

async function take(walk: Walk, startedAt: number, before: CustomerSample): Promise<[Sample, CustomerSample]> {
  const now = await walk.sample();
  const metrics = await readMetrics(walk.server);
  const { databaseBytes } = await ask<{ databaseBytes: number }>(walk.server, "GET", "/api/system");
  const [stream] = now.streams;
  const [earlier] = before.streams;
  if (!stream) throw new Error("nothing is being sent");
  const sample = {
    second: Math.round((performance.now() - startedAt) / 1000),
    sent: stream.due - (earlier?.due ?? 0),
    acceptP50: round(stream.p50, 2),
    acceptP99: round(stream.p99, 2),
    acceptP999: round(stream.p999, 2),
    callbackP50: round(now.callback.p50, 2),
    callbackP99: round(now.callback.p99, 2),
    callbackP999: round(now.callback.p999, 2),
    rssMiB: round(figureOf(metrics, "process_resident_memory_bytes") / MIB),
    heapMiB: round(figureOf(metrics, "nodejs_heap_size_used_bytes") / MIB),
    walMiB: round((await walBytes(walk)) / MIB),
    loopP99Ms: figureOf(metrics, "heliograph_event_loop_delay_milliseconds"),
    databaseMiB: round(databaseBytes / MIB),
    accepted: stream.accepted - (earlier?.accepted ?? 0),
    calledBack: now.calledBack - before.calledBack,
  };
  return [sample, now];
}

/** MiB per hour, by least squares over the second half: by then caches and the heap have found their size. */
function memorySlope(samples: readonly Sample[]): number {
  const half = samples.slice(Math.floor(samples.length / 2));
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const time = mean(half.map(({ second }) => second));
  const memory = mean(half.map(({ rssMiB }) => rssMiB));
  const spread = half.reduce((sum, { second }) => sum + (second - time) ** 2, 0);
  const slope = half.reduce((sum, { second, rssMiB }) => sum + (second - time) * (rssMiB - memory), 0) / spread;
  return slope * 3600;
}

const walk = await openWalk(options.engine);
const measured = await measureRate(walk, Number(options.measure));
const rate = measured * Number(options.share);
say(
  `${measured.toFixed(0)} messages/s the whole way at full speed; ${rate.toFixed(0)}/s for ${options.minutes} minutes`,
);
const begunWith = { submitted: await walk.smsc.taken(), calledBack: (await walk.sample()).calledBack };

await walk.begin([
  { name: "TRANS", connections: CONNECTIONS, rate, request: sendRequest(walk.server.apiKey, "TRANS") },
]);
const startedAt = performance.now();
const samples: Sample[] = [];
let before: CustomerSample = { ...(await walk.sample()), streams: [], calledBack: begunWith.calledBack };
say("second    sent  accept p50    p99   p99.9  callback p50    p99   p99.9   RSS  heap    WAL  loop p99");
for (let next = EVERY_MS; next <= SECONDS * 1000; next += EVERY_MS) {
  await pause(Math.max(0, startedAt + next - performance.now()));
  const [sample, now] = await take(walk, startedAt, before);
  before = now;
  samples.push(sample);
  const { second, sent, acceptP50, acceptP99, acceptP999, callbackP50, callbackP99, callbackP999 } = sample;
  const cells = [second, sent, acceptP50, acceptP99, acceptP999, callbackP50, callbackP99, callbackP999];
  const { rssMiB, heapMiB, walMiB, loopP99Ms } = sample;
  say([...cells, rssMiB, heapMiB, walMiB, loopP99Ms].map((cell) => String(cell).padStart(7)).join(" "));
}
walk.stopAsking();
const end = await drained(walk);
const submitted = (await walk.smsc.taken()) - begunWith.submitted;
const [stream] = end.streams;
if (!stream) throw new Error("nothing was sent");
const { due, accepted, refused, violations } = stream;
const calledBack = end.calledBack - begunWith.calledBack;
const totals = {
  due,
  accepted,
  refused,
  violations,
  submitted,
  calledBack,
  lost: accepted - calledBack,
  duplicateSubmits: submitted - accepted,
  duplicateCallbacks: end.unexpected,
  accept: end.total.accept[stream.name],
  callback: end.total.callback,
  memorySlopeMiBPerHour: round(memorySlope(samples)),
};
await walk.close();

const inMs = (times: { p50: number; p99: number; p999: number } | undefined): string =>
  times ? [times.p50, times.p99, times.p999].map((ms) => ms.toFixed(1)).join(", ") : "";
say(`\n${due} due, ${accepted} accepted, ${submitted} submitted, ${calledBack} called back`);
say(`lost ${totals.lost}, refused ${refused}, violations ${JSON.stringify(violations)}`);
say(`duplicates: ${totals.duplicateSubmits} submits, ${totals.duplicateCallbacks} callbacks`);
say(`accept p50, p99, p99.9: ${inMs(totals.accept)} ms; accept to callback: ${inMs(totals.callback)} ms`);
say(`memory: ${totals.memorySlopeMiBPerHour} MiB an hour`);
await record("soak", {
  engine: options.engine,
  minutes: Number(options.minutes),
  share: Number(options.share),
  measuredPerSecond: round(measured),
  ratePerSecond: round(rate),
  connections: CONNECTIONS,
  totals,
  samples,
});
if (totals.lost !== 0 || accepted !== due) process.exitCode = 1;
