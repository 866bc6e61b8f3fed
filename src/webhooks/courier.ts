import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { Queue } from "../lib/queue.ts";
import { Breaker, type BreakerState } from "../lib/breaker.ts";
import { PUSH_LIMIT_MS } from "./push.ts";
import { Window, WINDOW_START } from "./window.ts";

/** What an endpoint may hold in memory for each request that it may have in flight, as long as it has not shown better. */
const HELD_PER_REQUEST = 32;
/** What such an endpoint may take of the room that is left, one part in so many: so there is always some for the next. */
const SHARES = 16;
/** An attempt that has just begun has all its time, and a little more to be written down. */
const STOP_LIMIT_MS = PUSH_LIMIT_MS + 500;
/** What is known of quiet endpoints beyond these is forgotten. */
const ENDPOINTS_MAX = 10_000;

interface Job {
  endpointKey: string;
  /** Of the jobs that share it at an endpoint, each waits for the one before. */
  orderKey: string;
}

/** What happened to jobs that are handed back without an attempt. */
export type ReturnReason = "one before it failed" | "the endpoint fails" | "the courier stops";

type Outcome = "delivered" | "failed";
/** What was not attempted after all tells nothing of its endpoint. */
export type Ending = Outcome | "untried";

interface Options {
  /** In memory, together. */
  jobsMax: number;
  jobsPerEndpoint: number;
  /** In flight, together; beyond it each endpoint still has one. */
  inFlightMax: number;
  inFlightPerEndpoint: number;
}

const DEFAULTS: Options = { jobsMax: 20_000, jobsPerEndpoint: 10_000, inFlightMax: 4096, inFlightPerEndpoint: 128 };

interface Needs<J> {
  clock: Clock;
  /**
   * One attempt, with everything that has to be written down about it. Where the endpoint has answered well, `onAnswered`
   * may say so before that: its place is free for another, however long the writing takes.
   */
  deliver(job: J, onAnswered: () => void): Promise<Ending>;
  /** Takes jobs that were not attempted; the store still has them. */
  onReturned(jobs: readonly J[], reason: ReturnReason): void;
  log?: Log;
  options?: Partial<Options>;
}

/** How an endpoint is doing, for a page. */
export interface EndpointHealth {
  inFlight: number;
  /** How many may be in flight at once. */
  allowed: number;
  waiting: number;
  breaker: BreakerState;
  /** How long an open breaker stays so. */
  openForMs: number;
  last: { outcome: Outcome; at: number } | null;
}

/** How soon an endpoint answered, and whether it had as many requests in flight as it may. */
interface Answer {
  ms: number;
  wasFull: boolean;
}

interface Endpoint<J> {
  readonly window: Window;
  readonly breaker: Breaker;
  /** Jobs that wait for nothing but a place. */
  readonly ready: Queue<J>;
  /** By order key: those that wait for the one that is ready or in flight; null while there are none. */
  readonly behind: Map<string, Queue<J> | null>;
  inFlight: number;
  /** Everything in memory, in flight or not. */
  held: number;
  lastOutcome: Outcome | null;
  lastAt: number;
}

/**
 * Carries jobs from memory to their endpoints, each endpoint at the pace that it can take. Endpoints share nothing that
 * they could use up for one another: each may always have one job in flight, so what hangs or fails keeps nobody else
 * waiting, and an endpoint goes on when something of its own has ended. The memory is a small part of what is in the
 * store; what it cannot or should not hold is refused or handed back.
 */
export class Courier<J extends Job> {
  readonly #needs: Needs<J>;
  readonly #options: Options;
  /** Those that were without work the longest stand in front. */
  readonly #endpoints = new Map<string, Endpoint<J>>();
  #held = 0;
  #inFlight = 0;
  #isStopping = false;
  readonly #stopped = Promise.withResolvers<void>();

  constructor(needs: Needs<J>) {
    this.#needs = needs;
    this.#options = { ...DEFAULTS, ...needs.options };
  }

  /** Jobs in memory, in flight or not. */
  get size(): number {
    return this.#held;
  }

