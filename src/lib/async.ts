import type { Clock } from "./clock.ts";

/** The semaphore's queue is full. */
export class QueueFull extends Error {
  override name = "QueueFull";
}

/** Limits how much work runs at once. Further work waits in order; beyond `waiting` it is refused with `QueueFull`. */
export function createSemaphore(limits: {
  atOnce: number;
  waiting: number;
}): <T>(work: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = [];
  let free = limits.atOnce;
  return async (work) => {
    if (free > 0) free -= 1;
    else if (queue.length >= limits.waiting) throw new QueueFull("the queue of the semaphore is full");
    else await new Promise<void>((resolve) => void queue.push(resolve));
    try {
      return await work();
    } finally {
      // The permit passes directly to the next waiter, so that a newcomer cannot overtake it.
      const next = queue.shift();
      if (next) next();
      else free += 1;
    }
  };
}

/** Resolves one waiter per turn of the event loop, so that other work runs between two long pieces. */
export function createYield(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => new Promise<void>((resolve) => setImmediate(resolve)));
    return last;
  };
}

const RETRY_PAUSE_MS = 200;

/** Repeats a call, with a pause between, while it fails with a temporary error. */
export async function retryUntil<T>(
  clock: Clock,
  isTemporary: (error: unknown) => boolean,
  run: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!isTemporary(error)) throw error;
      await new Promise<void>((resolve) => clock.after(RETRY_PAUSE_MS, resolve));
    }
  }
}
