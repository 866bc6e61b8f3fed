import { Agent, request as sendHttp, type IncomingMessage } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { Latencies } from "./latencies.ts";
import { serveLoads } from "./load-process.ts";

/**
 * Clients of the dashboard and of the API in their own process. People open one page after another and read it in between;
 * programs send requests at fixed times (open loop), and their latency counts from the due time.
 */

export interface HttpRequest {
  method: "GET" | "POST";
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

/** Opens pages in turn. With `untilFound`, follows the cursor of a list until a page has a row or the list ends. A list that does not find what it `finds` is counted as a failure. */
export interface Person {
  name: string;
  requests: readonly HttpRequest[];
  /** Time between two pages; half of it to one and a half. */
  readMs: number;
  untilFound?: boolean;
  /** Default: `something`. */
  finds?: "something" | "nothing" | "anything";
}

export interface Program {
  name: string;
  requests: readonly HttpRequest[];
  perSecond: number;
  /** First digit of the expected status. */
  success?: number;
}

export interface UsersLoad {
  port: number;
  /** Ends after this time, or once every person has opened `pages` pages. */
  seconds: number;
  pages?: number;
  people: readonly Person[];
  programs: readonly Program[];
}

export interface UserLatency {
  name: string;
  count: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  /** Most requests that one page took. */
  requestsMax: number;
  /** Responses other than the expected ones, by status. */
  failures: Record<string, number>;
}

export interface UsersMeasured {
  refused: number;
  users: UserLatency[];
}

const TIMEOUT_MS = 30_000;
const REQUESTS_MAX = 400;

class Tally {
  readonly name: string;
  readonly #latencies = new Latencies();
  readonly #failures: Record<string, number> = {};
  #count = 0;
  #requestsMax = 0;

  constructor(name: string) {
    this.name = name;
  }

  add(ms: number, requests = 1): void {
    this.#count += 1;
    this.#requestsMax = Math.max(this.#requestsMax, requests);
    this.#latencies.add(ms);
  }

  fail(reason: string): void {
    this.#failures[reason] = (this.#failures[reason] ?? 0) + 1;
  }

  get result(): UserLatency {
    return {
      name: this.name,
      count: this.#count,
      p50Ms: this.#latencies.quantile(0.5),
      p95Ms: this.#latencies.quantile(0.95),
      p99Ms: this.#latencies.quantile(0.99),
      requestsMax: this.#requestsMax,
      failures: this.#failures,
    };
  }
}

interface Response {
  status: number;
  body: string;
}

function call(port: number, agent: Agent, { method, path, headers = {}, body }: HttpRequest): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const length = body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const sent = sendHttp({ host: "127.0.0.1", port, agent, method, path, headers: { ...headers, ...length }, timeout: TIMEOUT_MS }, (response: IncomingMessage) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", reject);
    response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString("utf8") }));
  });
  sent.on("timeout", () => sent.destroy(new Error("time-out")));
  sent.on("error", reject);
  sent.end(body);
  return promise;
} // prettier-ignore

async function openPage(
  port: number,
  agent: Agent,
  page: HttpRequest,
  untilFound: boolean,
): Promise<{ requests: number; found: boolean }> {
  let cursor: string | null = null;
  for (let requests = 1; ; requests += 1) {
    const path: string = cursor === null ? page.path : `${page.path}&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await call(port, agent, { ...page, path });
    if (status !== 200) throw new Error(String(status));
    if (!untilFound) return { requests, found: true };
    const list = JSON.parse(body) as { data: unknown[]; nextCursor: string | null };
    const found = list.data.length > 0;
    if (found || list.nextCursor === null || requests === REQUESTS_MAX) return { requests, found };
    cursor = list.nextCursor;
  }
}

const reasonOf = (error: unknown): string => (error as Error).message;

async function runPerson(load: UsersLoad, person: Person, tally: Tally, endsAt: number): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const { requests, readMs, untilFound = false, finds = "something" } = person;
  if (readMs > 0) await pause(Math.random() * readMs);
  let next = Math.floor(Math.random() * requests.length);
  for (let opened = 0; opened < (load.pages ?? Infinity) && performance.now() < endsAt; opened += 1) {
    const page = requests[next++ % requests.length];
    if (!page) break;
    const sentAt = performance.now();
    try {
      const { requests: asked, found } = await openPage(load.port, agent, page, untilFound);
      tally.add(performance.now() - sentAt, asked);
      if (finds !== "anything" && found !== (finds === "something")) tally.fail(found ? "found" : "nothing found");
    } catch (error) {
      tally.fail(reasonOf(error));
      if (readMs === 0) break;
    }
    if (readMs > 0) await pause(readMs * (0.5 + Math.random()));
  }
  agent.destroy();
}

async function runProgram({ port }: UsersLoad, program: Program, tally: Tally, endsAt: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const { requests, perSecond, success = 2 } = program;
  const pending = new Set<Promise<void>>();
  const startedAt = performance.now();
  for (let issued = 0; ; issued += 1) {
    const dueAt = startedAt + (issued * 1000) / perSecond;
    if (dueAt >= endsAt) break;
    const waitMs = dueAt - performance.now();
    if (waitMs > 0) await pause(waitMs);
    const request = requests[issued % requests.length];
    if (!request) break;
    // The timer may be late by a millisecond, which is not the server's time.
    const sentAt = Math.max(dueAt, performance.now() - 1);
    const sent = call(port, agent, request).then(
      ({ status }) => (Math.floor(status / 100) === success ? tally.add(performance.now() - sentAt) : tally.fail(String(status))),
      (error: unknown) => tally.fail(reasonOf(error)),
    );
    pending.add(sent);
    void sent.finally(() => pending.delete(sent));
  }
  await Promise.all(pending);
  agent.destroy();
} // prettier-ignore

async function generate(load: UsersLoad): Promise<UsersMeasured> {
  const endsAt = performance.now() + load.seconds * 1000;
  const tallies = new Map<string, Tally>();
  const tallyOf = (name: string): Tally => {
    const known = tallies.get(name) ?? new Tally(name);
    tallies.set(name, known);
    return known;
  };
  await Promise.all([
    ...load.people.map((person) => runPerson(load, person, tallyOf(person.name), endsAt)),
    ...load.programs.map((program) => runProgram(load, program, tallyOf(program.name), endsAt)),
  ]);
  return { refused: 0, users: [...tallies.values()].map((tally) => tally.result) };
}

serveLoads(generate);
