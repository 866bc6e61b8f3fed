import { systemClock } from "./clock.ts";

/** The batcher's queue is full. The item has not been started. */
export class BatcherFull extends Error {
  override name = "BatcherFull";
}

export interface Batcher<In, Out> {
  /** Resolves with the item's own result, or rejects with its own error. */
  add(item: In): Promise<Out>;
  /** Resolves once everything added so far is done. */
  idle(): Promise<void>;
  /** The weight of all items that are queued or running. */
  readonly load: number;
  /** Age of the oldest queued item. */
  readonly waitingMs: number;
}

interface QueuedItem<In, Out> {
  item: In;
  weight: number;
  since: number;
  resolve(result: Out): void;
  reject(error: unknown): void;
}

interface Options<In, Out> {
  /** Runs a batch. An `Error` in place of a result rejects only that item's caller. */
  run(items: readonly In[]): Promise<readonly (Out | Error)[]>;
  /** The share of `maxBatch` and `maxLoad` that an item takes; 1 by default. */
  weigh?(item: In): number;
  maxBatch: number;
  maxLoad: number;
  /** The most batches that run at once. A function is evaluated before each batch. */
  inFlight: number | (() => number);
  /** A monotonic clock in milliseconds. */
  monotonic?(): number;
}

/**
 * Groups items that arrive while earlier batches run into the next batch. There is no timer: an idle batcher starts at
 * the end of the current turn of the event loop, or as soon as a batch is full. A busy batcher starts when a batch
 * returns. Batches therefore grow with the load.
 */
export function createBatcher<In, Out>(options: Options<In, Out>): Batcher<In, Out> {
  const { run, weigh = () => 1, maxBatch, maxLoad, inFlight, monotonic = systemClock.monotonic } = options;
  const mayStart = (): boolean => running < (typeof inFlight === "number" ? inFlight : inFlight());
  let waiting: QueuedItem<In, Out>[] = [];
  let queuedWeight = 0;
  let load = 0;
  let running = 0;
  let scheduled = false;
  let onIdle: (() => void)[] = [];

  function takeBatch(): QueuedItem<In, Out>[] {
    let weight = 0;
    let count = 0;
    for (const entry of waiting) {
      if (count > 0 && weight + entry.weight > maxBatch) break;
      weight += entry.weight;
      count += 1;
    }
    queuedWeight -= weight;
    if (count === waiting.length) {
      const all = waiting;
      waiting = [];
      return all;
    }
    return waiting.splice(0, count);
  }

  async function runBatch(batch: QueuedItem<In, Out>[]): Promise<void> {
    try {
      const results = await run(batch.map((entry) => entry.item));
      batch.forEach((entry, index) => {
        const result = results[index];
        if (result instanceof Error) entry.reject(result);
        else entry.resolve(result as Out);
      });
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    }
    running -= 1;
    for (const entry of batch) load -= entry.weight;
    startAll();
  }

  function startBatch(): void {
    running += 1;
    void runBatch(takeBatch());
  }

  function startSoon(): void {
    if (scheduled || waiting.length === 0 || !mayStart()) return;
    scheduled = true;
    setImmediate(startAll);
  }

  function startAll(): void {
    scheduled = false;
    while (waiting.length > 0 && mayStart()) startBatch();
    if (running > 0 || waiting.length > 0) return;
    const done = onIdle;
    onIdle = [];
    for (const resolve of done) resolve();
  }

  return {
    add(item) {
      const weight = weigh(item);
      if (load + weight > maxLoad && load > 0)
        return Promise.reject(new BatcherFull("the queue of the batcher is full"));
      load += weight;
      queuedWeight += weight;
      const result = new Promise<Out>((resolve, reject) =>
        waiting.push({ item, weight, since: monotonic(), resolve, reject }),
      );
      while (queuedWeight >= maxBatch && mayStart()) startBatch();
      startSoon();
      return result;
    },
    idle() {
      if (running === 0 && waiting.length === 0) return Promise.resolve();
      return new Promise((resolve) => onIdle.push(resolve));
    },
    get load() {
      return load;
    },
    get waitingMs() {
      const [first] = waiting;
      return first ? monotonic() - first.since : 0;
    },
  };
}
