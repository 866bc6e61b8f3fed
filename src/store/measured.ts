import type { Clock } from "../lib/clock.ts";
import { READS } from "./reads.ts";
import type { Store } from "./store.ts";

/** `accept` and `transition` are commits, `read` is a query of the pipeline, and `report` one for people. */
type Operation = "accept" | "transition" | "read" | "report";

export type ObserveDatabase = (operation: Operation, seconds: number) => void;

type Method = (...args: unknown[]) => Promise<unknown>;

/** Measures the store's operations as their callers see them: with the wait for a thread or a connection, and with failures. */
export function withMeasurements(store: Store, clock: Pick<Clock, "monotonic">, observe: ObserveDatabase): Store {
  const measured = (name: keyof Store, operation: Operation): [string, Method] => {
    const run = store[name] as Method;
    return [
      name,
      async (...args) => {
        const startedAt = clock.monotonic();
        try {
          return await run(...args);
        } finally {
          observe(operation, (clock.monotonic() - startedAt) / 1000);
        }
      },
    ];
  };
  const reads = Object.entries(READS).map(([name, waiting]) =>
    measured(name as keyof typeof READS, waiting === "pipeline" ? "read" : "report"),
  );
  const methods = [measured("accept", "accept"), measured("transition", "transition"), ...reads];
  return { ...store, ...(Object.fromEntries(methods) as Partial<Store>) };
}
