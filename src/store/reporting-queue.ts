import { queryCaller, type QueryCaller } from "./query-caller.ts";

/** The queue of reporting queries is full, or a query has waited in it for the whole time limit. */
export class QueryQueueFull extends Error {
  override name = "QueryQueueFull";
}

/** A reporting query ran longer than the time limit and was cancelled. */
export class QueryTimedOut extends Error {
  override name = "QueryTimedOut";
  readonly timeoutMs: number;

  constructor(timeoutMs: number, cause?: unknown) {
    super(`the query ran longer than ${timeoutMs} ms`, { cause });
    this.timeoutMs = timeoutMs;
  }
}

/** The client of a reporting query has closed its connection, so its result is not needed. */
export class ClientLeft extends Error {
  override name = "ClientLeft";
}

export interface ReportingLimits {
  /** Queries that run at once. */
  concurrency: number;
  /** Longest time to wait for a turn, and longest time to run. */
  timeoutMs: number;
}

export const REPORTING_LIMITS: ReportingLimits = { concurrency: 3, timeoutMs: 10_000 };

/** Counts since the start, and the present load. */
export interface ReportingLoad {
  waiting: number;
  running: number;
  timedOut: number;
  /** Cancelled because the client left. */
  clientLeft: number;
  refused: number;
}

/** A started query. It occupies its turn until `ended`, which may be later than its result: SQLite cannot stop a statement. */
export interface StartedQuery<T> {
  result: Promise<T>;
  ended: Promise<unknown>;
}

interface Waiter {
  start(): void;
  refuse(error: Error): void;
}

interface Line {
  accountId: number;
  running: number;
  waiting: Waiter[];
}

/** Waiting queries over all accounts. A page of the dashboard asks for up to ten at once. */
const WAITING_MAX = 200;

/**
 * Bulkhead for reporting queries: bounds how many run at once, so that they leave the rest of the machine to sends. Accounts
 * take turns (round robin). With two turns or more, one account never has them all. When the queue is full, the account that
 * waits for most is refused.
 */
export class ReportingQueue {
  readonly #concurrency: number;
  readonly #perAccount: number;
  readonly #timeoutMs: number;
  /** Lines with running or waiting queries, in the order of their next turn. */
  readonly #lines = new Map<number, Line>();
  #running = 0;
  #waiting = 0;
  readonly #counts = { timedOut: 0, clientLeft: 0, refused: 0 };

  constructor({ concurrency, timeoutMs }: ReportingLimits) {
    this.#concurrency = concurrency;
    this.#perAccount = Math.max(1, concurrency - 1);
    this.#timeoutMs = timeoutMs;
  }

  get load(): ReportingLoad {
    return { waiting: this.#waiting, running: this.#running, ...this.#counts };
  }

  async run<T>(begin: (signal: AbortSignal | null) => StartedQuery<T>): Promise<T> {
    const caller = queryCaller();
    const line = this.#lineOf(caller?.accountId ?? 0);
    try {
      const turn = this.#takeTurn(line, caller);
      if (turn) await turn;
      const { result, ended } = this.#begin(line, caller, begin);
      const free = (): void => this.#end(line);
      void ended.then(free, free);
      return await result;
    } catch (error) {
      if (error instanceof QueryTimedOut) this.#counts.timedOut += 1;
      else if (error instanceof ClientLeft) this.#counts.clientLeft += 1;
      else if (error instanceof QueryQueueFull) this.#counts.refused += 1;
      throw error;
    } finally {
      this.#dropIdle(line);
    }
  }

  #begin<T>(
    line: Line,
    caller: QueryCaller | null,
    begin: (signal: AbortSignal | null) => StartedQuery<T>,
  ): StartedQuery<T> {
    try {
      return begin(caller?.signal ?? null);
    } catch (error) {
      this.#end(line);
      throw error;
    }
  }

  #lineOf(accountId: number): Line {
    const known = this.#lines.get(accountId);
    if (known) return known;
    const line: Line = { accountId, running: 0, waiting: [] };
    this.#lines.set(accountId, line);
    return line;
  }

  /** Null if the query may start at once. The turn is counted in either case. */
  #takeTurn(line: Line, caller: QueryCaller | null): Promise<void> | null {
    if (caller?.signal.aborted) throw new ClientLeft("the client has left");
    if (this.#mayStart(line)) {
      this.#count(line);
      return null;
    }
    this.#makeRoomFor(line);
    return new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => waiter.refuse(new QueryQueueFull("the query waited too long for its turn")),
        this.#timeoutMs,
      ).unref();
      const leave = (): void => waiter.refuse(new ClientLeft("the client has left"));
      const settle = (): void => {
        clearTimeout(timer);
        caller?.signal.removeEventListener("abort", leave);
        this.#waiting -= 1;
      };
      const waiter: Waiter = {
        start: () => {
          settle();
          this.#count(line);
          resolve();
        },
        refuse: (error) => {
          settle();
          line.waiting.splice(line.waiting.indexOf(waiter), 1);
          reject(error);
        },
      };
      caller?.signal.addEventListener("abort", leave);
      line.waiting.push(waiter);
      this.#waiting += 1;
    });
  }

  #mayStart({ running }: Line): boolean {
    return this.#running < this.#concurrency && running < this.#perAccount;
  }

  #count(line: Line): void {
    this.#running += 1;
    line.running += 1;
  }

  /** Refuses the newest query of the longest line, which may be the one that asks. */
  #makeRoomFor(line: Line): void {
    if (this.#waiting < WAITING_MAX) return;
    const longest = [...this.#lines.values()].reduce((a, b) => (b.waiting.length > a.waiting.length ? b : a));
    const full = new QueryQueueFull("too many queries wait");
    if (longest.waiting.length <= line.waiting.length + 1) throw full;
    longest.waiting.at(-1)?.refuse(full);
  }

  #end(line: Line): void {
    this.#running -= 1;
    line.running -= 1;
    this.#startNext();
    this.#dropIdle(line);
  }

  #startNext(): void {
    for (const line of this.#lines.values()) {
      if (line.waiting.length === 0 || !this.#mayStart(line)) continue;
      // To the end of the order.
      this.#lines.delete(line.accountId);
      this.#lines.set(line.accountId, line);
      line.waiting.shift()?.start();
      return;
    }
  }

  #dropIdle(line: Line): void {
    if (line.running === 0 && line.waiting.length === 0 && this.#lines.get(line.accountId) === line)
      this.#lines.delete(line.accountId);
  }
}
