import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { openLedger, type Entry } from "./ledger.ts";
import { seededRandom } from "./random.ts";
import { bodyOf, createTraffic, type Intent } from "./traffic.ts";

/**
 * The customer who writes everything down: a process of its own that sends at a set rate over several kept-alive
 * connections, and sends again under the same key whatever got no clear answer. It ends, once told to, when every
 * intent has a clear answer. Argument: its orders, as JSON.
 */

export interface Orders {
  /** The nodes; a request that got no answer from one may go to another next. */
  urls: readonly string[];
  apiKey: string;
  ledger: string;
  messagesPerSecond: number;
  connections: number;
  seed: number;
}

const ANSWER_TIMEOUT_MS = 15_000;
const RETRY_PAUSE_MS = 100;
const REPEATED_PROBABILITY = 0.02;
const REMEMBERED = 2000;
const BURST_SECONDS = 0.25;

const orders = JSON.parse(process.argv[2] ?? "") as Orders;
const random = seededRandom(orders.seed);
const traffic = createTraffic(random, `ledger-${orders.seed}`);
const ledger = await openLedger(orders.ledger);
const agent = new Agent({ keepAlive: true, maxSockets: orders.connections });
const unanswered: Intent[] = [];
const remembered: Intent[] = [];
/** One waits for its turn and the others behind it: many that look at the clock all the time would take it from the server. */
let atTheDoor: Promise<unknown> = Promise.resolve();
let stopping = false;
let allowance = 0;
let filledAt = performance.now();

process.on("message", (word) => {
  if (word === "stop") stopping = true;
});
process.on("disconnect", () => process.exit(1));

await Promise.all(Array.from({ length: orders.connections }, work));
await ledger.close();
process.exit(0);

/** One connection's worth of customer. */
async function work(): Promise<void> {
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

/** What has no answer yet goes first; now and then something long accepted is asked again; else something new. */
async function nextIntent(): Promise<Intent | null> {
  const turn = atTheDoor.then(untilTurn);
  atTheDoor = turn;
  const again = await turn;
  if (again !== "new") return again;
  const old = random.chance(REPEATED_PROBABILITY) ? remembered[random.between(0, REMEMBERED - 1)] : undefined;
  if (old) return old;
  const intent = traffic.next();
  allowance -= intent.to.length - 1;
  await ledger.write({ entry: "intent", ...intent });
  return intent;
}

/** Something to ask again, leave to ask something new, or nothing more. */
async function untilTurn(): Promise<Intent | "new" | null> {
  for (;;) {
    const again = unanswered.shift();
    if (again) return again;
    if (stopping) return null;
    if (takeAllowance()) return "new";
    await sleep(2);
  }
}

function takeAllowance(): boolean {
  const now = performance.now();
  const most = orders.messagesPerSecond * BURST_SECONDS;
  allowance = Math.min(most, allowance + ((now - filledAt) / 1000) * orders.messagesPerSecond);
  filledAt = now;
  if (allowance < 1) return false;
  allowance -= 1;
  return true;
}

async function send(intent: Intent): Promise<Entry> {
  const { key } = intent;
  try {
    const { status, body, replayed } = await post(random.pick(orders.urls), intent);
    if (status === 200) {
      const { data } = JSON.parse(body) as { data: { messageId: string }[] };
      return { entry: "accepted", key, messageIds: data.map(({ messageId }) => messageId), replayed };
    }
    const { error } = JSON.parse(body) as { error: { code: string } };
    // A store that broke during its commit, and a twin that is still under way, do not say what becomes of the request.
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
        timeout: ANSWER_TIMEOUT_MS,
        headers: {
          apikey: orders.apiKey,
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
    sent.on("timeout", () => sent.destroy(new Error("no answer in time")));
    sent.on("error", reject);
    sent.end(bodyOf(intent));
  });
}
