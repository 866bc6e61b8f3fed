import { Breaker } from "../lib/breaker.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { CarrierState, Outcome, Patience } from "./carrier.ts";
import type { PlatformMeters } from "./platform.ts";
import { fullSpeed, pauseLeftMs, perSecondAt, throttled, withContract } from "./speed.ts";
import { OTHER_CODES, Tally } from "./tally.ts";

/** What an answer of a platform means for the message, and for the line. */
export interface Verdict {
  outcome: Outcome;
  /** The platform's code, where it said no. */
  code?: string;
  /**
   * - `throttled`: it was too fast; the whole line goes slower for a while.
   * - `halted`: nothing will be taken until somebody has done something: a key has ended, or a bill is open.
   */
  line?: "throttled" | "halted";
  /** For how long the platform wants nothing at all on this line, where it says so. */
  pauseMs?: number;
}

interface Needs {
  name: string;
  messagesPerSecond(): number | null;
  /** How many requests it may have under way at once. */
  requestsMax: number;
  clock: Clock;
  log: Log;
  meters: PlatformMeters;
}

const FIRST_HALT_MS = 60_000;
const LONGEST_HALT_MS = 900_000;
const PATIENCE: Patience = { drainMs: 30_000, unbindMs: 0 };
const NEVER = 0;

/** Where a platform writes its codes there may be a phone's number, which neither meters nor logs may have. */
const isMaybeNumber = (code: string): boolean => /\d{7}/.test(code);

/**
 * How a line behind an HTTP API stands: how fast it may go, whether it is worth asking at all, and what it has answered
 * lately.
 */
export class Standing {
  readonly #needs: Needs;
  readonly #tally = new Tally();
  readonly #breaker = new Breaker();
  #speed;
  #halt = { until: NEVER, ms: 0 };
  #underWay = 0;
  #isStopping = false;
  readonly #whenIdle = new Set<() => void>();

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#speed = fullSpeed(needs.messagesPerSecond());
  }

  /** The contracted speed, or less for a while after the platform has asked for it. */
  get messagesPerSecond(): number | null {
    const now = this.#needs.clock.now();
    this.#speed = withContract(this.#speed, this.#needs.messagesPerSecond(), now);
    return perSecondAt(this.#speed, now);
  }

  get capacity(): number {
    const { clock, requestsMax } = this.#needs;
    if (pauseLeftMs(this.#speed, clock.now()) > 0) return 0;
    return this.#breaker.stateAt(clock.monotonic()) === "probing" ? 1 : requestsMax;
  }

  isUp(): boolean {
    const { clock } = this.#needs;
    return !this.#isStopping && clock.now() >= this.#halt.until && this.#breaker.stateAt(clock.monotonic()) !== "open";
  }

  /** Hands one message over by `submit`, and takes to heart what came of it. */
  async run(submit: () => Promise<Verdict>): Promise<Outcome> {
    // A line that we end ourselves is not down: what comes too late for it waits, and takes no other route.
    if (this.#isStopping) return { kind: "busy" };
    this.#underWay += 1;
    try {
      const verdict = await submit();
      this.#note(verdict);
      return verdict.outcome;
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) for (const tell of this.#whenIdle) tell();
    }
  }

  start(): void {
    this.#isStopping = false;
  }

  /** Takes nothing more, and waits a while for the answers that are due. */
  async stop({ drainMs }: Patience = PATIENCE): Promise<void> {
    this.#isStopping = true;
    if (this.#underWay === 0) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        cancel();
        this.#whenIdle.delete(end);
        resolve();
      };
      const cancel = this.#needs.clock.after(drainMs, end);
      this.#whenIdle.add(end);
    });
  }

  state(): CarrierState {
    const { clock } = this.#needs;
    const now = clock.now();
    const until = Math.max(
      now + pauseLeftMs(this.#speed, now),
      now + this.#breaker.openForMs(clock.monotonic()),
      this.#halt.until,
    );
    return {
      binds: [],
      submitsPerSecond: this.#tally.perSecond(now),
      speed: this.messagesPerSecond,
      pausedUntil: until > now ? until : null,
      errors: this.#tally.errors,
      lastError: this.#tally.lastError,
      learnedIdForm: null,
    };
  }

  #note({ outcome, code, line, pauseMs = 0 }: Verdict): void {
    const { name, clock, log, meters } = this.#needs;
    const now = clock.now();
    this.#tally.answered(now);
    const isAnswered = outcome.kind !== "down" && outcome.kind !== "unknown";
    if (this.#breaker.record(isAnswered || line === "halted", clock.monotonic()) === "open" && !isAnswered)
      log.warn({ carrier: name }, "carrier fails nearly every time and is left alone for a while");
    if (outcome.kind === "taken") {
      this.#halt = { until: NEVER, ms: 0 };
      return;
    }
    const written = code ?? outcome.kind;
    const description = "description" in outcome ? outcome.description : "The carrier asks to come again later";
    const counted = this.#tally.failed(now, written, description, isMaybeNumber(written) ? OTHER_CODES : written);
    meters.carrierErrors(name, counted).inc();
    if (line === "throttled") this.#speed = throttled(this.#speed, now, this.#tally.perSecond(now));
    const isAskedLater = line === "throttled" && outcome.kind === "busy";
    this.#pause(now, Math.max(pauseMs, isAskedLater ? (outcome.retryAfterMs ?? 0) : 0));
    if (line === "halted" && now >= this.#halt.until) {
      const ms = Math.min(LONGEST_HALT_MS, this.#halt.ms === 0 ? FIRST_HALT_MS : this.#halt.ms * 2);
      this.#halt = { until: now + ms, ms };
      // Without what the platform said: that may hold numbers and texts.
      log.error({ carrier: name, errorCode: counted }, "carrier takes nothing more until somebody helps");
    }
  }

  /** Where the platform has said when to come again, nothing goes before that. */
  #pause(now: number, ms: number): void {
    const pausedUntil = Math.max(this.#speed.pausedUntil, now + Math.min(LONGEST_HALT_MS, ms));
    if (ms > 0) this.#speed = { ...this.#speed, pausedUntil };
  }
}
