import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { Queue } from "../lib/queue.ts";
import { Breaker, type BreakerState } from "../lib/breaker.ts";
import { REQUEST_TIMEOUT_MS } from "./transport/transport.ts";
import { Window, WINDOW_START } from "./window.ts";

/** Jobs in memory per allowed request, for an endpoint that has not delivered lately. */
const JOBS_PER_REQUEST = 32;
/** Such an endpoint gets at most this fraction (1/16) of the remaining room, so the next one always finds some. */
const ROOM_SHARES = 16;
/** A request that just started may use its whole time-out, plus time to commit its result. */
const STOP_LIMIT_MS = REQUEST_TIMEOUT_MS + 500;
/** Endpoints remembered; beyond it the longest idle one is forgotten. */
const ENDPOINTS_MAX = 10_000;

interface Job {
  endpointKey: string;
  /** Jobs of an endpoint with the same key run one after another. */
  orderKey: string;
}

/** Reason why jobs are returned without an attempt. */
export type ReturnReason = "one before it failed" | "the endpoint fails" | "the node stops";

type Outcome = "delivered" | "failed";
/** `untried` says nothing about the endpoint. */
export type Ending = Outcome | "untried";

interface Options {
  /** Jobs in memory, all endpoints. */
  jobsMax: number;
  jobsPerEndpoint: number;
  /** Requests in flight, all endpoints; above it each endpoint still gets one. */
  inFlightMax: number;
  inFlightPerEndpoint: number;
}

const DEFAULTS: Options = { jobsMax: 20_000, jobsPerEndpoint: 10_000, inFlightMax: 4096, inFlightPerEndpoint: 128 };

interface EndpointQueueDeps<J> {
  clock: Clock;
  /**
   * Makes one attempt and commits its result. `onAnswered` may be called before the commit: it frees the request's slot.
   */
  deliver(job: J, onAnswered: () => void): Promise<Ending>;
  /** Receives jobs that were not attempted; their rows are still in the store. */
  onReturned(jobs: readonly J[], reason: ReturnReason): void;
  log?: Log;
  options?: Partial<Options>;
}

/** State of an endpoint's queue, for the dashboard. */
export interface QueueHealth {
  inFlight: number;
  /** Size of the window. */
  allowed: number;
  waiting: number;
  breaker: BreakerState;
  /** Time until an open breaker lets a probe through. */
  openForMs: number;
  last: { outcome: Outcome; at: number } | null;
}

/** Duration of a request, and whether the window was full. */
interface Answer {
  ms: number;
  wasFull: boolean;
}

interface Endpoint<J> {
  readonly window: Window;
  readonly breaker: Breaker;
  /** Jobs that wait only for a slot. */
  readonly ready: Queue<J>;
  /** By order key: jobs behind the one that is ready or in flight; null if there are none. */
  readonly behind: Map<string, Queue<J> | null>;
  inFlight: number;
  /** Jobs in memory, in flight or waiting. */
  jobs: number;
  lastOutcome: Outcome | null;
  lastAt: number;
}

/**
 * A queue per endpoint, each with its own window and circuit breaker. Endpoints share no limited resource, and each may always
 * have one request in flight, so a hanging endpoint causes no head-of-line blocking for others. Memory holds a small part of the
 * callbacks; the rest is refused or returned to the store. Next: src/webhooks/deliver.ts
 */
export class EndpointQueue<J extends Job> {
  readonly #deps: EndpointQueueDeps<J>;
  readonly #options: Options;
  /** Longest idle first. */
  readonly #endpoints = new Map<string, Endpoint<J>>();
  #jobs = 0;
  #inFlight = 0;
  #isStopping = false;
  readonly #stopped = Promise.withResolvers<void>();

  constructor(deps: EndpointQueueDeps<J>) {
    this.#deps = deps;
    this.#options = { ...DEFAULTS, ...deps.options };
  }

  /** Jobs in memory, in flight or waiting. */
  get size(): number {
    return this.#jobs;
  }

