import { Breaker } from "../lib/breaker.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { CarrierState, Outcome, StopTimeouts } from "./carrier.ts";
import type { PlatformMetrics } from "./http-platform.ts";
import { fullRate, pauseLeftMs, perSecondAt, throttled, withContract } from "./adaptive-rate.ts";
import { OTHER_CODES, ResponseCounts } from "./response-counts.ts";

/** Effect of a response on the message and on the connection. */
export interface HealthVerdict {
  outcome: Outcome;
  /** The platform's error code. */
  code?: string;
  /**
   * - `throttled`: the rate of the whole connection is reduced.
   * - `halted`: the platform accepts nothing until an operator acts, for example on an expired key or an unpaid bill.
   */
  effect?: "throttled" | "halted";
  /** Pause of the whole connection that the platform asked for. */
  pauseMs?: number;
}

interface ConnectionHealthDeps {
  name: string;
  messagesPerSecond(): number | null;
  /** Maximum of concurrent requests. */
  requestsMax: number;
  clock: Clock;
  log: Log;
  metrics: PlatformMetrics;
}

const FIRST_HALT_MS = 60_000;
const LONGEST_HALT_MS = 900_000;
const STOP_TIMEOUTS: StopTimeouts = { drainMs: 30_000, unbindMs: 0 };
const NEVER = 0;

/** Codes may contain phone numbers or message text, which must not reach metrics or logs. */
const isPlainCode = (code: string): boolean => /^[\w.:-]{1,40}$/.test(code) && !/\d{7}/.test(code);

/** Health of a connection behind an HTTP API: adaptive rate, circuit breaker and response statistics. */
export class ConnectionHealth {
  readonly #deps: ConnectionHealthDeps;
  readonly #counts = new ResponseCounts();
  readonly #breaker = new Breaker();
  #rate;
  /** Monotonic time, as all pauses here. */
  #halt = { until: NEVER, ms: 0 };
  #inFlight = 0;
  #isStopping = false;
  readonly #whenIdle = new Set<() => void>();

  constructor(deps: ConnectionHealthDeps) {
    this.#deps = deps;
    this.#rate = fullRate(deps.messagesPerSecond());
  }

  /** The contracted rate, or less after throttling. */
  get messagesPerSecond(): number | null {
    const now = this.#deps.clock.monotonic();
    this.#rate = withContract(this.#rate, this.#deps.messagesPerSecond(), now);
    return perSecondAt(this.#rate, now);
  }

  get capacity(): number {
    const { clock, requestsMax } = this.#deps;
    const now = clock.monotonic();
    if (pauseLeftMs(this.#rate, now) > 0) return 0;
    return this.#breaker.stateAt(now) === "probing" ? 1 : requestsMax;
  }

  isUp(): boolean {
    const now = this.#deps.clock.monotonic();
    return !this.#isStopping && now >= this.#halt.until && this.#breaker.stateAt(now) !== "open";
  }

  /** Runs one submit and applies its result to rate, breaker and statistics. */
  async run(submit: () => Promise<HealthVerdict>): Promise<Outcome> {
    // A connection that we stop ourselves is not down: late messages wait and use no other route.
    if (this.#isStopping) return { kind: "busy" };
    this.#inFlight += 1;
    try {
      const verdict = await submit();
      this.#record(verdict);
      return verdict.outcome;
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) for (const onIdle of this.#whenIdle) onIdle();
    }
  }

  start(): void {
    this.#isStopping = false;
  }

  /** Refuses new requests and waits for outstanding responses. */
  async stop({ drainMs }: StopTimeouts = STOP_TIMEOUTS): Promise<void> {
    this.#isStopping = true;
    if (this.#inFlight === 0) return;
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        cancel();
        this.#whenIdle.delete(settle);
        resolve();
      };
      const cancel = this.#deps.clock.after(drainMs, settle);
      this.#whenIdle.add(settle);
    });
  }

  state(): CarrierState {
    const { clock } = this.#deps;
    const now = clock.monotonic();
    const pauseMs = Math.max(pauseLeftMs(this.#rate, now), this.#breaker.openForMs(now), this.#halt.until - now);
    return {
      binds: [],
      submitsPerSecond: this.#counts.perSecond(now),
      speed: this.messagesPerSecond,
      pausedUntil: pauseMs > 0 ? clock.now() + pauseMs : null,
      errors: this.#counts.errors,
      lastError: this.#counts.lastError,
      learnedIdForm: null,
    };
  }

  #record({ outcome, code, effect: line, pauseMs = 0 }: HealthVerdict): void {
    const { name, clock, log, metrics } = this.#deps;
    const now = clock.monotonic();
    this.#counts.countResponse(now);
    const isAnswered = outcome.kind !== "down" && outcome.kind !== "unknown";
    if (this.#breaker.record(isAnswered || line === "halted", now) === "open" && !isAnswered)
      log.warn({ carrier: name }, "carrier circuit breaker opened");
    if (outcome.kind === "taken") {
      this.#halt = { until: NEVER, ms: 0 };
      return;
    }
    const platformCode = code ?? outcome.kind;
    const description = "description" in outcome ? outcome.description : "The carrier asks to come again later";
    const countedAs = this.#counts.countError(
      clock.now(),
      platformCode,
      description,
      isPlainCode(platformCode) ? platformCode : OTHER_CODES,
    );
    metrics.carrierErrors(name, countedAs).inc();
    if (line === "throttled") this.#rate = throttled(this.#rate, now, this.#counts.perSecond(now));
    const isRetryAfter = line === "throttled" && outcome.kind === "busy";
    this.#pause(now, Math.max(pauseMs, isRetryAfter ? (outcome.retryAfterMs ?? 0) : 0));
    if (line === "halted" && now >= this.#halt.until) {
      const ms = Math.min(LONGEST_HALT_MS, this.#halt.ms === 0 ? FIRST_HALT_MS : this.#halt.ms * 2);
      this.#halt = { until: now + ms, ms };
      // Without the platform's text, which may contain numbers and message text.
      log.error({ carrier: name, errorCode: countedAs }, "carrier halted, operator action needed");
    }
  }

  /** A Retry-After of the platform pauses everything. */
  #pause(now: number, ms: number): void {
    const pausedUntil = Math.max(this.#rate.pausedUntil, now + Math.min(LONGEST_HALT_MS, ms));
    if (ms > 0) this.#rate = { ...this.#rate, pausedUntil };
  }
}
