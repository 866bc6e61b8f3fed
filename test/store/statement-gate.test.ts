import { seedGlobals } from "../simulation/replace-globals.ts";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { ConnectionPool } from "../../src/store/postgres/pool.ts";
import { StorageUnavailable } from "../../src/store/store.ts";
import { StatementGate } from "../simulation/statement-gate.ts";
import { NO_STORE_FAULTS, type StoreFaults } from "../simulation/store-gate.ts";
import { SimulatedProcess, World } from "../simulation/world.ts";
import { freshDatabase, type FreshDatabase } from "../support/databases.ts";
import { seededRandom } from "../torture/random.ts";

const SETUP = [
  "create table counters (id integer primary key, n integer not null)",
  "insert into counters values (1, 0), (2, 0)",
  `do $$ begin execute format('alter database %I set deadlock_timeout = 1', current_database()); end $$`,
];

let database: FreshDatabase;
let monitor: Client;

beforeAll(async () => {
  database = await freshDatabase(inject("postgresUrl"));
  monitor = new Client({ connectionString: database.url });
  await monitor.connect();
  for (const statement of SETUP) await monitor.query(statement);
});

beforeEach(() => monitor.query("update counters set n = 0"));

afterAll(async () => {
  await monitor.end();
  await database.drop();
});

interface Scene {
  world: World;
  counts: Map<string, number>;
  faults: Map<string, Partial<StoreFaults>>;
  /** Runs work in a process of its own, with its connections. */
  start(name: string, work: (pool: ConnectionPool) => Promise<unknown>): Started;
  values(): Promise<number[]>;
  close(): void;
}

interface Started {
  process: SimulatedProcess;
  /** Simulated milliseconds from its start to its end. */
  tookMs: number | null;
  error: unknown;
}

function openScene(seed: number): Scene {
  seedGlobals(seededRandom(seed));
  const world = new World(seed);
  const counts = new Map<string, number>();
  const faults = new Map<string, Partial<StoreFaults>>();
  const gate = new StatementGate({
    world,
    monitor,
    tellTime: async () => undefined,
    faults: ({ name }) => ({ ...NO_STORE_FAULTS, ...faults.get(name) }),
    onFault: (kind) => void counts.set(kind, (counts.get(kind) ?? 0) + 1),
  });
  return {
    world,
    counts,
    faults,
    start(name, work) {
      const process = new SimulatedProcess(world, name);
      const pool = new ConnectionPool(database.url, { connections: 2 });
      const started: Started = { process, tookMs: null, error: null };
      const startedAt = world.now;
      world.plan(0, process, async () => {
        try {
          await work(pool);
        } catch (error) {
          started.error = error;
        }
        started.tookMs = world.now - startedAt;
      });
      return started;
    },
    async values() {
      const { rows } = await monitor.query<{ n: number }>("select n from counters order by id");
      return rows.map(({ n }) => n);
    },
    close: () => gate.close(),
  };
}

const add = (id: number): { text: string; values: number[] } => ({
  text: "update counters set n = n + 1 where id = $1",
  values: [id],
});

/** Adds to both rows in one transaction, in the given order. */
const addToBoth =
  (order: readonly number[], onTry: () => void) =>
  (pool: ConnectionPool): Promise<void> =>
    pool.transaction(async (query) => {
      onTry();
      for (const id of order) await query(add(id));
    });

describe("the simulation of statements", () => {
  test("transactions of two processes meet: some wait for a row lock, some deadlock, and both end", async () => {
    const seen = { waited: 0, repeated: 0 };
    const run = async (seed: number): Promise<{ lines: string[]; repeated: number }> => {
      const scene = openScene(seed);
      const lines: string[] = [];
      scene.world.trace = (line) => lines.push(line);
      let tries = 0;
      const onTry = (): void => void (tries += 1);
      const started = [scene.start("one", addToBoth([1, 2], onTry)), scene.start("two", addToBoth([2, 1], onTry))];
      await scene.world.run(60_000);
      expect(started.map(({ error }) => error)).toEqual([null, null]);
      seen.waited += scene.counts.get("statement waited for a lock") ?? 0;
      seen.repeated += tries - 2;
      scene.close();
      return { lines, repeated: tries - 2 };
    };
    for (let seed = 1; seed <= 12; seed += 1) {
      const [one, other] = [await run(seed), await run(seed)];
      expect(other.repeated > 0, "the same seed meets a deadlock again").toBe(one.repeated > 0);
      // In a deadlock the server chooses the transaction that fails.
      const isSame = one.repeated > 0 || other.lines.join("\n") === one.lines.join("\n");
      expect(isSame, "the same seed gives the same run").toBe(true);
    }
    expect(seen.waited).toBeGreaterThan(0);
    expect(seen.repeated).toBeGreaterThan(0);
    const { rows } = await monitor.query<{ n: number }>("select n from counters");
    expect(rows.map(({ n }) => n)).toEqual([48, 48]);
  });

  test("a stopped process holds its row locks until the server ends its transaction; others time out meanwhile", async () => {
    const scene = openScene(1);
    const holder = scene.start("holder", (pool) =>
      pool.transaction(async (query) => {
        await query(add(1));
        holder.process.pausedUntil = scene.world.now + 40_000;
        await query(add(2));
      }),
    );
    await scene.world.run(1000);
    const waiter = scene.start("waiter", (pool) => pool.query(add(1)));
    await scene.world.run(60_000);
    expect(waiter.error).toBeInstanceOf(StorageUnavailable);
    expect(waiter.tookMs).toBeGreaterThanOrEqual(10_000);
    expect(waiter.tookMs).toBeLessThan(11_000);
    expect(holder.error).toBeInstanceOf(StorageUnavailable);
    expect(holder.tookMs).toBeGreaterThanOrEqual(40_000);
    expect(await scene.values()).toEqual([0, 0]);
    scene.close();
  });

  test("a commit that hangs lands after its caller has given up, even if its process has died", async () => {
    const scene = openScene(1);
    scene.faults.set("caller", { landsLater: 1 });
    const caller = scene.start("caller", (pool) => pool.query(add(1)));
    await scene.world.run(14_500, () => caller.tookMs !== null);
    expect(caller.error).toBeInstanceOf(StorageUnavailable);
    expect(caller.tookMs).toBeGreaterThanOrEqual(11_000);
    caller.process.diedAt = scene.world.now;
    await scene.world.run(60_000);
    expect(await scene.values()).toEqual([1, 0]);
    scene.close();
  });

  test("a lost answer follows its commit, a dead connection comes before it", async () => {
    const scene = openScene(1);
    // The first statement of a connection prepares it.
    const lost = scene.start("lost", async (pool) => {
      await pool.query({ text: "select 1" });
      scene.faults.set("lost", { answerLost: 1 });
      await pool.query(add(1));
    });
    const refused = scene.start("refused", async (pool) => {
      await pool.query({ text: "select 1" });
      scene.faults.set("refused", { refused: 1 });
      await pool.query(add(2));
    });
    await scene.world.run(5000);
    expect(lost.error).toBeInstanceOf(StorageUnavailable);
    expect(refused.error).toBeInstanceOf(StorageUnavailable);
    expect(await scene.values()).toEqual([1, 0]);
    scene.close();
  });
});
