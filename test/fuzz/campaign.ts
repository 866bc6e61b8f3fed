import { Pool } from "undici";
import { setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_SETTINGS } from "../../src/model/account.ts";
import { CREDENTIAL_KINDS } from "../../src/model/credential.ts";
import type { Login } from "../support/credential.ts";
import { facadeFaults, generateFacadeRequest, MOST_MESSAGES, type KnownToFacades } from "./facade-requests.ts";
import { findFaults, pathOf, type Envelope, type FuzzResponse } from "./find-faults.ts";
import { Random } from "./random.ts";
import { play, rawCase, type RawCase, type RawOutcome } from "./raw.ts";
import { generate, type FuzzRequest, type Known } from "./requests.ts";

export interface Target {
  url: string;
  key: string;
  /** Reads the number of stored messages and keys; absent if the store is not accessible. */
  count?: () => Promise<{ messages: number; keys: number }>;
}

export interface Plan {
  seed: number;
  requests: number;
  rawRequests: number;
  /** Index of the first request, to replay one request of an earlier run. */
  from?: number;
  onProgress?: (report: Report) => void;
}

export interface Report {
  requests: number;
  rawRequests: number;
  readBack: number;
  statuses: Record<string, number>;
  violations: string[];
}

const FACADE_SHARE = 0.15;
const CONCURRENCY = 48;
const RAW_CONCURRENCY = 96;
const BATCH = 1000;
const VIOLATIONS_MAX = 40;
const READ_BACK_INTERVAL = 10;
const RESPONSE_TIMEOUT_MS = 120_000;

/** Initial settings of the account, restored after every change. */
const { chaos: DEFAULT_CHAOS, ...SETTINGS } = DEFAULT_SETTINGS;

/** Sends seeded random requests to a server and returns the violated guarantees. */
export async function campaign(target: Target, plan: Plan): Promise<Report> {
  const attack = new Attack(target, plan);
  try {
    await attack.run();
  } catch (error) {
    attack.report.violations.push(`seed ${plan.seed}, the run failed: ${String(error)}`);
  } finally {
    await attack.close();
  }
  return attack.report;
}

class Attack {
  readonly report: Report = { requests: 0, rawRequests: 0, readBack: 0, statuses: {}, violations: [] };
  readonly #target: Target;
  readonly #plan: Plan;
  readonly #pool: Pool;
  readonly #known: Known;
  readonly #facades: KnownToFacades = { logins: {}, sids: [], serviceSid: "" };
  /** Rows that must exist according to the responses. Requests without a response may add up to #unanswered more. */
  #stored = { messages: 0, keys: 0 };
  #unanswered = 0;
  readonly #kinds = new Map<string, number>();

