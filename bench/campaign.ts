// A campaign from one file: upload and check, start on time, throttle, window, pause and cancellation, with one-time passwords
// beside it. Run: npm run bench:campaign [-- --recipients 1000000 --rate 20 --engine sqlite,postgres]
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freshDatabase } from "../test/support/databases.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { callApi } from "./api-client.ts";
import { record } from "./record.ts";
import { print } from "./report.ts";
import { configure, Counter } from "./testbed.ts";

const { values: options } = parseArgs({
  options: {
    recipients: { type: "string", default: "1000000" },
    /** One-time passwords per second, all the time. */
    rate: { type: "string", default: "20" },
    engine: { type: "string", default: "sqlite,postgres" },
  },
});
const RECIPIENTS = Number(options.recipients);
const RATE = Number(options.rate);
const PART_BYTES = 1_000_000;
const START_IN_MS = 5000;
const POLL_MS = 50;
const SAMPLE_MS = Math.min(1000, RECIPIENTS / 200);
const THROTTLE_PER_HOUR = 72_000;
const THROTTLE_SECONDS = 20;
const SETTLE_MS = 3000;
/** Recipients after which the campaign is paused, and after which it is cancelled. */
const PAUSE_AT = Math.min(RECIPIENTS / 3, 100_000);
const CANCEL_AT = Math.min((RECIPIENTS * 2) / 3, 200_000);

interface Audience {
  id: string;
  state: string;
  recipients: number;
}

interface Campaign {
  id: string;
  state: string;
  accepted: number;
}

interface Sample {
  second: number;
  accepted: number;
  sent: number;
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

const since = (start: number): number => Math.round(performance.now() - start);

async function until<T>(look: () => Promise<T>, isRight: (seen: T) => boolean): Promise<T> {
  for (;;) {
    const seen = await look();
    if (isRight(seen)) return seen;
    await sleep(POLL_MS);
  }
}

function* fileParts(recipients: number): Generator<string> {
  let part = "phone,first name,city\n";
  for (let index = 0; index < recipients; index += 1) {
    part += `${15_560_000_000 + index},Ada ${index},Pune\n`;
    if (part.length < PART_BYTES) continue;
    yield part;
    part = "";
  }
  if (part !== "") yield part;
}

async function upload(server: ServerProcess, name: string, recipients: number): Promise<Audience> {
  let size = 0;
  for (const part of fileParts(recipients)) size += Buffer.byteLength(part);
  const { id } = await callApi<Audience>(server, "POST", "/v1/audiences", { name, size });
  let offset = 0;
  for (const text of fileParts(recipients)) {
    await callApi(server, "POST", `/v1/audiences/${id}/parts`, { offset, text });
    offset += Buffer.byteLength(text);
  }
  return { id, state: "uploading", recipients };
}

const checked = (server: ServerProcess, { id }: Audience): Promise<Audience> =>
  until(
    () => callApi<Audience>(server, "GET", `/v1/audiences/${id}`),
    ({ state }) => state === "ready" || state === "failed",
  );

/** Sends one-time passwords at a fixed rate until it is stopped, and measures accept to submit ack and the response. */
class Passwords {
  readonly #server: ServerProcess;
  readonly #sent: Promise<{ messageId: string; responseMs: number } | null>[] = [];
  #isStopped = false;
  readonly #running: Promise<void>;

  constructor(server: ServerProcess) {
    this.#server = server;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    const startedAt = performance.now();
    for (let index = 0; !this.#isStopped; index += 1) {
      this.#sent.push(this.#send(index));
      await sleep(Math.max(0, startedAt + ((index + 1) * 1000) / RATE - performance.now()));
    }
  }

  async #send(index: number): Promise<{ messageId: string; responseMs: number } | null> {
    const startedAt = performance.now();
    const body = { sender: "HELIOG", to: String(13_105_550_000 + index), text: `${100_000 + index}`, type: "OTP" };
    const answer = await callApi<{ data: { messageId: string }[] }>(this.#server, "POST", "/v1/sms", body).catch(
      () => null,
    );
    const messageId = answer?.data[0]?.messageId;
    return messageId === undefined ? null : { messageId, responseMs: performance.now() - startedAt };
  }

