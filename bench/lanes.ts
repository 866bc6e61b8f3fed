// How long one-time passwords wait while promotions flood the server: p50 and p99 of the time in the queue, in ms.
// Run: npm run bench:lanes [-- --seconds 15 --rate 50 --connections 4 --engine sqlite,postgres]
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freshDatabase } from "../test/support/databases.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { portOf } from "./ask.ts";
import { say } from "./figures.ts";
import type { Load, Measured } from "./generator.ts";
import { LoadProcess } from "./load-process.ts";
import { record } from "./record.ts";
import { postRequest } from "./requests.ts";
import { figureOf, handedOver, quantileBetween, readMetrics } from "./server-figures.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "15" },
    /** Passwords per second. */
    rate: { type: "string", default: "50" },
    /** Callers that send a bulk of promotions each, one after the other, without a pause. */
    connections: { type: "string", default: "4" },
    engine: { type: "string", default: "sqlite,postgres" },
  },
});
const SECONDS = Number(options.seconds);
const RATE = Number(options.rate);
const CONNECTIONS = Number(options.connections);
const BULK = 1000;
/** The flood has filled its lane by then. */
const WARM_UP_MS = 3000;

const promotions = JSON.stringify({
  sender: "HELIOG",
  to: Array.from({ length: BULK }, (_, index) => String(12_025_550_000 + index)),
  text: "Everything is half price today. Reply STOP to hear no more of it.",
  type: "PROMO",
});

const generator = new LoadProcess<Load, Measured>("generator.ts");

/** The flood comes from a process of its own, so that it never shares an event loop with the clock of the passwords. */
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
  /** From the request to its answer: the messages are on disk. */
  answeredMs: number;
}

async function sendPassword({ baseUrl, apiKey }: ServerProcess, index: number): Promise<Password> {
  const body = { sender: "HELIOG", to: String(13_105_550_000 + index), text: `${100_000 + index}`, type: "OTP" };
  const startedAt = performance.now();
  const response = await fetch(`${baseUrl}/v1/sms`, {
    method: "POST",
    headers: { apikey: apiKey, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { data: { messageId: string }[]; message: string };
  const [sent] = answer.data;
  if (!sent) throw new Error(`a password was refused: ${answer.message}`);
  return { messageId: sent.messageId, answeredMs: performance.now() - startedAt };
}

/** At a steady rate, whether or not the earlier ones have been answered. */
async function trickle(server: ServerProcess, seconds: number): Promise<Password[]> {
  const passwords: Promise<Password>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < seconds * RATE; index += 1) {
    await sleep(Math.max(0, startedAt + (index * 1000) / RATE - performance.now()));
    passwords.push(sendPassword(server, index));
  }
  return Promise.all(passwords);
}

/** From accepted to taken by the carrier, as the server wrote it down. */
async function waitedMs({ baseUrl, apiKey }: ServerProcess, messageId: string): Promise<number> {
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
  /** From accepted to handed to the carrier. */
  queueP50Ms: number;
  queueP99Ms: number;
  /** From accepted to taken by the carrier, which is simulated on the same disk. */
  takenP50Ms: number;
  takenP99Ms: number;
  answerP50Ms: number;
  answerP99Ms: number;
  promotionsAcceptedPerSecond: number;
  promotionsSentPerSecond: number;
}

const sentPromotions = (metrics: string): number =>
  figureOf(metrics, 'heliograph_queue_milliseconds_count{type="PROMO"}');

async function measure(engine: string, server: ServerProcess): Promise<Result> {
  await trickle(server, 1);
  const flooding = flood(server, SECONDS + WARM_UP_MS / 1000 + 1);
  await sleep(WARM_UP_MS);
  const before = await readMetrics(server);
  const passwords = await trickle(server, SECONDS);
  const after = await readMetrics(server);
  const { perSecond, refused } = await flooding;
  if (refused > 0) say(`  ${refused} bulks were refused because too much was waiting`);
  const waited: number[] = [];
  for (const { messageId } of passwords) waited.push(await waitedMs(server, messageId));
  const answered = passwords.map(({ answeredMs }) => answeredMs);
  return {
    engine,
    passwords: passwords.length,
    queueP50Ms: quantileBetween(handedOver(before, "OTP"), handedOver(after, "OTP"), 0.5),
    queueP99Ms: quantileBetween(handedOver(before, "OTP"), handedOver(after, "OTP"), 0.99),
    takenP50Ms: quantile(waited, 0.5),
    takenP99Ms: quantile(waited, 0.99),
    answerP50Ms: quantile(answered, 0.5),
    answerP99Ms: quantile(answered, 0.99),
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

say("\nqueue p50 ms   p99 ms   taken p50 ms   p99 ms   answer p50 ms   p99 ms   promotions accepted/s   sent/s");
for (const result of results) {
  const cells = [
    result.queueP50Ms.toFixed(0).padStart(12),
    result.queueP99Ms.toFixed(0).padStart(8),
    result.takenP50Ms.toFixed(0).padStart(14),
    result.takenP99Ms.toFixed(0).padStart(8),
    result.answerP50Ms.toFixed(1).padStart(15),
    result.answerP99Ms.toFixed(1).padStart(8),
    result.promotionsAcceptedPerSecond.toFixed(0).padStart(23),
    result.promotionsSentPerSecond.toFixed(0).padStart(8),
  ];
  say(`${cells.join(" ")}   ${result.engine}`);
}
await record("lanes", { seconds: SECONDS, passwordsPerSecond: RATE, floodConnections: CONNECTIONS, results });
