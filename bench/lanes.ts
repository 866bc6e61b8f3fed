// Queue time of one-time passwords under a flood of promotions: p50 and p99 in ms.
// Run: npm run bench:lanes [-- --seconds 15 --rate 50 --connections 4 --engine sqlite,postgres]
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freshDatabase } from "../test/support/databases.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { portOf } from "./api-client.ts";
import { print } from "./report.ts";
import type { Load, Measured } from "./generator.ts";
import { LoadProcess } from "./load-process.ts";
import { record } from "./record.ts";
import { postRequest } from "./requests.ts";
import { metricValue, queueTimes, quantileBetween, readMetrics } from "./server-metrics.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "15" },
    /** One-time passwords per second. */
    rate: { type: "string", default: "50" },
    /** Connections that send bulks of promotions back to back. */
    connections: { type: "string", default: "4" },
    engine: { type: "string", default: "sqlite,postgres" },
  },
});
const SECONDS = Number(options.seconds);
const RATE = Number(options.rate);
const CONNECTIONS = Number(options.connections);
const BULK = 1000;
/** The flood fills its priority queue within this time. */
const WARM_UP_MS = 3000;

const promotions = JSON.stringify({
  sender: "HELIOG",
  to: Array.from({ length: BULK }, (_, index) => String(12_025_550_000 + index)),
  text: "Everything is half price today. Reply STOP to hear no more of it.",
  type: "PROMO",
});

const generator = new LoadProcess<Load, Measured>("generator.ts");

/** The flood comes from its own process, so that it shares no event loop with the latency measurement. */
function flood(server: ServerProcess, seconds: number): Promise<Measured> {
  const port = portOf(server);
  return generator.run({
    port,
    connections: CONNECTIONS,
    seconds,
    request: postRequest(server.apiKey, "/v1/sms", promotions),
  });
}

interface Password {
  messageId: string;
  /** From the request to its response: the messages are on disk. */
  responseMs: number;
}

async function sendPassword({ baseUrl, apiKey }: ServerProcess, index: number): Promise<Password> {
  const body = { sender: "HELIOG", to: String(13_105_550_000 + index), text: `${100_000 + index}`, type: "OTP" };
  const startedAt = performance.now();
  const response = await fetch(`${baseUrl}/v1/sms`, {
    method: "POST",
    headers: { apikey: apiKey, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const result = (await response.json()) as { data: { messageId: string }[]; message: string };
  const [sent] = result.data;
  if (!sent) throw new Error(`one-time password refused: ${result.message}`);
  return { messageId: sent.messageId, responseMs: performance.now() - startedAt };
}

/** Sends at a fixed rate, independent of earlier responses (open loop). */
async function sendPasswords(server: ServerProcess, seconds: number): Promise<Password[]> {
  const passwords: Promise<Password>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < seconds * RATE; index += 1) {
    await sleep(Math.max(0, startedAt + (index * 1000) / RATE - performance.now()));
    passwords.push(sendPassword(server, index));
  }
  return Promise.all(passwords);
}

/** From accept to submit ack, as the server recorded it. */
async function submitAckMs({ baseUrl, apiKey }: ServerProcess, messageId: string): Promise<number> {
  for (;;) {
    const response = await fetch(`${baseUrl}/v1/messages/${messageId}`, { headers: { apikey: apiKey } });
    const { createdAt, submittedAt } = (await response.json()) as { createdAt: number; submittedAt: number | null };
    if (submittedAt !== null) return submittedAt - createdAt;
    await sleep(20);
  }
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

interface Result {
  engine: string;
  passwords: number;
  /** From accept to submit. */
  queueP50Ms: number;
  queueP99Ms: number;
  /** From accept to submit ack; the simulated carrier uses the same disk. */
  takenP50Ms: number;
  takenP99Ms: number;
  answerP50Ms: number;
  answerP99Ms: number;
  promotionsAcceptedPerSecond: number;
  promotionsSentPerSecond: number;
}

const sentPromotions = (metrics: string): number =>
  metricValue(metrics, 'heliograph_queue_seconds_count{type="PROMO"}');

async function measure(engine: string, server: ServerProcess): Promise<Result> {
  await sendPasswords(server, 1);
  const flooding = flood(server, SECONDS + WARM_UP_MS / 1000 + 1);
  await sleep(WARM_UP_MS);
  const before = await readMetrics(server);
  const passwords = await sendPasswords(server, SECONDS);
  const after = await readMetrics(server);
  const { perSecond, refused } = await flooding;
  if (refused > 0) print(`  ${refused} bulks were refused (overload)`);
  const submitAcks: number[] = [];
  for (const { messageId } of passwords) submitAcks.push(await submitAckMs(server, messageId));
  const responses = passwords.map(({ responseMs }) => responseMs);
  return {
    engine,
    passwords: passwords.length,
    queueP50Ms: quantileBetween(queueTimes(before, "OTP"), queueTimes(after, "OTP"), 0.5),
    queueP99Ms: quantileBetween(queueTimes(before, "OTP"), queueTimes(after, "OTP"), 0.99),
    takenP50Ms: quantile(submitAcks, 0.5),
    takenP99Ms: quantile(submitAcks, 0.99),
    answerP50Ms: quantile(responses, 0.5),
    answerP99Ms: quantile(responses, 0.99),
    promotionsAcceptedPerSecond: perSecond * BULK,
    promotionsSentPerSecond: (sentPromotions(after) - sentPromotions(before)) / SECONDS,
  };
}

const cluster = options.engine.includes("postgres") ? await startCluster() : null;
const results: Result[] = [];
for (const engine of options.engine.split(",")) {
  const database = engine === "postgres" && cluster ? await freshDatabase(cluster.url) : null;
  const server = await startServer({
    env: { HELIOGRAPH_ACCEPT_BACKLOG: "200000" },
    ...(database ? { databaseUrl: database.url } : {}),
  });
  results.push(await measure(engine, server));
  await server.kill("SIGKILL");
  await server.cleanup();
  await database?.drop();
}
generator.end();
await cluster?.stop();

print(
  "\nqueue p50 ms   p99 ms   submit ack p50 ms   p99 ms   response p50 ms   p99 ms   promotions accepted/s   sent/s",
);
for (const result of results) {
  const cells = [
    result.queueP50Ms.toFixed(0).padStart(12),
    result.queueP99Ms.toFixed(0).padStart(8),
    result.takenP50Ms.toFixed(0).padStart(19),
    result.takenP99Ms.toFixed(0).padStart(8),
    result.answerP50Ms.toFixed(1).padStart(17),
    result.answerP99Ms.toFixed(1).padStart(8),
    result.promotionsAcceptedPerSecond.toFixed(0).padStart(23),
    result.promotionsSentPerSecond.toFixed(0).padStart(8),
  ];
  print(`${cells.join(" ")}   ${result.engine}`);
}
await record("lanes", { seconds: SECONDS, passwordsPerSecond: RATE, floodConnections: CONNECTIONS, results });