  /** Takes a job; false when there is no room for it, or its endpoint is to be left alone, and it has to stay in the store. */
  offer(job: J): boolean {
    if (this.#isStopping) return false;
    const endpoint = this.#find(job.endpointKey);
    if (this.#isRefusing(endpoint)) return false;
    endpoint.held += 1;
    this.#held += 1;
    const behind = endpoint.behind.get(job.orderKey);
    if (behind) behind.push(job);
    else if (behind === null) endpoint.behind.set(job.orderKey, queueOf(job));
    else {
      endpoint.behind.set(job.orderKey, null);
      this.#makeReady(endpoint, job);
    }
    return true;
  }

  /** The endpoints that take nothing now, so that whoever fetches jobs can leave theirs in the store. */
  refusing(): string[] {
    const refusing: string[] = [];
    for (const [key, endpoint] of this.#endpoints) if (this.#isRefusing(endpoint)) refusing.push(key);
    return refusing;
  }

  health(endpointKey: string): EndpointHealth {
    const endpoint = this.#endpoints.get(endpointKey);
    if (!endpoint) {
      const allowed = Math.min(WINDOW_START, this.#options.inFlightPerEndpoint);
      return { inFlight: 0, allowed, waiting: 0, breaker: "closed", openForMs: 0, last: null };
    }
    const { breaker, inFlight, held, lastOutcome, lastAt } = endpoint;
    const now = this.#needs.clock.monotonic();
    return {
      inFlight,
      allowed: this.#allowed(endpoint, now),
      waiting: held - inFlight,
      breaker: breaker.stateAt(now),
      openForMs: breaker.openForMs(now),
      last: lastOutcome === null ? null : { outcome: lastOutcome, at: lastAt },
    };
  }

  /** Forgets everything that is not in flight: it is no longer this process's to tell. */
  clear(): void {
    for (const endpoint of this.#endpoints.values()) this.#takeWaiting(endpoint, []);
  }

  /** Takes nothing more, hands back what waits, and resolves when what is in flight has ended or has had all its time. */
  stop(): Promise<void> {
    if (!this.#isStopping) {
      this.#isStopping = true;
      const waiting: J[] = [];
      for (const endpoint of this.#endpoints.values()) this.#takeWaiting(endpoint, waiting);
      if (waiting.length > 0) this.#needs.onReturned(waiting, "the courier stops");
      this.#needs.clock.after(STOP_LIMIT_MS, () => this.#stopped.resolve());
      if (this.#inFlight === 0) this.#stopped.resolve();
    }
    return this.#stopped.promise;
  }

  #find(key: string): Endpoint<J> {
    const known = this.#endpoints.get(key);
    if (known && known.held > 0) return known;
    if (known) this.#endpoints.delete(key);
    else if (this.#endpoints.size >= ENDPOINTS_MAX) this.#forgetOne();
    const endpoint = known ?? {
      window: new Window(this.#options.inFlightPerEndpoint),
      breaker: new Breaker(),
      ready: new Queue<J>(),
      behind: new Map<string, Queue<J> | null>(),
      inFlight: 0,
      held: 0,
      lastOutcome: null,
      lastAt: 0,
    };
    this.#endpoints.set(key, endpoint);
    return endpoint;
  }

  #forgetOne(): void {
    for (const [key, { held }] of this.#endpoints) {
      if (held > 0) continue;
      this.#endpoints.delete(key);
      return;
    }
  }

  /** An endpoint that has just answered well may fill half the memory, since it will soon have emptied it. */
  #isRefusing(endpoint: Endpoint<J>): boolean {
    const { breaker, window, held, lastOutcome } = endpoint;
    const state = breaker.stateAt(this.#needs.clock.monotonic());
    const room = this.#options.jobsMax - this.#held;
    if (state === "open" || held >= this.#options.jobsPerEndpoint) return true;
    if (state === "closed" && lastOutcome === "delivered") return held >= room;
    const requests = state === "probing" ? 1 : window.allowed;
    return held >= Math.min(requests * HELD_PER_REQUEST, Math.ceil(room / SHARES));
  }

  /** How many an endpoint may have in flight now. */
  #allowed({ breaker, window }: Endpoint<J>, now: number): number {
    const state = breaker.stateAt(now);
    if (state !== "closed") return state === "probing" ? 1 : 0;
    const share = Math.ceil((this.#options.inFlightMax - this.#inFlight) / SHARES);
    return Math.max(1, Math.min(window.allowed, share));
  }

  #makeReady(endpoint: Endpoint<J>, job: J): void {
    const now = this.#needs.clock.monotonic();
    if (endpoint.ready.length === 0 && endpoint.inFlight < this.#allowed(endpoint, now)) {
      void this.#carry(endpoint, job);
    } else {
      endpoint.ready.push(job);
      this.#startReady(endpoint, now);
    }
  }

  async #carry(endpoint: Endpoint<J>, job: J): Promise<void> {
    const leave = this.#takePlace(endpoint);
    let ending: Ending = "failed";
    try {
      ending = await this.#needs.deliver(job, () => {
        leave();
        this.#startReady(endpoint, this.#needs.clock.monotonic());
      });
    } catch (error) {
      this.#needs.log?.error({ err: error }, "the delivery of a callback was cut short");
    }
    this.#end(endpoint, job, ending, leave());
  }

  /** Gives a function that leaves the place again, once, and says how the endpoint answered. */
  #takePlace(endpoint: Endpoint<J>): () => Answer {
    const startedAt = this.#needs.clock.monotonic();
    endpoint.inFlight += 1;
    this.#inFlight += 1;
    let answer: Answer | null = null;
    return () => {
      if (answer) return answer;
      const ms = this.#needs.clock.monotonic() - startedAt;
      answer = { ms, wasFull: endpoint.inFlight >= endpoint.window.allowed };
      endpoint.inFlight -= 1;
      this.#inFlight -= 1;
      return answer;
    };
  }

  #end(endpoint: Endpoint<J>, job: J, ending: Ending, answer: Answer): void {
    const now = this.#needs.clock.monotonic();
    endpoint.held -= 1;
    this.#held -= 1;
    const before = endpoint.breaker.stateAt(now);
    if (ending !== "untried") this.#learn(endpoint, ending, answer, now);
    if (ending === "delivered") this.#goOn(endpoint, job.orderKey);
    else this.#giveUp(endpoint, job.orderKey);
    if (before !== "open" && endpoint.breaker.stateAt(now) === "open") this.#leaveAlone(endpoint);
    this.#startReady(endpoint, now);
    if (this.#isStopping && this.#inFlight === 0) this.#stopped.resolve();
  }

  #learn(endpoint: Endpoint<J>, outcome: Outcome, { ms, wasFull }: Answer, now: number): void {
    endpoint.lastOutcome = outcome;
    endpoint.lastAt = this.#needs.clock.now();
    if (outcome === "delivered") endpoint.window.delivered(ms, wasFull);
    else endpoint.window.failed();
    endpoint.breaker.record(outcome === "delivered", now);
  }

  /** The next of the same order goes behind those that are ready: an order that is long must not hold up the others. */
  #goOn({ behind, ready }: Endpoint<J>, orderKey: string): void {
    const next = behind.get(orderKey)?.shift();
    if (next) ready.push(next);
    else behind.delete(orderKey);
  }

  #giveUp(endpoint: Endpoint<J>, orderKey: string): void {
    const queue = endpoint.behind.get(orderKey);
    endpoint.behind.delete(orderKey);
    if (!queue) return;
    const jobs: J[] = [];
    this.#drain(endpoint, queue, jobs);
    if (jobs.length > 0) this.#needs.onReturned(jobs, "one before it failed");
  }

  #leaveAlone(endpoint: Endpoint<J>): void {
    const jobs: J[] = [];
    this.#takeWaiting(endpoint, jobs);
    if (jobs.length > 0) this.#needs.onReturned(jobs, "the endpoint fails");
  }

  #startReady(endpoint: Endpoint<J>, now: number): void {
    while (endpoint.ready.length > 0 && endpoint.inFlight < this.#allowed(endpoint, now)) {
      const job = endpoint.ready.shift();
      if (job) void this.#carry(endpoint, job);
    }
  }

  /** Everything that is not in flight, in the order of each key. */
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
      endpoint.held -= 1;
      this.#held -= 1;
    }
  }
}

function queueOf<J>(job: J): Queue<J> {
  const queue = new Queue<J>();
  queue.push(job);
  return queue;
}
