/** Interval at which the process records that it runs. */
const TICK_MS = 250;
/** A longer gap between two records is a stall. */
const STALL_MS = 500;
/** Requests read this soon after a stall may have arrived before it. */
const BACKLOG_MS = 2000;

interface Times {
  /** Milliseconds that only increase, also while the process is stopped. */
  monotonic(): number;
  /** Wall time, which continues while the machine sleeps. */
  now(): number;
}

// Real time even in tests with a moved clock: callers really wait.
const REAL: Times = { monotonic: () => performance.now(), now: () => Date.now() };

/**
 * Upper bound on the age of a request, and so on whether its caller has timed out. A process that was stopped (SIGSTOP, a
 * frozen virtual machine) finds requests in its sockets that were repeated at another node meanwhile. Executing them would
 * send and charge twice.
 */
export class RequestAge {
  readonly #timeoutMs: number;
  readonly #times: Times;
  readonly #timer: NodeJS.Timeout;
  #ranMonotonic: number;
  #ranWall: number;
  /** Monotonic time of the last reading, plus the time the machine slept. */
  #now: number;
  /** Time the machine slept, which its monotonic clock does not count. */
  #sleptMs = 0;
  #stall = { from: Number.NEGATIVE_INFINITY, until: Number.NEGATIVE_INFINITY };

  constructor(timeoutMs: number, times: Times = REAL) {
    this.#timeoutMs = timeoutMs;
    this.#times = times;
    this.#ranMonotonic = times.monotonic();
    this.#ranWall = times.now();
    this.#now = this.#ranMonotonic;
    this.#timer = setInterval(() => this.#read(), TICK_MS).unref();
  }

  /** The earliest possible arrival of a request that is read now. */
  arrival(): number {
    const now = this.#read();
    const { from, until } = this.#stall;
    return now - until < Math.min(BACKLOG_MS, until - from) ? from : now;
  }

  ageMs(arrivedAt: number): number {
    return this.#read() - arrivedAt;
  }

  /** True if the caller has timed out. */
  isLate(arrivedAt: number): boolean {
    return this.ageMs(arrivedAt) > this.#timeoutMs;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Runs with every request, not only by timer: after a stall, sockets may be read before timers run. */
  #read(): number {
    const wall = this.#times.now();
    // Fast path: no stall fits within a millisecond.
    if (wall === this.#ranWall) return this.#now;
    const monotonic = this.#times.monotonic();
    const awakeMs = monotonic - this.#ranMonotonic;
    const asleepMs = wall - this.#ranWall - awakeMs;
    this.#ranMonotonic = monotonic;
    this.#ranWall = wall;
    if (asleepMs > STALL_MS) this.#sleptMs += asleepMs;
    this.#now = monotonic + this.#sleptMs;
    const pausedMs = awakeMs + (asleepMs > STALL_MS ? asleepMs : 0);
    if (pausedMs > STALL_MS) this.#stall = { from: this.#now - pausedMs, until: this.#now };
    return this.#now;
  }
}
