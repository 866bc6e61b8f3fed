/**
 * Callers that wait share a read. Each gets a read that began after its call, so it sees every earlier change; at most one
 * runs at a time.
 */
export function coalesce<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | null = null;
  const begin = (): Promise<T> => {
    next = null;
    const started = read();
    running = started.catch(() => undefined);
    return started;
  };
  return () => (next ??= running.then(begin));
}
