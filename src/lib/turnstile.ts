/** Lets one waiter through in each turn of the event loop, so that between two long pieces of work everything else has its turn. */
export function createTurnstile(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => new Promise<void>((resolve) => setImmediate(resolve)));
    return last;
  };
}