  async end() {
    this.#isStopped = true;
    await this.#running;
    const all = await Promise.all(this.#sent);
    const sent = all.filter((each) => each !== null);
    const waits: number[] = [];
    for (const { messageId } of sent) {
      const { createdAt, submittedAt } = await until(
        () =>
          callApi<{ createdAt: number; submittedAt: number | null }>(this.#server, "GET", `/v1/messages/${messageId}`),
        (message) => message.submittedAt !== null,
      );
      waits.push((submittedAt ?? createdAt) - createdAt);
    }
    const responses = sent.map(({ responseMs }) => responseMs);
    return {
      passwords: sent.length,
      refused: all.length - sent.length,
      sentP50Ms: quantile(waits, 0.5),
      sentP99Ms: quantile(waits, 0.99),
      sentMaxMs: Math.max(0, ...waits),
      responseP99Ms: Math.round(quantile(responses, 0.99)),
    };
  }
}

async function measure(engine: string, server: ServerProcess, smsc: Counter) {
  const campaignOf = (id: string) => callApi<Campaign>(server, "GET", `/v1/campaigns/${id}`);
  const create = (name: string, audienceId: string, fields: object = {}) =>
    callApi<Campaign>(server, "POST", "/v1/campaigns", {
      name,
      type: "PROMO",
      sender: "HELIOG",
      text: "Hello {{first name}}, everything in {{city}} is half price today.",
      audienceId,
      ...fields,
    });

  const passwords = new Passwords(server);
  let at = performance.now();
  const uploaded = await upload(server, "all", RECIPIENTS);
  const uploadMs = since(at);
  at = performance.now();
  const audience = await checked(server, uploaded);
  const checkMs = since(at);
  print(`  ${audience.recipients} recipients: uploaded in ${uploadMs} ms, checked in ${checkMs} ms more`);

  const small = await checked(server, await upload(server, "few", 5000));
  const throttled = await create("throttled", small.id, { throttle: THROTTLE_PER_HOUR });
  await callApi(server, "POST", `/v1/campaigns/${throttled.id}/start`);
  await sleep(THROTTLE_SECONDS * 1000);
  const throttledAccepted = (await campaignOf(throttled.id)).accepted;
  await callApi(server, "POST", `/v1/campaigns/${throttled.id}/cancel`);

  // A window of whole minutes: it opens at the next one.
  const opensAt = Math.ceil((Date.now() + 2000) / 60_000) * 60_000;
  const time = (ms: number): string => new Date(ms).toISOString().slice(11, 16);
  const window = { from: time(opensAt), to: time(opensAt + 7_200_000), zone: "UTC" };
  const windowed = await create("windowed", small.id, { window });
  await callApi(server, "POST", `/v1/campaigns/${windowed.id}/start`);
  await until(
    () => campaignOf(windowed.id),
    ({ accepted }) => accepted > 0,
  );
  const windowDelayMs = Date.now() - opensAt;
  await callApi(server, "POST", `/v1/campaigns/${windowed.id}/cancel`);

  const campaign = await create("million", audience.id);
  const scheduledAt = Date.now() + START_IN_MS;
  await callApi(server, "POST", `/v1/campaigns/${campaign.id}/schedule`, { scheduledAt });
  await until(
    () => campaignOf(campaign.id),
    ({ accepted }) => accepted > 0,
  );
  const startDelayMs = Date.now() - scheduledAt;

  const samples: Sample[] = [];
  const startedAt = performance.now();
  const sentBefore = await smsc.received();
  const sample = async (): Promise<Sample> => {
    const { accepted } = await campaignOf(campaign.id);
    const sent = (await smsc.received()) - sentBefore;
    const taken = { second: Math.round((performance.now() - startedAt) / 100) / 10, accepted, sent };
    samples.push(taken);
    await sleep(SAMPLE_MS);
    return taken;
  };
  let latest = await sample();
  while (latest.accepted < PAUSE_AT) latest = await sample();

  at = performance.now();
  await callApi(server, "POST", `/v1/campaigns/${campaign.id}/pause`);
  const pauseMs = since(at);
  const atPause = await smsc.received();
  await sleep(SETTLE_MS);
  // One-time passwords go on.
  const sentAfterPause = Math.max(0, (await smsc.received()) - atPause - Math.ceil((SETTLE_MS / 1000) * RATE));
  latest = await sample();
  await callApi(server, "POST", `/v1/campaigns/${campaign.id}/resume`);
  while (latest.accepted < CANCEL_AT) latest = await sample();

  at = performance.now();
  await callApi(server, "POST", `/v1/campaigns/${campaign.id}/cancel`);
  const cancelMs = since(at);
  const report = await until(
    () => callApi<{ states: Record<string, number> }>(server, "GET", `/v1/campaigns/${campaign.id}/report`),
    ({ states }) => (states["accepted"] ?? 0) + (states["scheduled"] ?? 0) === 0,
  );
  const cancelledMs = since(at);
  await sample();
  const otp = await passwords.end();
  const { accepted } = await campaignOf(campaign.id);
  return {
    engine,
    recipients: audience.recipients,
    uploadMs,
    checkMs,
    throttledPerSecond: throttledAccepted / THROTTLE_SECONDS,
    windowDelayMs,
    startDelayMs,
    acceptedPerSecond: Math.round(latest.accepted / Math.max(1, latest.second - SETTLE_MS / 1000)),
    pauseMs,
    sentAfterPause,
    cancelMs,
    cancelledMs,
    neverFed: audience.recipients - accepted,
    states: report.states,
    otp,
    samples,
  };
}

const cluster = options.engine.includes("postgres") ? await startCluster() : null;
const smsc = new Counter("counting-smsc.ts");
const [smscPort] = (await once(smsc.child, "message")) as [number];
const results: Awaited<ReturnType<typeof measure>>[] = [];
for (const engine of options.engine.split(",")) {
  const database = engine === "postgres" && cluster ? await freshDatabase(cluster.url) : null;
  const server = await startServer({ env: {}, ...(database && { databaseUrl: database.url }) });
  await configure(server, smscPort, null);
  print(engine);
  const result = await measure(engine, server, smsc);
  results.push(result);
  const { samples: _, ...figures } = result;
  print(JSON.stringify(figures, null, 2));
  await server.kill("SIGKILL");
  await server.cleanup();
  await database?.drop();
}
smsc.child.disconnect();
await cluster?.stop();
await record("campaign", { recipients: RECIPIENTS, passwordsPerSecond: RATE, results });
