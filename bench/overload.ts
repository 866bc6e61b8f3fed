// Several times of what the whole walk can carry, for minutes, from callers who obey nothing: whether the server says no in
// the way it promises, goes on sending meanwhile, keeps passwords prompt, and is itself again afterwards.
// Run: npm run bench:overload [-- --minutes 5 --times 3 --engine sqlite|postgres --every 5 --measure 15]
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ask } from "./ask.ts";
import type { CustomerSample, Stream, StreamSample } from "./customer.ts";
import { say } from "./figures.ts";
import { record } from "./record.ts";
import { figureOf, handedOver, MIB, quantileBetween, readMetrics } from "./server-figures.ts";
import { sendRequest } from "./requests.ts";
import { drained, measureRate, openWalk } from "./walk.ts";

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    /** How many times of the rate that was measured at full speed are offered. */
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
/** A caller who finds no connection for so long has something newer to say. */
const GIVE_UP_MS = 1000;
const NORMAL_SHARE = 0.5;
const NORMAL_SECONDS = 10;
/** Nobody notices so much. */
const HARDLY_SLOWER_MS = 25;
const RECOVERY_MAX_MS = 300_000;

interface Sample {
  second: number;
  offered: number;
  accepted: number;
  refused: number;
  /** From accepted to handed to the carrier. */
  otpP99Ms: number;
  rssMiB: number;
  calledBack: number;
  /** From when a request was due to its answer, of those that were accepted. */
  acceptP50: number;
  acceptP99: number;
  otpAcceptP99: number;
  loopP99Ms: number;
  waitingInStore: number;
  submitted: number;
  callbacksWaiting: number;
}

const round = (value: number, digits = 1): number => Number(value.toFixed(digits));

const walk = await openWalk(options.engine);
const { server } = walk;
const measured = await measureRate(walk, Number(options.measure));
const trans = sendRequest(server.apiKey, "TRANS");
const normal: Stream = { name: "TRANS", connections: 64, rate: measured * NORMAL_SHARE, request: trans };

const streamOf = ({ streams }: CustomerSample, name: string): StreamSample => {
  const stream = streams.find((each) => each.name === name);
  if (!stream) throw new Error(`nothing is sent of ${name}`);
  return stream;
};

/** Stops asking and waits for the last answers, not for what becomes of them. */
async function lastAnswers(): Promise<CustomerSample> {
  walk.stopAsking();
  for (;;) {
    const sample = await walk.sample();
    if (sample.streams.every(({ underWay }) => underWay === 0)) return sample;
    await pause(20);
  }
}

await walk.begin([normal]);
await pause(NORMAL_SECONDS * 1000);
const normalP99 = streamOf(await lastAnswers(), "TRANS").p99;
await drained(walk);
const offered = measured * Number(options.times);
say(
  `${measured.toFixed(0)} messages/s the whole way at full speed, at half of it accept p99 ${normalP99.toFixed(1)} ms; ${offered.toFixed(0)}/s offered`,
);