  constructor(target: Target, plan: Plan) {
    this.#target = target;
    this.#plan = plan;
    this.#pool = new Pool(target.url, {
      connections: CONCURRENCY,
      headersTimeout: RESPONSE_TIMEOUT_MS,
      bodyTimeout: RESPONSE_TIMEOUT_MS,
    });
    this.#known = { key: target.key, messageIds: [], keyIds: [], recordIds: {}, numbers: [], cursors: [] };
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  async run(): Promise<void> {
    const { requests, rawRequests, from = 0, onProgress } = this.#plan;
    if (this.#target.count) this.#stored = await this.#target.count();
    await this.#createLogins();
    const batches = Math.max(1, Math.ceil((requests + rawRequests) / BATCH));
    for (let batch = 0; batch < batches && this.report.violations.length < VIOLATIONS_MAX; batch += 1) {
      const share = (all: number, index: number): number => from + Math.floor((all * index) / batches);
      await inParallel(CONCURRENCY, share(requests, batch), share(requests, batch + 1), (index) =>
        this.#request(index),
      );
      await this.#removeRoutes();
      await inParallel(RAW_CONCURRENCY, share(rawRequests, batch), share(rawRequests, batch + 1), (index) =>
        this.#rawRequest(index),
      );
      await this.#settle();
      onProgress?.(this.report);
    }
    await this.#ordinarySend();
  }

  async #request(index: number): Promise<void> {
    const random = Random.of(this.#plan.seed, index);
    this.report.requests += 1;
    if (random.chance(FACADE_SHARE)) return this.#facadeRequest(index, random);
    const request = generate(random, this.#known);
    let answer: FuzzResponse;
    try {
      answer = await this.#send(request);
    } catch (error) {
      return this.#violation(index, request, `no answer: ${String(error)}`);
    }
    this.#countStatus(answer.status);
    for (const fault of findFaults(request, answer)) this.#violation(index, request, fault, answer);
    this.#rememberIds(request, answer);
    // Restore at once: with stricter settings hardly any message of the other requests would be accepted.
    if (request.method === "PATCH" && pathOf(request) === "/api/account" && answer.status === 200)
      await this.#change("PATCH", "/api/account", SETTINGS);
    if (pathOf(request) === "/v1/sms" && answer.status === 200 && random.chance(1 / READ_BACK_INTERVAL))
      await this.#readBack(index, request, JSON.parse(answer.body) as Envelope);
  }

  /** Logins for the APIs of other products. */
  async #createLogins(): Promise<void> {
    const headers = this.#jsonHeaders();
    for (const kind of CREDENTIAL_KINDS) {
      const body = Buffer.from(JSON.stringify({ kind, name: "Fuzz" }));
      const answer = await this.#send({ method: "POST", path: "/api/credentials", headers, body });
      this.#facades.logins[kind] = JSON.parse(answer.body) as Login;
    }
    const path = "/api/verify-configs?name=default";
    const listed = await this.#send({ method: "GET", path, headers, body: null });
    this.#facades.serviceSid = (JSON.parse(listed.body) as { data: { twilioSid: string }[] }).data[0]?.twilioSid ?? "";
  }

  async #facadeRequest(index: number, random: Random): Promise<void> {
    const request = generateFacadeRequest(random, this.#facades);
    // Its messages are in no envelope that could be counted.
    if (request.method === "POST" || request.route.isSend) this.#unanswered += MOST_MESSAGES;
    try {
      const answer = await this.#send(request);
      this.#countStatus(answer.status);
      for (const fault of facadeFaults(request, answer)) this.#violation(index, request, fault, answer);
      remember(this.#facades.sids, /"sid": ?"([A-Z]{2}[0-9a-f]{32})"/.exec(answer.body)?.[1]);
    } catch (error) {
      this.#violation(index, request, `no answer: ${String(error)}`);
    }
  }

  async #send({
    method,
    path,
    headers,
    body,
  }: Pick<FuzzRequest, "method" | "path" | "headers" | "body">): Promise<FuzzResponse> {
    const response = await this.#pool.request({
      method,
      path,
      headers,
      body,
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    if (String(response.headers["content-type"]).startsWith("text/event-stream")) {
      // An event stream has no end; its headers are the response.
      response.body.on("error", () => undefined).destroy();
      return { status: response.statusCode, headers: response.headers, body: "" };
    }
    return { status: response.statusCode, headers: response.headers, body: await response.body.text() };
  }

  #rememberIds(request: FuzzRequest, { status, headers, body }: FuzzResponse): void {
    const path = pathOf(request);
    if (
      status === 200 &&
      path === "/v1/sms" &&
      request.method === "POST" &&
      headers["idempotent-replayed"] !== "true"
    ) {
      const { data } = JSON.parse(body) as Envelope;
      this.#stored.messages += data.length;
      remember(this.#known.messageIds, data[0]?.messageId);
      remember(this.#known.numbers, data[0]?.recipient);
    } else if (status === 201) {
      const { id } = JSON.parse(body) as { id: string };
      const isKey = path.startsWith("/api/keys");
      if (isKey) this.#stored.keys += 1;
      remember(isKey ? this.#known.keyIds : (this.#known.recordIds[path] ??= []), id);
    } else if (status === 200 && body.includes('"nextCursor":"')) {
      remember(this.#known.cursors, (JSON.parse(body) as { nextCursor: string }).nextCursor);
    }
  }

  async #readBack(index: number, request: FuzzRequest, { data }: Envelope): Promise<void> {
    const sent = JSON.parse(request.body?.toString("utf8") ?? "null") as Record<string, unknown>;
    // The stored text of a template or shortened link differs from the request.
    const { text } = ["custom", "recipients", "shortenUrlData"].some((field) => field in sent) ? {} : sent;
    for (const { messageId, recipient } of data.slice(0, 20)) {
      const answer = await this.#send({
        method: "GET",
        path: `/v1/messages/${messageId}`,
        headers: ["apikey", this.#target.key],
        body: null,
      });
      const read = JSON.parse(answer.body) as { recipient: string; text: string };
      this.report.readBack += 1;
      if (answer.status !== 200 || read.recipient !== recipient || (text !== undefined && read.text !== text))
        this.#violation(
          index,
          request,
          `read back differently: ${answer.status} ${answer.body.slice(0, 300)}, not ${JSON.stringify(recipient)}`,
        );
    }
  }

  async #rawRequest(index: number): Promise<void> {
    const attempt = rawCase(Random.of(this.#plan.seed ^ 0x5eed, index), this.#target.key);
    this.report.rawRequests += 1;
    const outcome = await play(attempt, new URL(this.#target.url));
    for (const { status, body } of outcome.answers) {
      this.#countStatus(status);
      if (status === 200 && body.startsWith('{"id":"'))
        this.#stored.messages += (JSON.parse(body) as Envelope).totalCount;
    }
    if (outcome.answers.length < attempt.answersMax) this.#unanswered += attempt.answersMax;
    for (const fault of rawFaults(attempt, outcome)) {
      const bytes = Buffer.concat(attempt.pieces.filter((piece) => typeof piece !== "number"));
      this.#record(
        `raw ${index}, ${attempt.name}: ${fault}\n    ${JSON.stringify(bytes.toString("latin1").slice(0, 600))}\n    ${JSON.stringify(outcome).slice(0, 600)}`,
      );
    }
  }

  /** After each batch: compares stored rows with the responses and restores the simulator's settings. */
  async #settle(): Promise<void> {
    const { count } = this.#target;
    if (count) {
      await sleep(50);
      const found = await count();
      const extra = found.messages - this.#stored.messages;
      if (extra < 0 || extra > this.#unanswered)
        this.#record(
          `${found.messages} messages are stored and ${this.#stored.messages} were acknowledged (${this.#unanswered} unanswered)`,
        );
      if (found.keys !== this.#stored.keys)
        this.#record(`${found.keys} keys are stored and ${this.#stored.keys} were acknowledged`);
      this.#stored = found;
      this.#unanswered = 0;
    }
    await this.#change("PUT", "/api/simulator/chaos", { ...DEFAULT_CHAOS, delayMs: 0 });
  }

  /** Removes routes to carriers other than the simulator: with one, the account validates sender names strictly. */
  async #removeRoutes(): Promise<void> {
    const headers = ["apikey", this.#target.key];
    const listed = await this.#send({ method: "GET", path: "/api/routes?limit=200", headers, body: null });
    const { data } = JSON.parse(listed.body) as { data: { id: string; carrier: string }[] };
    for (const { id, carrier } of data) {
      if (carrier === "simulator") continue;
      const { status, body } = await this.#send({ method: "DELETE", path: `/api/routes/${id}`, headers, body: null });
      if (status !== 200) this.#record(`removing a route got ${status} ${body}`);
    }
  }

  async #change(method: string, path: string, body: object): Promise<void> {
    const answer = await this.#send({
      method,
      path,
      headers: this.#jsonHeaders(),
      body: Buffer.from(JSON.stringify(body)),
    });
    if (answer.status !== 200) this.#record(`${method} ${path} answered ${answer.status} ${answer.body}`);
  }

  async #ordinarySend(): Promise<void> {
    const body = Buffer.from(
      JSON.stringify({ sender: "HELIOG", to: "15550100100", text: "Still here", type: "TRANS" }),
    );
    const answer = await this.#send({ method: "POST", path: "/v1/sms", headers: this.#jsonHeaders(), body });
    if (answer.status !== 200) this.#record(`an ordinary send after the run got ${answer.status} ${answer.body}`);
  }

  #jsonHeaders(): string[] {
    return ["apikey", this.#target.key, "content-type", "application/json"];
  }

  #countStatus(status: number): void {
    this.report.statuses[status] = (this.report.statuses[status] ?? 0) + 1;
  }

  #violation(index: number, request: Omit<FuzzRequest, "route">, fault: string, answer?: FuzzResponse): void {
    const { method, path, headers, body } = request;
    this.#record(
      `request ${index}: ${fault}\n    ${method} ${path.slice(0, 300)} ${JSON.stringify(headers).slice(0, 300)}\n` +
        `    ${JSON.stringify(body?.toString("utf8").slice(0, 600) ?? null)}\n    ${answer ? `${answer.status} ${answer.body.slice(0, 600)}` : ""}`,
    );
  }

  /** Keeps at most three violations of each kind. */
  #record(violation: string): void {
    const kind = (violation.split("\n", 1)[0] ?? "").replaceAll(/\d+/g, "#");
    const count = (this.#kinds.get(kind) ?? 0) + 1;
    this.#kinds.set(kind, count);
    if (count <= 3 && this.report.violations.length < VIOLATIONS_MAX)
      this.report.violations.push(`seed ${this.#plan.seed}, ${violation}`);
  }
}

function rawFaults({ answersMin, answersMax, statuses }: RawCase, { answers, rest, timedOut }: RawOutcome): string[] {
  const faults: string[] = [];
  const seen = answers.map((answer) => answer.status);
  if (timedOut) faults.push("neither answered nor closed within 15 s");
  if (seen.some((status) => status >= 500)) faults.push(`a ${seen.join()}`);
  if (rest !== "") faults.push("half an answer");
  if (seen.length > answersMax) faults.push(`${seen.length} answers where at most ${answersMax} are due`);
  else if (seen.length < answersMin) faults.push(`${seen.length} answers where ${answersMin} are due`);
  else if (statuses && statuses.join() !== seen.join())
    faults.push(`answered ${seen.join()} where ${statuses.join()} is due`);
  return faults;
}

const REMEMBERED = 500;

function remember(list: string[], value: string | undefined): void {
  if (value === undefined) return;
  list.push(value);
  if (list.length > REMEMBERED) list.shift();
}

async function inParallel(
  width: number,
  from: number,
  to: number,
  run: (index: number) => Promise<void>,
): Promise<void> {
  let next = from;
  const worker = async (): Promise<void> => {
    while (next < to) await run(next++);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