  /** Accepts a job; false if there is no room or the breaker is open, and the job stays in the store. */
  offer(job: J): boolean {
    if (this.#isStopping) return false;
    const endpoint = this.#find(job.endpointKey);
    if (this.#isRefusing(endpoint)) return false;
    endpoint.jobs += 1;
    this.#jobs += 1;
    const behind = endpoint.behind.get(job.orderKey);
    if (behind) behind.push(job);
    else if (behind === null) endpoint.behind.set(job.orderKey, queueOf(job));
    else {
      endpoint.behind.set(job.orderKey, null);
      this.#makeReady(endpoint, job);
    }
    return true;
  }

  health(endpointKey: string): QueueHealth {
    const endpoint = this.#endpoints.get(endpointKey);
    if (!endpoint) {
      const allowed = Math.min(WINDOW_START, this.#options.inFlightPerEndpoint);
      return { inFlight: 0, allowed, waiting: 0, breaker: "closed", openForMs: 0, last: null };
    }
    const { breaker, inFlight, jobs, lastOutcome, lastAt } = endpoint;
    const now = this.#deps.clock.monotonic();
    return {
      inFlight,
      allowed: this.#allowed(endpoint, now),
      waiting: jobs - inFlight,
      breaker: breaker.stateAt(now),
      openForMs: breaker.openForMs(now),
      last: lastOutcome === null ? null : { outcome: lastOutcome, at: lastAt },
    };
  }

  /** Drops all waiting jobs: this node no longer owns their rows. */
  clear(): void {
    for (const endpoint of this.#endpoints.values()) this.#takeWaiting(endpoint, []);
  }

  /** Accepts no more jobs, returns the waiting ones, and resolves when requests in flight have ended or timed out. */
  stop(): Promise<void> {
    if (!this.#isStopping) {
      this.#isStopping = true;
      const waiting: J[] = [];
      for (const endpoint of this.#endpoints.values()) this.#takeWaiting(endpoint, waiting);
      if (waiting.length > 0) this.#deps.onReturned(waiting, "the node stops");
      this.#deps.clock.after(STOP_LIMIT_MS, () => this.#stopped.resolve());
      if (this.#inFlight === 0) this.#stopped.resolve();
    }
    return this.#stopped.promise;
  }

  #find(key: string): Endpoint<J> {
    const known = this.#endpoints.get(key);
    if (known && known.jobs > 0) return known;
    if (known) this.#endpoints.delete(key);
    else if (this.#endpoints.size >= ENDPOINTS_MAX) this.#forgetIdle();
    const endpoint = known ?? {
      window: new Window(this.#options.inFlightPerEndpoint),
      breaker: new Breaker(),
      ready: new Queue<J>(),
      behind: new Map<string, Queue<J> | null>(),
      inFlight: 0,
      jobs: 0,
      lastOutcome: null,
      lastAt: 0,
    };
    this.#endpoints.set(key, endpoint);
    return endpoint;
  }

  #forgetIdle(): void {
    for (const [key, { jobs }] of this.#endpoints) {
      if (jobs > 0) continue;
      this.#endpoints.delete(key);
      return;
    }
  }

  /** An endpoint that delivered last may fill half the memory: it will soon have emptied it. */
  #isRefusing(endpoint: Endpoint<J>): boolean {
    const { breaker, window, jobs, lastOutcome } = endpoint;
    const state = breaker.stateAt(this.#deps.clock.monotonic());
    const room = this.#options.jobsMax - this.#jobs;
    if (state === "open" || jobs >= this.#options.jobsPerEndpoint) return true;
    if (state === "closed" && lastOutcome === "delivered") return jobs >= room;
    const requests = state === "probing" ? 1 : window.allowed;
    return jobs >= Math.min(requests * JOBS_PER_REQUEST, Math.ceil(room / ROOM_SHARES));
  }

  /** Requests an endpoint may have in flight now. */
  #allowed({ breaker, window }: Endpoint<J>, now: number): number {
    const state = breaker.stateAt(now);
    if (state !== "closed") return state === "probing" ? 1 : 0;
    const share = Math.ceil((this.#options.inFlightMax - this.#inFlight) / ROOM_SHARES);
    return Math.max(1, Math.min(window.allowed, share));
  }

  #makeReady(endpoint: Endpoint<J>, job: J): void {
    const now = this.#deps.clock.monotonic();
    if (endpoint.ready.length === 0 && endpoint.inFlight < this.#allowed(endpoint, now)) {
      void this.#run(endpoint, job);
    } else {
      endpoint.ready.push(job);
      this.#startReady(endpoint, now);
    }
  }

  async #run(endpoint: Endpoint<J>, job: J): Promise<void> {
    const release = this.#acquireSlot(endpoint);
    let ending: Ending = "failed";
    try {
      ending = await this.#deps.deliver(job, () => {
        release();
        this.#startReady(endpoint, this.#deps.clock.monotonic());
      });
    } catch (error) {
      this.#deps.log?.error({ err: error }, "webhook delivery failed unexpectedly");
    }
    this.#end(endpoint, job, ending, release());
  }

  /** Takes a slot. The returned function releases it, once, and gives the duration. */
  #acquireSlot(endpoint: Endpoint<J>): () => Answer {
    const startedAt = this.#deps.clock.monotonic();
    endpoint.inFlight += 1;
    this.#inFlight += 1;
    let answer: Answer | null = null;
    return () => {
      if (answer) return answer;
      const ms = this.#deps.clock.monotonic() - startedAt;
      answer = { ms, wasFull: endpoint.inFlight >= endpoint.window.allowed };
      endpoint.inFlight -= 1;
      this.#inFlight -= 1;
      return answer;
    };
  }

  #end(endpoint: Endpoint<J>, job: J, ending: Ending, answer: Answer): void {
    const now = this.#deps.clock.monotonic();
    endpoint.jobs -= 1;
    this.#jobs -= 1;
    const before = endpoint.breaker.stateAt(now);
    if (ending !== "untried") this.#learn(endpoint, ending, answer, now);
    if (ending === "delivered") this.#startNext(endpoint, job.orderKey);
    else this.#returnFollowers(endpoint, job.orderKey);
    if (before !== "open" && endpoint.breaker.stateAt(now) === "open") this.#returnWaiting(endpoint);
    this.#startReady(endpoint, now);
    if (this.#isStopping && this.#inFlight === 0) this.#stopped.resolve();
  }

  #learn(endpoint: Endpoint<J>, outcome: Outcome, { ms, wasFull }: Answer, now: number): void {
    endpoint.lastOutcome = outcome;
    endpoint.lastAt = this.#deps.clock.now();
    if (outcome === "delivered") endpoint.window.delivered(ms, wasFull);
    else endpoint.window.failed();
    endpoint.breaker.record(outcome === "delivered", now);
  }

  /** Fairness: the next job of the same key queues behind those that are ready. */
  #startNext({ behind, ready }: Endpoint<J>, orderKey: string): void {
    const next = behind.get(orderKey)?.shift();
    if (next) ready.push(next);
    else behind.delete(orderKey);
  }

  #returnFollowers(endpoint: Endpoint<J>, orderKey: string): void {
    const queue = endpoint.behind.get(orderKey);
    endpoint.behind.delete(orderKey);
    if (!queue) return;
    const jobs: J[] = [];
    this.#drain(endpoint, queue, jobs);
    if (jobs.length > 0) this.#deps.onReturned(jobs, "one before it failed");
  }

