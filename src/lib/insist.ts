import type { Clock } from "./clock.ts";

const PAUSE_MS = 200;

/** Does something again and again, with a pause between, for as long as it fails with what may pass. */
export async function insist<T>(clock: Clock, mayPass: (error: unknown) => boolean, run: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!mayPass(error)) throw error;
      await new Promise<void>((resolve) => clock.after(PAUSE_MS, resolve));
    }
  }
}
