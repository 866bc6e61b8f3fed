import { Client } from "pg";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import type { Store } from "../../src/store/store.ts";
import { freshDatabase } from "../support/databases.ts";
import { recordMovesInPostgres, type Move } from "./record-moves.ts";
import { StatementGate } from "./statement-gate.ts";
import type { StoreFaults } from "./store-gate.ts";
import type { SimulatedProcess, World } from "./world.ts";

/** The store of one run. */
export interface SimulatedStore {
  /** For the simulation itself. */
  store: Store;
  /** Changes of state so far. */
  moves(): Promise<Move[]>;
  /** The store as a process sees it. */
  openFor(process: SimulatedProcess): Promise<Store>;
  /** The process has died. */
  disconnect(process: SimulatedProcess): void;
  discard(): Promise<void>;
}

/** The way of faults into the store. */
export interface StoreFaultSource {
  world: World;
  /** The faults of this moment. */
  faults(process: SimulatedProcess): StoreFaults;
  /** Counts a fault by its kind. */
  onFault(kind: string): void;
}

export type OpenStore = (source: StoreFaultSource) => Promise<SimulatedStore>;

const SLOW_CALL_MS = 1000;

/**
 * `clock_timestamp` of this database reads a sequence: a new value is visible to every session at once. Functions of
 * `pg_catalog` come first in the search path unless it names that schema.
 */
const SIMULATED_CLOCK = [
  "create sequence public.simulated_ms",
  `create function public.clock_timestamp() returns timestamptz language sql volatile as
     $$ select to_timestamp(last_value / 1000.0) from public.simulated_ms $$`,
  // A deadlock is found at once: the statement that completes it is the one that fails.
  `do $$ begin
     execute format('alter database %I set search_path = public, pg_catalog', current_database());
     execute format('alter database %I set deadlock_timeout = 1', current_database());
   end $$`,
  // Its moment would depend on the machine, and new statistics change plans.
  "alter system set autovacuum = off",
  "select pg_reload_conf()",
];

/** Few connections, so that processes wait for them at times. */
const CONNECTIONS = 3;

/** An empty database on the server, with the schema and the clock of the world. Each process has connections of its own. */
export async function openSimulatedDatabase(serverUrl: string, source: StoreFaultSource): Promise<SimulatedStore> {
  const { world } = source;
  const { url, drop } = await freshDatabase(serverUrl);
  const builder = new Client({ connectionString: url });
  await builder.connect();
  for (const statement of SIMULATED_CLOCK) await builder.query(statement);
  await builder.end();

  // The search path applies to new sessions.
  const monitor = new Client({ connectionString: url });
  await monitor.connect();
  let told = Number.NaN;
  const tellTime = async (): Promise<void> => {
    if (told === world.now) return;
    told = world.now;
    await monitor.query({ name: "tell time", text: "select setval('public.simulated_ms', $1)", values: [told] });
  };
  await tellTime();
  const { rows } = await monitor.query<{ ms: string }>("select extract(epoch from clock_timestamp()) * 1000 as ms");
  if (Number(rows[0]?.ms) !== world.now) throw new Error(`the database's clock shows ${rows[0]?.ms}, not ${world.now}`);

  const store = await openPostgresStore(url);
  const gate = new StatementGate({ ...source, monitor, tellTime });
  return {
    store,
    moves: await recordMovesInPostgres(url),
    openFor: async (process) => observed(await openPostgresStore(url, { connections: CONNECTIONS }), process),
    disconnect: (process) => gate.disconnect(process),
    async discard() {
      gate.close();
      await Promise.all([store.close(), monitor.end()]);
      await drop();
    },
  };
}

/** Notes the calls of a process that failed or took long. */
const observed = (store: Store, process: SimulatedProcess): Store =>
  new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== "function" || typeof name !== "string") return value;
      return async (...args: unknown[]): Promise<unknown> => {
        const { world } = process;
        const calledAt = world.now;
        const end = process.beginCall(name);
        let isFailed = true;
        try {
          const result: unknown = await Reflect.apply(value, target, args);
          isFailed = false;
          return result;
        } finally {
          end();
          if (isFailed || world.now - calledAt > SLOW_CALL_MS) process.hadTrouble("store", calledAt, world.now);
        }
      };
    },
  });
