import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { openLedger, type Entry } from "./ledger.ts";
import { seededRandom } from "./random.ts";
import { bodyOf, createTraffic, type Intent } from "./traffic.ts";

/**
 * Load client in its own process that records every request and response in a ledger. It sends at a fixed rate over
 * several keep-alive connections and retries under the same idempotency key until the response is definite. After
 * "stop" it exits when every intent has a definite response. Argument: its options as JSON.
 */

export interface LedgerClientOptions {
  /** Base URLs of the nodes; a retry may use another node. */
  urls: readonly string[];
  apiKey: string;
  ledger: string;
  messagesPerSecond: number;
  connections: number;
  seed: number;
  /** False leaves out numbers that throttle: over SMPP they would lower the rate of the whole carrier. */
  isThrottled?: boolean;
}

const RESPONSE_TIMEOUT_MS = 60_000;
const RETRY_PAUSE_MS = 100;
const REPEATED_PROBABILITY = 0.02;
const REMEMBERED = 2000;
const BURST_SECONDS = 0.25;

const options = JSON.parse(process.argv[2] ?? "") as LedgerClientOptions;
const random = seededRandom(options.seed);
const traffic = createTraffic(random, `ledger-${options.seed}`, options.isThrottled);
const ledger = await openLedger(options.ledger);
const agent = new Agent({ keepAlive: true, maxSockets: options.connections });
const unanswered: Intent[] = [];
const remembered: Intent[] = [];
/**
 * Only one worker polls the rate limiter, the others queue behind it: polling by all of them would take CPU from the
 * server.
 */
let limiterQueue: Promise<unknown> = Promise.resolve();
let stopping = false;
let tokens = 0;
let refilledAt = performance.now();

process.on("message", (command) => {
  if (command === "stop") stopping = true;
});
process.on("disconnect", () => process.exit(1));

await Promise.all(Array.from({ length: options.connections }, runConnection));
await ledger.close();
process.exit(0);

/** The loop of one connection. */
async function runConnection(): Promise<void> {
  for (;;) {
    const intent = await nextIntent();
    if (!intent) return;
    const outcome = await send(intent);
    await ledger.write(outcome);
    if (outcome.entry === "unknown") {
      unanswered.push(intent);
      await sleep(RETRY_PAUSE_MS);
    } else if (outcome.entry === "accepted") {
      remembered[random.between(0, REMEMBERED - 1)] = intent;
    }
  }
}

/** Retries come first; a few requests repeat an accepted intent; the rest are new. */
async function nextIntent(): Promise<Intent | null> {
  const slot = limiterQueue.then(nextSlot);
  limiterQueue = slot;
  const retry = await slot;
  if (retry !== "new") return retry;
  const old = random.chance(REPEATED_PROBABILITY) ? remembered[random.between(0, REMEMBERED - 1)] : undefined;
  if (old) return old;
  const intent = traffic.next();
  tokens -= intent.to.length - 1;
  await ledger.write({ entry: "intent", ...intent });
  return intent;
}

/** An intent to retry, "new" if the rate limit allows a new one, or null at the end. */
async function nextSlot(): Promise<Intent | "new" | null> {
  for (;;) {
    const retry = unanswered.shift();
    if (retry) return retry;
    if (stopping) return null;
    if (takeToken()) return "new";
    await sleep(2);
  }
}

function takeToken(): boolean {
  const now = performance.now();
  const capacity = options.messagesPerSecond * BURST_SECONDS;
  tokens = Math.min(capacity, tokens + ((now - refilledAt) / 1000) * options.messagesPerSecond);
  refilledAt = now;
  if (tokens < 1) return false;
  tokens -= 1;
  return true;
}

async function send(intent: Intent): Promise<Entry> {
  const { key } = intent;
  try {
    const { status, body, replayed } = await post(random.pick(options.urls), intent);
    if (status === 200) {
      const { data } = JSON.parse(body) as { data: { messageId: string }[] };
      return { entry: "accepted", key, messageIds: data.map(({ messageId }) => messageId), replayed, at: Date.now() };
    }
    const { error } = JSON.parse(body) as { error: { code: string } };
    // After a failed commit, or while a request with the same key is running, the outcome is not known yet.
    if (status >= 500 || status === 409) return { entry: "unknown", key, reason: error.code };
    return { entry: "refused", key, status, code: error.code };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return { entry: "unknown", key, reason: code ?? message };
  }
}

interface Answer {
  status: number;
  body: string;
  replayed: boolean;
}

function post(url: string, intent: Intent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL("/v1/sms", url),
      {
        agent,
        method: "POST",
        timeout: RESPONSE_TIMEOUT_MS,
        headers: {
          apikey: options.apiKey,
          "content-type": "application/json",
          "idempotency-key": intent.key,
        },
      },
      (answer) => {
        let body = "";
        answer.setEncoding("utf8");
        answer.on("data", (chunk: string) => (body += chunk));
        answer.on("error", reject);
        answer.on("end", () => {
          const replayed = answer.headers["idempotent-replayed"] === "true";
          resolve({ status: answer.statusCode ?? 0, body, replayed });
        });
      },
    );
    sent.on("timeout", () => sent.destroy(new Error("response timeout")));
    sent.on("error", reject);
    sent.end(bodyOf(intent));
  });
}
