import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { isAway } from "../store/store.ts";

export type ClickEffect = "recorded" | "dropped";

export interface ClickLog<C> {
  /** Fire and forget. Above the limit of waiting clicks it is dropped and counted. */
  add(click: C): void;
  /** Tries each waiting batch once more; resolves once every click so far is written or dropped. */
  idle(): Promise<void>;
}

interface ClickLogDeps<C> {
  /** Idempotent by click: a batch whose commit was not answered is written again. */
  write(batch: readonly C[]): Promise<void>;
  count(batch: readonly C[], effect: ClickEffect): void;
  clock: Clock;
  log: Log;
}

/** Clicks of one second at full load, so that a short disk stall loses none. */
const CLICKS_MAX = 20_000;
const BATCH_MAX = 1000;
/** Delay after a write, so that clicks batch: no caller waits for them, and each write competes with accepts for the disk. */
const GATHER_MS = 10;
const RETRY_MS = 1000;
/** A batch that fails for a reason other than an unavailable store may never succeed, and must not block those behind it. */
const UNEXPECTED_FAILURES_MAX = 3;

/**
 * Gathers clicks and writes them together. A batch is counted as one: a promise for each click would cost more than the click.
 * While the store is unavailable, clicks stay in memory up to `CLICKS_MAX` and are written when it is back.
 */
export function createClickLog<C>({ write, count, clock, log }: ClickLogDeps<C>): ClickLog<C> {
  let waiting: C[] = [];
  let underWay = 0;
  let running: Promise<void> | null = null;
  let hurried = false;
  let isGathering = false;
  let overflowed = 0;
  let wake: () => void = () => {};

  async function run(): Promise<void> {
    await endOfTurn();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX);
      waiting = waiting.slice(BATCH_MAX);
      underWay = batch.length;
      const effect = await record(batch);
      underWay = 0;
      count(batch, effect);
      if (effect === "recorded") noteRoom();
      if (!hurried && waiting.length < BATCH_MAX) await gather();
    }
    running = null;
  }

  async function record(batch: readonly C[]): Promise<ClickEffect> {
    for (let unexpected = 0; ;) {
      const isLastTry = hurried;
      try {
        await write(batch);
        return "recorded";
      } catch (error) {
        log.warn({ err: error, clicks: batch.length, waiting: waiting.length }, "clicks could not be recorded");
        if (!isAway(error)) unexpected += 1;
        if (isLastTry && isAway(error)) dropWaiting();
        if (isLastTry || unexpected === UNEXPECTED_FAILURES_MAX) {
          log.error({ clicks: batch.length }, "clicks dropped");
          return "dropped";
        }
        if (!hurried) await pause(RETRY_MS);
      }
    }
  }

  /** The process ends while the store is unavailable: each further batch would only wait for the same time-out. */
  function dropWaiting(): void {
    if (waiting.length === 0) return;
    log.error({ clicks: waiting.length }, "clicks dropped");
    count(waiting, "dropped");
    waiting = [];
  }

  /** Logged when it begins and when it ends, and not for each click. */
  function noteOverflow(): void {
    if (overflowed === 0) log.warn({ waiting: waiting.length + underWay }, "click log full, dropping clicks");
    overflowed += 1;
  }

  function noteRoom(): void {
    if (overflowed > 0) log.warn({ clicks: overflowed }, "click log has room again, clicks were dropped");
    overflowed = 0;
  }

  async function gather(): Promise<void> {
    isGathering = true;
    await pause(GATHER_MS);
    isGathering = false;
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(ms, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });
  }

  return {
    add(click) {
      if (waiting.length + underWay >= CLICKS_MAX) {
        noteOverflow();
        return count([click], "dropped");
      }
      waiting.push(click);
      if (isGathering && waiting.length === BATCH_MAX) wake();
      running ??= run();
    },
    async idle() {
      hurried = true;
      wake();
      await running;
      hurried = false;
    },
  };
}

const endOfTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
