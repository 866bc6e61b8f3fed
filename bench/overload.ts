// Overload: several times the capacity of the whole pipeline, for minutes, from clients that ignore Retry-After.
// Verifies that the server refuses as documented, keeps sending, keeps one-time passwords fast, and recovers
// afterwards.
// Run: npm run bench:overload [-- --minutes 5 --times 3 --engine sqlite|postgres --every 5 --measure 15]
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { callApi } from "./api-client.ts";
import type { CustomerSample, Stream, StreamSample } from "./customer.ts";
import { print } from "./report.ts";
import { record } from "./record.ts";
import { metricValue, queueTimes, MIB, quantileBetween, readMetrics } from "./server-metrics.ts";
import { sendRequest } from "./requests.ts";
import { drained, measureRate, openTestbed } from "./testbed.ts";

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    /** Offered load as a multiple of the measured full speed. */
    times: { type: "string", default: "3" },
    engine: { type: "string", default: "sqlite" },
    every: { type: "string", default: "5" },
    measure: { type: "string", default: "15" },
    connections: { type: "string", default: "2000" },
  },
});
const SECONDS = Number(options.minutes) * 60;
const EVERY_MS = Number(options.every) * 1000;
const CONNECTIONS = Number(options.connections);
const OTPS_PER_SECOND = 20;
const OTP_CONNECTIONS = 20;
/** A request that finds no free connection within this time is dropped. */
const DROP_AFTER_MS = 1000;
const NORMAL_SHARE = 0.5;
const NORMAL_SECONDS = 10;
/** Tolerated slowdown after recovery. */
const LATENCY_TOLERANCE_MS = 25;
const RECOVERY_MAX_MS = 300_000;

interface Sample {
  second: number;
  offered: number;
  accepted: number;
  refused: number;
  /** From accept to submit. */
  otpP99Ms: number;
  rssMiB: number;
  calledBack: number;
  /** From the due time of a request to its response; accepted requests only. */
  acceptP50: number;
  acceptP99: number;
  otpAcceptP99: number;
  loopP99Ms: number;
  waitingInStore: number;
  submitted: number;
  callbacksWaiting: number;
}

const round = (value: number, digits = 1): number => Number(value.toFixed(digits));

const testbed = await openTestbed(options.engine);
const { server } = testbed;
const measured = await measureRate(testbed, Number(options.measure));
const trans = sendRequest(server.apiKey, "TRANS");
const normal: Stream = { name: "TRANS", connections: 64, rate: measured * NORMAL_SHARE, request: trans };

const streamOf = ({ streams }: CustomerSample, name: string): StreamSample => {
  const stream = streams.find((each) => each.name === name);
  if (!stream) throw new Error(`no stream ${name}`);
  return stream;
};

/** Stops sending and waits for the pending responses, not for the callbacks. */
async function stopAndWaitForResponses(): Promise<CustomerSample> {
  testbed.stopSending();
  for (;;) {
    const sample = await testbed.sample();
    if (sample.streams.every(({ inFlight }) => inFlight === 0)) return sample;
    await pause(20);
  }
}

await testbed.begin([normal]);
await pause(NORMAL_SECONDS * 1000);
const normalP99 = streamOf(await stopAndWaitForResponses(), "TRANS").p99;
await drained(testbed);
const offered = measured * Number(options.times);
print(
  `${measured.toFixed(0)} messages/s from request to callback at full speed; accept p99 at half speed ${normalP99.toFixed(1)} ms; ${offered.toFixed(0)}/s offered`,
);

const baseline = { submitted: await testbed.smsc.received(), calledBack: (await testbed.sample()).calledBack };
const code = "482913 is your code. It is valid for 5 minutes.";
const common = { dropAfterMs: DROP_AFTER_MS };
await testbed.begin([
  { ...common, name: "TRANS", connections: CONNECTIONS, rate: offered - OTPS_PER_SECOND, request: trans },
  {
    ...common,
    name: "OTP",
    connections: OTP_CONNECTIONS,
    rate: OTPS_PER_SECOND,
    request: sendRequest(server.apiKey, "OTP", code),
  },
]);
const startedAt = performance.now();
const samples: Sample[] = [];
const metricsBefore = await readMetrics(server);
let metrics = metricsBefore;
let before = { offered: 0, accepted: 0, refused: 0, calledBack: baseline.calledBack, submitted: baseline.submitted };
print(
  "second offered accepted refused  OTP p99   RSS  called back  accept p50   p99  OTP p99  loop p99  in store  submitted  callbacks",
);
for (let next = EVERY_MS; next <= SECONDS * 1000; next += EVERY_MS) {
  await pause(Math.max(0, startedAt + next - performance.now()));
  const customer = await testbed.sample();
  const earlier = metrics;
  metrics = await readMetrics(server);
  const sum = (field: "due" | "accepted" | "refused"): number =>
    customer.streams.reduce((total, stream) => total + stream[field], 0);
  const now = {
    offered: sum("due"),
    accepted: sum("accepted"),
    refused: sum("refused"),
    calledBack: customer.calledBack,
    submitted: await testbed.smsc.received(),
  };
  const { callbacksWaiting } = await callApi<{ callbacksWaiting: number }>(server, "GET", "/api/system");
  const sample: Sample = {
    second: Math.round((performance.now() - startedAt) / 1000),
    offered: now.offered - before.offered,
    accepted: now.accepted - before.accepted,
    refused: now.refused - before.refused,
    otpP99Ms: round(quantileBetween(queueTimes(earlier, "OTP"), queueTimes(metrics, "OTP"), 0.99)),
    rssMiB: round(metricValue(metrics, "process_resident_memory_bytes") / MIB),
    calledBack: now.calledBack - before.calledBack,
    acceptP50: round(streamOf(customer, "TRANS").p50),
    acceptP99: round(streamOf(customer, "TRANS").p99),
    otpAcceptP99: round(streamOf(customer, "OTP").p99),
    loopP99Ms: 1000 * metricValue(metrics, "heliograph_event_loop_delay_seconds"),
    waitingInStore: metricValue(metrics, "heliograph_store_waiting_messages"),
    submitted: now.submitted - before.submitted,
    callbacksWaiting,
  };
  before = now;
  samples.push(sample);
  print(
    Object.values(sample)
      .map((cell) => String(cell).padStart(8))
      .join(""),
  );
}
const overloadSeconds = (performance.now() - startedAt) / 1000;
const metricsAfter = await readMetrics(server);
const goodput = ((await testbed.sample()).calledBack - baseline.calledBack) / overloadSeconds;
const stoppedAt = performance.now();
const overloaded = await stopAndWaitForResponses();
const { streams, total } = overloaded;

