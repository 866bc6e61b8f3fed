// The whole lifecycle (request, submit, receipt, signed callback) for a long time at a share of full speed. Detects
// leaks, slowdown and loss. Requests have fixed due times and latency counts from them, so a stall is not hidden
// (coordinated omission).
// Run: npm run bench:soak [-- --minutes 30 --share 0.7 --engine sqlite|postgres --every 10 --measure 15]
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { callApi } from "./api-client.ts";
import type { CustomerSample } from "./customer.ts";
import { print } from "./report.ts";
import { record } from "./record.ts";
import { metricValue, MIB, readMetrics } from "./server-metrics.ts";
import { sendRequest } from "./requests.ts";
import { drained, measureRate, openTestbed, type Testbed } from "./testbed.ts";

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    /** Share of the measured full speed. */
    share: { type: "string", default: "0.7" },
    engine: { type: "string", default: "sqlite" },
    /** Seconds between two samples. */
    every: { type: "string", default: "10" },
    /** Seconds at full speed. */
    measure: { type: "string", default: "15" },
  },
});
const SECONDS = Number(options.minutes) * 60;
const EVERY_MS = Number(options.every) * 1000;
const CONNECTIONS = 256;

interface Sample {
  second: number;
  /** Requests due in this interval. */
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

/** Size of the write-ahead log: SQLite's file, or PostgreSQL's whole WAL. */
async function walBytes({ server, databaseUrl }: Testbed): Promise<number> {
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

async function takeSample(
  testbed: Testbed,
  startedAt: number,
  before: CustomerSample,
): Promise<[Sample, CustomerSample]> {
  const now = await testbed.sample();
  const metrics = await readMetrics(testbed.server);
  const { databaseBytes } = await callApi<{ databaseBytes: number }>(testbed.server, "GET", "/api/system");
  const [stream] = now.streams;
  const [earlier] = before.streams;
  if (!stream) throw new Error("no stream in the sample");
  const sample = {
    second: Math.round((performance.now() - startedAt) / 1000),
    sent: stream.due - (earlier?.due ?? 0),
    acceptP50: round(stream.p50, 2),
    acceptP99: round(stream.p99, 2),
    acceptP999: round(stream.p999, 2),
    callbackP50: round(now.callback.p50, 2),
    callbackP99: round(now.callback.p99, 2),
    callbackP999: round(now.callback.p999, 2),
    rssMiB: round(metricValue(metrics, "process_resident_memory_bytes") / MIB),
    heapMiB: round(metricValue(metrics, "nodejs_heap_size_used_bytes") / MIB),
    walMiB: round((await walBytes(testbed)) / MIB),
    loopP99Ms: 1000 * metricValue(metrics, "heliograph_event_loop_delay_seconds"),
    databaseMiB: round(databaseBytes / MIB),
    accepted: stream.accepted - (earlier?.accepted ?? 0),
    calledBack: now.calledBack - before.calledBack,
  };
  return [sample, now];
}

/** MiB per hour, by least squares over the second half, after caches and heap have reached their size. */
function memorySlope(samples: readonly Sample[]): number {
  const half = samples.slice(Math.floor(samples.length / 2));
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const time = mean(half.map(({ second }) => second));
  const memory = mean(half.map(({ rssMiB }) => rssMiB));
  const spread = half.reduce((sum, { second }) => sum + (second - time) ** 2, 0);
  const slope = half.reduce((sum, { second, rssMiB }) => sum + (second - time) * (rssMiB - memory), 0) / spread;
  return slope * 3600;
}

const testbed = await openTestbed(options.engine);
const measured = await measureRate(testbed, Number(options.measure));
const rate = measured * Number(options.share);
print(
  `${measured.toFixed(0)} messages/s from request to callback at full speed; ${rate.toFixed(0)}/s for ${options.minutes} minutes`,
);
const baseline = { submitted: await testbed.smsc.received(), calledBack: (await testbed.sample()).calledBack };

await testbed.begin([
  { name: "TRANS", connections: CONNECTIONS, rate, request: sendRequest(testbed.server.apiKey, "TRANS") },
]);
const startedAt = performance.now();
const samples: Sample[] = [];
let before: CustomerSample = { ...(await testbed.sample()), streams: [], calledBack: baseline.calledBack };
print("second    sent  accept p50    p99   p99.9  callback p50    p99   p99.9   RSS  heap    WAL  loop p99");
for (let next = EVERY_MS; next <= SECONDS * 1000; next += EVERY_MS) {
  await pause(Math.max(0, startedAt + next - performance.now()));
  const [sample, now] = await takeSample(testbed, startedAt, before);
  before = now;
  samples.push(sample);
  const { second, sent, acceptP50, acceptP99, acceptP999, callbackP50, callbackP99, callbackP999 } = sample;
  const cells = [second, sent, acceptP50, acceptP99, acceptP999, callbackP50, callbackP99, callbackP999];
  const { rssMiB, heapMiB, walMiB, loopP99Ms } = sample;
  print([...cells, rssMiB, heapMiB, walMiB, loopP99Ms].map((cell) => String(cell).padStart(7)).join(" "));
}
testbed.stopSending();
const end = await drained(testbed);
const submitted = (await testbed.smsc.received()) - baseline.submitted;
const [stream] = end.streams;
if (!stream) throw new Error("no stream in the last sample");
const { due, accepted, refused, violations } = stream;
const calledBack = end.calledBack - baseline.calledBack;
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
await testbed.close();

const inMs = (times: { p50: number; p99: number; p999: number } | undefined): string =>
  times ? [times.p50, times.p99, times.p999].map((ms) => ms.toFixed(1)).join(", ") : "";
print(`\n${due} due, ${accepted} accepted, ${submitted} submitted, ${calledBack} called back`);
print(`lost ${totals.lost}, refused ${refused}, violations ${JSON.stringify(violations)}`);
print(`duplicates: ${totals.duplicateSubmits} submits, ${totals.duplicateCallbacks} callbacks`);
print(`accept p50, p99, p99.9: ${inMs(totals.accept)} ms; accept to callback: ${inMs(totals.callback)} ms`);
print(`memory: ${totals.memorySlopeMiBPerHour} MiB per hour`);
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
