import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { systemClock, type Clock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { queryAs } from "../../src/store/query-caller.ts";
import { QueryTimedOut } from "../../src/store/reporting-queue.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { MessageFilter, Position, Store } from "../../src/store/store.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { migratedDatabase } from "../support/databases.ts";
import { ENGINES } from "../support/engines.ts";
import { writeSqliteSchema } from "../support/sqlite-schema.ts";

type Page = Awaited<ReturnType<Store["listMessages"]>>;

const TIME_LIMIT_MS = 10_000;
const MESSAGES = 40;

describe.each(ENGINES)("a search within a request on %s", (engine) => {
  let store: Store;
  let close: () => Promise<void>;
  /** Time that passes from one look at the clock to the next. */
  let stepMs = 0;

  beforeEach(async () => {
    let now = 0;
    const clock: Clock = { ...systemClock, monotonic: () => (now += stepMs) };
    stepMs = 0;
    if (engine === "sqlite") {
      const path = join(await mkdtemp(join(inject("scratchFolder"), "limits-")), "store.db");
      await writeSqliteSchema(path);
      store = openSqliteStore(path, clock);
      close = () => store.close();
    } else {
      const database = await migratedDatabase(inject("postgresUrl"));
      store = await openPostgresStore(database.url, { clock });
      close = async () => {
        await store.close();
        await database.drop();
      };
    }
    for (let index = 0; index < MESSAGES; index += 1)
      await store.accept([
        acceptance({
          accountId: 1,
          requestId: newId(NOON + index * 1000),
          createdAt: NOON,
          to: ["33600000001"],
          test: index % 10 === 0,
        }),
      ]);
    while ((await store.indexNextBlock(1, NOON + 3_600_000, 4)) !== null);
  });
  afterEach(() => close());

  const inRequest = <T>(work: () => Promise<T>): Promise<T> =>
    queryAs({ accountId: 1, signal: new AbortController().signal }, work);

  const pagesOf = async (filter: MessageFilter): Promise<number[]> => {
    const sizes: number[] = [];
    for (let after: Position | null = null; ;) {
      const from: Position | null = after;
      const page: Page = await inRequest(() => store.listMessages(1, filter, from, 50));
      sizes.push(page.rows.length);
      if (!page.next) return sizes;
      after = page.next;
    }
  };

  it("returns what it has found when it takes long, and the next page continues there", async () => {
    expect(await pagesOf({ test: true })).toEqual([4]);
    stepMs = 300;
    const sizes = await pagesOf({ test: true });
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.slice(0, -1)).not.toContain(0);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(4);
  });

  it("ends with the time limit over all its statements when it finds nothing", async () => {
    stepMs = 0.6 * TIME_LIMIT_MS;
    await expect(pagesOf({ recipient: "33600000009", test: true })).rejects.toThrow(QueryTimedOut);
    stepMs = 0;
    expect(await pagesOf({ recipient: "33600000009", test: true })).toEqual([0]);
  });

  it("has no time limit in a job", async () => {
    stepMs = TIME_LIMIT_MS;
    expect((await store.listMessages(1, { test: true }, null, 50)).rows).toHaveLength(4);
  });
});