  #returnWaiting(endpoint: Endpoint<J>): void {
    const jobs: J[] = [];
    this.#takeWaiting(endpoint, jobs);
    if (jobs.length > 0) this.#deps.onReturned(jobs, "the endpoint fails");
  }

  #startReady(endpoint: Endpoint<J>, now: number): void {
    while (endpoint.ready.length > 0 && endpoint.inFlight < this.#allowed(endpoint, now)) {
      const job = endpoint.ready.shift();
      if (job) void this.#run(endpoint, job);
    }
  }

  /** Removes all waiting jobs, in the order of each key. */
  #takeWaiting(endpoint: Endpoint<J>, into: J[]): void {
    const { ready, behind } = endpoint;
    const inFlight = new Set(behind.keys());
    const first = into.length;
    this.#drain(endpoint, ready, into);
    for (const { orderKey } of into.slice(first)) inFlight.delete(orderKey);
    for (const [orderKey, queue] of behind) {
      if (queue) this.#drain(endpoint, queue, into);
      if (inFlight.has(orderKey)) behind.set(orderKey, null);
      else behind.delete(orderKey);
    }
  }

  #drain(endpoint: Endpoint<J>, queue: Queue<J>, into: J[]): void {
    for (let job = queue.shift(); job; job = queue.shift()) {
      into.push(job);
      endpoint.jobs -= 1;
      this.#jobs -= 1;
    }
  }
}

function queueOf<J>(job: J): Queue<J> {
  const queue = new Queue<J>();
  queue.push(job);
  return queue;
}
