/** Pause between two looks. It grows with the wait, because most looks are requests, which take CPU from other tests. */
const PAUSE_MS = { min: 10, max: 50, partOfWait: 0.1 };

/** Generous, because the machine may be busy: a condition that holds ends the wait at once. */
const WITHIN_MS = 120_000;

/** Polls until a condition holds; fails with the last value. */
export async function eventually<T>(
  look: () => Promise<T> | T,
  isRight: (seen: T) => boolean,
  withinMs = WITHIN_MS,
): Promise<T> {
  const beganAt = performance.now();
  for (;;) {
    const seen = await look();
    if (isRight(seen)) return seen;
    const waitedMs = performance.now() - beganAt;
    if (waitedMs > withinMs) throw new Error(`waited ${withinMs} ms; last seen: ${JSON.stringify(seen)}`);
    const pauseMs = Math.min(Math.max(PAUSE_MS.min, waitedMs * PAUSE_MS.partOfWait), PAUSE_MS.max);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
