const PAUSE_MS = 10;

/** Generous, because the machine may be busy: a condition that holds ends the wait at once. */
const WITHIN_MS = 120_000;

/** Polls until a condition holds; fails with the last value. */
export async function eventually<T>(
  look: () => Promise<T> | T,
  isRight: (seen: T) => boolean,
  withinMs = WITHIN_MS,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (isRight(seen)) return seen;
    if (performance.now() > deadline) throw new Error(`waited ${withinMs} ms; last seen: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