const begun = { submitted: await walk.smsc.taken(), calledBack: (await walk.sample()).calledBack };
const code = "482913 is your code. It is valid for 5 minutes.";
const common = { giveUpMs: GIVE_UP_MS };
await walk.begin([
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
let before = { offered: 0, accepted: 0, refused: 0, calledBack: begun.calledBack, submitted: begun.submitted };
say(
  "second offered accepted refused  OTP p99   RSS  called back  accept p50   p99  OTP p99  loop p99  in store  submitted  callbacks",
);
for (let next = EVERY_MS; next <= SECONDS * 1000; next += EVERY_MS) {
  await pause(Math.max(0, startedAt + next - performance.now()));
  const customer = await walk.sample();
  const earlier = metrics;
  metrics = await readMetrics(server);
  const sum = (field: "due" | "accepted" | "refused"): number =>
    customer.streams.reduce((total, stream) => total + stream[field], 0);
  const now = {
    offered: sum("due"),
    accepted: sum("accepted"),
    refused: sum("refused"),
    calledBack: customer.calledBack,
    submitted: await walk.smsc.taken(),
  };
  const { callbacksWaiting } = await ask<{ callbacksWaiting: number }>(server, "GET", "/api/system");
  const sample: Sample = {
    second: Math.round((performance.now() - startedAt) / 1000),
    offered: now.offered - before.offered,
    accepted: now.accepted - before.accepted,
    refused: now.refused - before.refused,
    otpP99Ms: round(quantileBetween(handedOver(earlier, "OTP"), handedOver(metrics, "OTP"), 0.99)),
    rssMiB: round(figureOf(metrics, "process_resident_memory_bytes") / MIB),
    calledBack: now.calledBack - before.calledBack,
    acceptP50: round(streamOf(customer, "TRANS").p50),
    acceptP99: round(streamOf(customer, "TRANS").p99),
    otpAcceptP99: round(streamOf(customer, "OTP").p99),
    loopP99Ms: figureOf(metrics, "heliograph_event_loop_delay_milliseconds"),
    waitingInStore: figureOf(metrics, "heliograph_store_waiting_messages"),
    submitted: now.submitted - before.submitted,
    callbacksWaiting,
  };
  before = now;
  samples.push(sample);
  say(
    Object.values(sample)
      .map((cell) => String(cell).padStart(8))
      .join(""),
  );
}
const overloadSeconds = (performance.now() - startedAt) / 1000;
const metricsAfter = await readMetrics(server);
const goodput = ((await walk.sample()).calledBack - begun.calledBack) / overloadSeconds;
const stoppedAt = performance.now();
const overloaded = await lastAnswers();
const { streams, total } = overloaded;

await walk.begin([normal]);
let normalAfterMs: number | null = null;
let drainedAfterMs: number | null = null;
let acceptedBefore = 0;
let acceptedAfter = 0;
while (performance.now() - stoppedAt < RECOVERY_MAX_MS && (normalAfterMs === null || drainedAfterMs === null)) {
  await pause(1000);
  const sample = await walk.sample();
  const { p99, accepted } = streamOf(sample, "TRANS");
  const elapsed = performance.now() - stoppedAt;
  if (accepted > acceptedBefore && p99 < normalP99 * 2 + HARDLY_SLOWER_MS) normalAfterMs ??= elapsed;
  acceptedBefore = accepted;
  // Whatever is outstanding now was asked within the last second.
  if (sample.outstanding < measured * NORMAL_SHARE) drainedAfterMs ??= elapsed;
}
acceptedAfter = streamOf(await lastAnswers(), "TRANS").accepted;
const end = await drained(walk);
const submitted = (await walk.smsc.taken()) - begun.submitted;
await walk.close();

const accepted = streams.reduce((sum, stream) => sum + stream.accepted, 0) + acceptedAfter;
const calledBack = end.calledBack - begun.calledBack;
const otpBefore = handedOver(metricsBefore, "OTP");
const otpAfter = handedOver(metricsAfter, "OTP");
const result = {
  goodputPerSecond: round(goodput),
  goodputShare: round(goodput / measured, 2),
  answers: streams.map(({ name, due, accepted: taken, refused, violations, given }) => ({
    name,
    due,
    accepted: taken,
    refused,
    violations,
    neverSent: given,
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
say(`\ngoodput ${result.goodputShare} of the measured rate (${goodput.toFixed(0)} messages/s)`);
for (const { name, due, accepted: taken, refused, violations, neverSent } of result.answers)
  say(
    `${name}: ${due} offered, ${taken} accepted, ${refused} refused, ${neverSent} never sent, violations ${JSON.stringify(violations)}`,
  );
say(`passwords in the queue: p50 ${result.otpQueueP50Ms} ms, p99 ${result.otpQueueP99Ms} ms`);
say(`lost ${result.lost}; duplicates: ${result.duplicateSubmits} submits, ${result.duplicateCallbacks} callbacks`);
say(`memory at the most ${result.rssMaxMiB} MiB`);
say(`afterwards: normal latency after ${result.normalLatencyAfterMs} ms, drained after ${result.drainedAfterMs} ms`);
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
