// Signed webhook deliveries per second through queue, signature and transport thread, as a ratio to a bare undici Pool
// in the same run.
// Run: npm run bench:callbacks [-- --seconds 2 --rounds 7 --inflight 128]
import { fork } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { systemClock } from "../src/lib/clock.ts";
import { createLog } from "../src/lib/log.ts";
import { EndpointQueue } from "../src/webhooks/endpoint-queue.ts";
import { TransportThread } from "../src/webhooks/transport/thread.ts";
import { newSecret } from "../src/webhooks/sign.ts";
import { median, print } from "./report.ts";
import { record } from "./record.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "2" },
    rounds: { type: "string", default: "7" },
    /** Concurrent requests on both sides; 128 is the limit per endpoint. */
    inflight: { type: "string", default: "128" },
  },
});
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);
const IN_FLIGHT = Number(options.inflight);

const body = JSON.stringify({ messageId: "0192f0c1-7a54-7c3b-9d1e-3f5a6b7c8d9e:1", text: "x".repeat(300) }).slice(-300);
const contentType = { "content-type": "application/json" };
const secrets = [newSecret()];

interface Measured {
  perSecond: number;
  /** CPU time of this process only; the sink is another process. */
  cpuMicros: number;
  /** CPU time of the event-loop thread. */
  loopMicros: number;
}

async function measured(run: (endsAt: number) => Promise<number>): Promise<Measured> {
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  const loopBefore = process.threadCpuUsage();
  const sent = await run(startedAt + SECONDS * 1000);
  const all = process.cpuUsage(cpuBefore);
  const loop = process.threadCpuUsage(loopBefore);
  return {
    perSecond: sent / ((performance.now() - startedAt) / 1000),
    cpuMicros: (all.user + all.system) / sent,
    loopMicros: (loop.user + loop.system) / sent,
  };
}

/** Baseline: one loop per concurrent request, each sending the same unsigned body. */
function bare(pool: Pool): Promise<Measured> {
  return measured(async (endsAt) => {
    let sent = 0;
    const loop = async (): Promise<void> => {
      while (performance.now() < endsAt) {
        const response = await pool.request({ method: "POST", path: "/hook", headers: contentType, body });
        await response.body.dump();
        if (response.statusCode !== 200) throw new Error(`the sink answered ${response.statusCode}`);
        sent += 1;
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
    return sent;
  });
}

interface CallbackJob {
  endpointKey: string;
  orderKey: string;
}

/**
 * The same bodies as queued jobs: signed just before sending, in order, through the SSRF-guarded client of the
 * transport thread.
 */
function queued(thread: TransportThread, url: string): Promise<Measured> {
  return measured(
    (endsAt) =>
      new Promise((resolve, reject) => {
        let sent = 0;
        let offered = 0;
        const queue = new EndpointQueue<CallbackJob>({
          clock: systemClock,
          async deliver({ orderKey }) {
            const request = { method: "POST", url, headers: contentType, body } as const;
            const timestampSeconds = Math.floor(Date.now() / 1000);
            const result = await thread.sendWebhook(request, { id: orderKey, timestampSeconds, secrets });
            if (result.kind === "failed") reject(new Error(`callback failed: ${result.reason}`));
            sent += 1;
            refill();
            return result.kind;
          },
          onReturned(_jobs, reason) {
            if (reason !== "the node stops") reject(new Error(`the queue returned callbacks: ${reason}`));
          },
          options: { inFlightPerEndpoint: IN_FLIGHT },
        });
        const refill = (): void => {
          if (performance.now() >= endsAt) return void queue.stop().then(() => resolve(sent), reject);
          while (queue.size < 2 * IN_FLIGHT && queue.offer({ endpointKey: "sink", orderKey: `message-${offered}` })) {
            offered += 1;
          }
        };
        refill();
      }),
  );
}

const sink = fork(join(import.meta.dirname, "sink.ts"));
const [{ port }] = (await once(sink, "message")) as [AddressInfo];
const origin = `http://127.0.0.1:${port}`;
const pool = new Pool(origin, { connections: IN_FLIGHT });
const thread = new TransportThread({ opened: { allow: [], loopback: true }, log: createLog("error") });

const rounds: { ours: Measured; theirs: Measured }[] = [];
for (let round = 0; round <= ROUNDS; round += 1) {
  const theirs = await bare(pool);
  const ours = await queued(thread, `${origin}/hook`);
  // Round 0 is the warm-up.
  if (round === 0) continue;
  rounds.push({ ours, theirs });
  print(
    `  round ${round}: ${(ours.perSecond / theirs.perSecond).toFixed(2)} of the bare pool (${ours.perSecond.toFixed(0)} and ${theirs.perSecond.toFixed(0)} per s)`,
  );
}
await Promise.all([pool.destroy(), thread.close()]);
sink.disconnect();

const result = {
  ratioToPool: median(rounds.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond)),
  callbacksPerSecond: median(rounds.map(({ ours }) => ours.perSecond)),
  poolPerSecond: median(rounds.map(({ theirs }) => theirs.perSecond)),
  cpuMicros: median(rounds.map(({ ours }) => ours.cpuMicros)),
  loopMicros: median(rounds.map(({ ours }) => ours.loopMicros)),
  poolCpuMicros: median(rounds.map(({ theirs }) => theirs.cpuMicros)),
};
print("\nratio to bare pool   callbacks/s   pool/s   CPU µs each   of it event loop   of pool");
print(
  [
    result.ratioToPool.toFixed(2).padStart(18),
    result.callbacksPerSecond.toFixed(0).padStart(13),
    result.poolPerSecond.toFixed(0).padStart(8),
    result.cpuMicros.toFixed(1).padStart(13),
    result.loopMicros.toFixed(1).padStart(18),
    result.poolCpuMicros.toFixed(1).padStart(9),
  ].join(" "),
);
await record("callbacks", {
  seconds: SECONDS,
  rounds: ROUNDS,
  inFlight: IN_FLIGHT,
  loadAverage: loadavg()[0],
  results: [result],
});
