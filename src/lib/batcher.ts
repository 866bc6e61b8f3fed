import { systemClock } from "./clock.ts";

/** Thrown to a caller when the queue in front of a batcher is full; nothing of the item was started. */
export class BatcherFull extends Error {
  override name = "BatcherFull";
}

export interface Batcher<In, Out> {
  /** Resolves with the item's own result, or rejects with its own error. */
  add(item: In): Promise<Out>;
  /** Resolves once everything added so far is done. */
  idle(): Promise<void>;
  /** The weight of what waits or is under way. */
  readonly load: number;
  /** How long the first item that is in no batch yet has waited. */
  readonly waitingMs: number;
}

interface Waiting<In, Out> {
  item: In;
  weight: number;
  since: number;
  resolve(result: Out): void;
  reject(error: unknown): void;
}

interface Options<In, Out> {
  /** Does the whole batch at once. An `Error` in the place of a result rejects that item's caller only. */
  run(items: readonly In[]): Promise<readonly (Out | Error)[]>;
  /** How much of `maxBatch` and `maxLoad` an item takes; 1 unless told. */
  weigh?(item: In): number;
  maxBatch: number;
  maxLoad: number;
  /** How many batches may be under way at once, now or, as a function, at the moment of asking. */
  inFlight: number | (() => number);
  /** Milliseconds that only go forward. */
  monotonic?(): number;
}

/**
 * Groups whatever arrives while earlier batches are under way into the next one.
 * There is no timer: an idle batcher starts at the end of the current turn of the event loop, or before that when a batch is
 * full, and a busy one as soon as a batch returns, so batches grow by themselves exactly when the load does.
 */
export function createBatcher<In, Out>(options: Options<In, Out>): Batcher<In, Out> {
  const { run, weigh = () => 1, maxBatch, maxLoad, inFlight, monotonic = systemClock.monotonic } = options;
  const mayFly = (): boolean => flights < (typeof inFlight === "number" ? inFlight : inFlight());
  let waiting: Waiting<In, Out>[] = [];
  /** The weight of what waits. */
  let gathered = 0;
  let load = 0;
  let flights = 0;
  let scheduled = false;
  let onIdle: (() => void)[] = [];

  function takeBatch(): Waiting<In, Out>[] {
    let weight = 0;
    let count = 0;
    for (const entry of waiting) {
      if (count > 0 && weight + entry.weight > maxBatch) break;
      weight += entry.weight;
      count += 1;
    }
    gathered -= weight;
    if (count === waiting.length) {
      const all = waiting;
      waiting = [];
      return all;
    }
    return waiting.splice(0, count);
  }

  async function fly(batch: Waiting<In, Out>[]): Promise<void> {
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
    flights -= 1;
    for (const entry of batch) load -= entry.weight;
    pump();
  }

  function leave(): void {
    flights += 1;
    void fly(takeBatch());
  }

  function pumpSoon(): void {
    if (scheduled || waiting.length === 0 || !mayFly()) return;
    scheduled = true;
    setImmediate(pump);
  }

  function pump(): void {
    scheduled = false;
    while (waiting.length > 0 && mayFly()) leave();
    if (flights > 0 || waiting.length > 0) return;
    const done = onIdle;
    onIdle = [];
    for (const resolve of done) resolve();
  }

  return {
    add(item) {
      const weight = weigh(item);
      if (load + weight > maxLoad && load > 0) return Promise.reject(new BatcherFull("too much is waiting"));
      load += weight;
      gathered += weight;
      const result = new Promise<Out>((resolve, reject) =>
        waiting.push({ item, weight, since: monotonic(), resolve, reject }),
      );
      while (gathered >= maxBatch && mayFly()) leave();
      pumpSoon();
      return result;
    },
    idle() {
      if (flights === 0 && waiting.length === 0) return Promise.resolve();
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
