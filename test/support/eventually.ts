const PAUSE_MS = 10;

/** Tries until something is true; fails with what was seen last. */
export async function eventually<T>(
  look: () => Promise<T> | T,
  isRight: (seen: T) => boolean,
  withinMs = 10_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (isRight(seen)) return seen;
    if (performance.now() > deadline) throw new Error(`waited ${withinMs} ms; last seen: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
