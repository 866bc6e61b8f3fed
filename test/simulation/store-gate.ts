import { StorageUnavailable, type Store } from "../../src/store/store.ts";
import type { SimulatedProcess, World } from "./world.ts";

/** Faults of the way between a process and its database, as probabilities for each call. */
export interface StoreFaults {
  /** The call never reaches the database. */
  refused: number;
  /** It is committed, and the answer is lost. Only a database over a network does this. */
  answerLost: number;
  /** The caller gives up, and the commit lands later. Only a database over a network does this. */
  landsLater: number;
  /** It takes long. */
  slow: number;
  /** The database cannot write: its disk is full, or it has become a standby. Reads work. */
  readOnly: number;
}

export const NO_STORE_FAULTS: StoreFaults = { refused: 0, answerLost: 0, landsLater: 0, slow: 0, readOnly: 0 };

const READS = /^(list|find|count|ping|revision|placeOf)/;

const USUAL_MS = [0, 4] as const;
const SLOW_MS = [50, 4000] as const;
/** A call that takes longer counts as a trouble of its process. */
const SLOW_CALL_MS = 1000;
const GIVEN_UP_AFTER_MS = [1000, 5000] as const;
const LANDS_AFTER_MS = [10, 20_000] as const;

interface GateDeps {
  world: World;
  process: SimulatedProcess;
  store: Store;
  /** The faults of this moment, for this process. */
  faults(): StoreFaults;
  /** Counts a fault by its kind. */
  onFault(kind: string): void;
}

/**
 * The store as a simulated process sees it. The seed decides when a call reaches the database, when its answer arrives, and what
 * goes wrong between. The database executes one call at a time, and the world stands still meanwhile.
 */
export function openStoreGate({ world, process, store, faults, onFault }: GateDeps): Store {
  const { random } = world;
  const between = ([least, most]: readonly [number, number]): number => random.between(least, most);
  const call = async (name: string, args: unknown[]): Promise<unknown> => {
    const end = process.beginCall(name);
    try {
      return await send(name, args);
    } finally {
      end();
    }
  };
  const send = (name: string, args: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      world.note(`${process.name} calls ${name}`);
      const calledAt = world.now;
      const { refused, answerLost, landsLater, slow, readOnly } = faults();
      const usual = (): number => between(random.chance(slow) ? SLOW_MS : USUAL_MS);
      const fail = (kind: string, afterMs: number): void => {
        onFault(kind);
        process.hadTrouble("store", calledAt, world.now + afterMs);
        world.plan(afterMs, process, () => reject(new StorageUnavailable(`simulated: ${kind}`)));
      };
      const execute = async (): Promise<{ value?: unknown; error?: unknown }> => {
        try {
          const method = Reflect.get(store, name) as (...all: unknown[]) => unknown;
          return { value: await method.apply(store, args) };
        } catch (error) {
          return { error };
        }
      };
      if (random.chance(refused)) return fail("store refused", usual());
      if (random.chance(readOnly) && !READS.test(name)) return fail("write refused", usual());
      if (random.chance(landsLater)) {
        // A killed process has sent its statement already.
        const landsAfter = between(LANDS_AFTER_MS);
        process.hadTrouble("store", calledAt, calledAt + landsAfter);
        world.plan(landsAfter, null, async () => void (await execute()));
        return fail("commit landed later", between(GIVEN_UP_AFTER_MS));
      }
      const isLost = random.chance(answerLost);
      const leave = async (): Promise<void> => {
        if (process.isDead) return;
        if (process.pausedUntil > world.now) return void world.plan(process.pausedUntil - world.now, null, leave);
        // From here on the call is on its way, whatever happens to the process.
        const { value, error } = await execute();
        if (isLost) return fail("answer lost", usual());
        const answersAfter = usual();
        if (world.now + answersAfter - calledAt > SLOW_CALL_MS)
          process.hadTrouble("store", calledAt, world.now + answersAfter);
        world.plan(answersAfter, process, () => (error === undefined ? resolve(value) : reject(error)));
      };
      world.plan(usual(), null, leave);
    });
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== "function" || typeof name !== "string") return value;
      return (...args: unknown[]) => call(name, args);
    },
  });
}
