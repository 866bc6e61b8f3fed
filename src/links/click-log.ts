import type { Clock } from "../lib/clock.ts";

/** What became of a click. */
export type ClickEffect = "recorded" | "dropped";

export interface ClickLog<C> {
  /** Nobody waits for it: when too many wait already, it is counted as dropped. */
  add(click: C): void;
  /** Resolves once every click so far is written or given up. */
  idle(): Promise<void>;
}

interface Needs<C> {
  write(batch: readonly C[]): Promise<ClickEffect>;
  count(batch: readonly C[], effect: ClickEffect): void;
  clock: Clock;
}

/** As many as come in a second, so that a disk which is busy for a moment costs no click. */
const CLICKS_MAX = 20_000;
const BATCH_MAX = 1000;
/** How long clicks are gathered after a write. Nobody waits for them, and each write takes the disk from an accept. */
const GATHER_MS = 10;

/** Gathers clicks and writes them together. A batch is counted as one: a promise for each click would cost more than the click. */
export function createClickLog<C>({ write, count, clock }: Needs<C>): ClickLog<C> {
  let waiting: C[] = [];
  let underWay = 0;
  let running: Promise<void> | null = null;
  let hurried = false;
  let wake: () => void = () => {};

  async function run(): Promise<void> {
    await endOfTurn();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX);
      waiting = waiting.slice(BATCH_MAX);
      underWay = batch.length;
      count(batch, await write(batch));
      underWay = 0;
      if (!hurried && waiting.length < BATCH_MAX) await gather();
    }
    running = null;
  }

  function gather(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(GATHER_MS, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });
  }

  return {
    add(click) {
      if (waiting.length + underWay >= CLICKS_MAX) return count([click], "dropped");
      waiting.push(click);
      if (waiting.length === BATCH_MAX) wake();
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
