// CPU time of live streams: events are serialised once and written to all of them.
// Run: npm run bench:streams [-- --streams 2000 --events 100 --seconds 20]
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startServer } from "../test/support/server-process.ts";
import { callApi, portOf } from "./api-client.ts";
import { Latencies } from "./latencies.ts";
import { record } from "./record.ts";
import { print } from "./report.ts";
import type { Received } from "./stream-clients.ts";

const { values: options } = parseArgs({
  options: {
    streams: { type: "string", default: "2000" },
    /** Events per second: a delivered message has three. */
    events: { type: "string", default: "100" },
    seconds: { type: "string", default: "20" },
  },
});
const STREAMS = Number(options.streams);
const SECONDS = Number(options.seconds);
const MESSAGE_EVERY_MS = 3000 / Number(options.events);
/** Linux counts CPU time in ticks of 10 ms. */
const TICK_MS = 10;

const server = await startServer({ env: { HELIOGRAPH_STREAMS_MAX: String(2 * STREAMS) } });
await callApi(server, "PATCH", "/api/account", { sameText: null });

/** CPU time of all threads of the server. */
function cpuMs(): number {
  const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Sends messages at a constant rate, and returns the CPU time of the server and the response times. */
async function measure(seconds: number) {
  const responses = new Latencies();
  const cpuBefore = cpuMs();
  const begunAt = performance.now();
  const pending: Promise<void>[] = [];
  for (let index = 0; performance.now() - begunAt < seconds * 1000; index += 1) {
    pending.push(sendPassword(index, responses));
    const dueAt = begunAt + (index + 1) * MESSAGE_EVERY_MS;
    await pause(Math.max(0, dueAt - performance.now()));
  }
  await Promise.all(pending);
  const elapsedMs = performance.now() - begunAt;
  return { share: (cpuMs() - cpuBefore) / elapsedMs, p50: responses.quantile(0.5), p99: responses.quantile(0.99) };
}

async function sendPassword(index: number, responses: Latencies): Promise<void> {
  const to = String(13_105_550_000 + index);
  const sentAt = performance.now();
  await callApi(server, "POST", "/v1/sms", { sender: "HELIOG", to, text: `${100_000 + index}`, type: "OTP" });
  responses.add(performance.now() - sentAt);
}

const clients = fork(join(import.meta.dirname, "stream-clients.ts"));
async function received(): Promise<Received> {
  clients.send("count");
  const [counts] = (await once(clients, "message")) as [Received];
  return counts;
}

await measure(5);
const without = await measure(SECONDS);
clients.send({ port: portOf(server), apiKey: server.apiKey, streams: STREAMS });
while ((await received()).open < STREAMS) await pause(100);
await measure(2);
const before = await received();
const withStreams = await measure(SECONDS);
const after = await received();
clients.kill();
await server.cleanup();

const round = (value: number): number => Math.round(value * 1000) / 1000;
const result = {
  streams: STREAMS,
  eventsPerSecond: Number(options.events),
  coreShareWithout: round(without.share),
  coreShareWith: round(withStreams.share),
  coreShareOfStreams: round(withStreams.share - without.share),
  otpP50Ms: [round(without.p50), round(withStreams.p50)],
  otpP99Ms: [round(without.p99), round(withStreams.p99)],
  eventsPerStreamAndSecond: round((after.events - before.events) / STREAMS / SECONDS),
  closed: after.closed,
};
print(`${STREAMS} streams at ${options.events} events/s: ${(100 * result.coreShareOfStreams).toFixed(1)} % of a core`);
print(`  server without streams ${(100 * without.share).toFixed(1)} %, with ${(100 * withStreams.share).toFixed(1)} %`);
print(`  OTP response p50 ${result.otpP50Ms.join(" → ")} ms, p99 ${result.otpP99Ms.join(" → ")} ms`);
print(`  ${result.eventsPerStreamAndSecond} events per stream and second, ${after.closed} streams closed`);
await record("streams", result);
if (after.closed > 0) process.exitCode = 1;