await testbed.begin([normal]);
let normalAfterMs: number | null = null;
let drainedAfterMs: number | null = null;
let acceptedBefore = 0;
let acceptedAfter = 0;
while (performance.now() - stoppedAt < RECOVERY_MAX_MS && (normalAfterMs === null || drainedAfterMs === null)) {
  await pause(1000);
  const sample = await testbed.sample();
  const { p99, accepted } = streamOf(sample, "TRANS");
  const elapsed = performance.now() - stoppedAt;
  if (accepted > acceptedBefore && p99 < normalP99 * 2 + LATENCY_TOLERANCE_MS) normalAfterMs ??= elapsed;
  acceptedBefore = accepted;
  // Outstanding messages are at most one second old now.
  if (sample.outstanding < measured * NORMAL_SHARE) drainedAfterMs ??= elapsed;
}
acceptedAfter = streamOf(await stopAndWaitForResponses(), "TRANS").accepted;
const end = await drained(testbed);
const submitted = (await testbed.smsc.received()) - baseline.submitted;
await testbed.close();

const accepted = streams.reduce((sum, stream) => sum + stream.accepted, 0) + acceptedAfter;
const calledBack = end.calledBack - baseline.calledBack;
const otpBefore = queueTimes(metricsBefore, "OTP");
const otpAfter = queueTimes(metricsAfter, "OTP");
const result = {
  goodputPerSecond: round(goodput),
  goodputShare: round(goodput / measured, 2),
  answers: streams.map(({ name, due, accepted: count, refused, violations, dropped }) => ({
    name,
    due,
    accepted: count,
    refused,
    violations,
    neverSent: dropped,
    accept: total.accept[name],
  })),
  accepted,
  submitted,
  calledBack,
  lost: accepted - calledBack,
  duplicateSubmits: submitted - accepted,
  duplicateCallbacks: end.unexpected,
  otpQueueP50Ms: round(quantileBetween(otpBefore, otpAfter, 0.5)),
  otpQueueP99Ms: round(quantileBetween(otpBefore, otpAfter, 0.99)),
  rssMaxMiB: Math.max(...samples.map(({ rssMiB }) => rssMiB)),
  normalP99Ms: round(normalP99),
  normalLatencyAfterMs: normalAfterMs === null ? null : Math.round(normalAfterMs),
  drainedAfterMs: drainedAfterMs === null ? null : Math.round(drainedAfterMs),
};
print(`\ngoodput ${result.goodputShare} of the measured rate (${goodput.toFixed(0)} messages/s)`);
for (const { name, due, accepted: count, refused, violations, neverSent } of result.answers)
  print(
    `${name}: ${due} offered, ${count} accepted, ${refused} refused, ${neverSent} never sent, violations ${JSON.stringify(violations)}`,
  );
print(`queue time of one-time passwords: p50 ${result.otpQueueP50Ms} ms, p99 ${result.otpQueueP99Ms} ms`);
print(`lost ${result.lost}; duplicates: ${result.duplicateSubmits} submits, ${result.duplicateCallbacks} callbacks`);
print(`peak memory ${result.rssMaxMiB} MiB`);
print(`recovery: normal latency after ${result.normalLatencyAfterMs} ms, drained after ${result.drainedAfterMs} ms`);
await record("overload", {
  engine: options.engine,
  minutes: Number(options.minutes),
  times: Number(options.times),
  measuredPerSecond: round(measured),
  offeredPerSecond: round(offered),
  connections: CONNECTIONS,
  ...result,
  samples,
});
const violated = result.answers.some(({ violations }) => Object.keys(violations).length > 0);
if (result.lost !== 0 || violated) process.exitCode = 1;
