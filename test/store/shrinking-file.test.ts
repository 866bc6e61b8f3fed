import { mkdtemp } from "node:fs/promises";
import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { runRetention } from "../../src/cluster/retention.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { idFloor } from "../../src/lib/ids.ts";
import { createLog } from "../../src/lib/log.ts";
import { compactFile } from "../../src/store/sqlite/compact.ts";
import { openDatabase } from "../../src/store/sqlite/open.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { NOON } from "../support/acceptances.ts";
import { MovedClock } from "../support/moved-clock.ts";

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;
const ROWS = 5000;

/** Messages of 2 KB that ended on the same day. */
const FILL = `
  with recursive counted (i) as (values (1) union all select i + 1 from counted where i < ${ROWS})
  insert into messages (account_id, request_id, n, channel, lane, test, sender, recipient, content, segments, state, owner,
    created_at, due_at, expires_at, done_at)
  select 1, '${idFloor(NOON)}', i, 'sms', 1, 0, 'SHOP', '15550100100',
    '{"text":"' || hex(randomblob(1000)) || '"}', 1, 'delivered', 0, ${NOON}, ${NOON}, ${NOON}, ${NOON} from counted`;

describe("the file of SQLite", () => {
  let path: string;
  let store: Store | null = null;
  beforeEach(async () => {
    path = join(await mkdtemp(join(inject("scratchFolder"), "file-")), "heliograph.db");
  });
  afterEach(() => store?.close());

  const open = (): Store => (store = openSqliteStore(path, systemClock));
  const bytesOf = (file: string): number => statSync(file).size;
  function run(statement: string): unknown[] {
    const db = new DatabaseSync(path, { timeout: 10_000 });
    try {
      return db.prepare(statement).all();
    } finally {
      db.close();
    }
  }
  function fill(): void {
    run("insert into accounts (name, suspended, settings, created_at) values ('a', 0, '{}', 0)");
    run(FILL);
  }

  test("shrinks after retention, while the write-ahead log stays short", async () => {
    const { freePages, ...rest } = open();
    fill();
    run("pragma wal_checkpoint(truncate)");
    const before = bytesOf(path);
    expect(before).toBeGreaterThan(10 * MIB);
    const clock = new MovedClock(NOON + 500 * DAY_MS);
    let freed = 0;
    const turn = runRetention({
      store: {
        ...rest,
        freePages: async (limit) => {
          const sweep = await freePages(limit);
          freed += sweep.rows;
          return sweep;
        },
      },
      clock,
      log: createLog("silent"),
      linkLifeMs: DAY_MS,
      sessionLimits: { idleMs: DAY_MS, lifeMs: DAY_MS },
      auditMs: DAY_MS,
    });
    let longest = 0;
    // A pass is over when a run has no work and no pause of its own.
    for (let idle = 0; idle < 5; idle = (await turn()) === undefined ? idle + 1 : 0)
      longest = Math.max(longest, bytesOf(`${path}-wal`));
    expect(run("select count(*) as left from messages")).toEqual([{ left: 0 }]);
    expect(freed).toBeGreaterThan(1000);
    run("pragma wal_checkpoint(truncate)");
    expect(bytesOf(path)).toBeLessThan(before / 10);
    // 4,000 pages begin a checkpoint; a batch may exceed them once.
    expect(longest).toBeLessThan(24 * MIB);
    expect(run("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
  });

  test("keeps a tenth of its pages free for the next messages", async () => {
    const opened = open();
    fill();
    const pages = (): number => Number(Object.values(run("pragma freelist_count")[0] as object)[0]);
    run("delete from messages where n % 8 <> 0");
    const free = pages();
    expect(free).toBeGreaterThan(1000);
    while ((await opened.freePages(500)).next);
    const left = pages();
    const [{ page_count: size } = { page_count: 0 }] = run("pragma page_count") as { page_count: number }[];
    expect(left).toBeGreaterThan(0);
    expect(left / size).toBeCloseTo(0.1, 1);
  });

  test("opens while another connection writes", async () => {
    await open().close();
    store = null;
    const other = new DatabaseSync(path);
    other.exec("begin immediate");
    expect(() => openDatabase(path).close()).not.toThrow();
    other.close();
  });

  describe("that was created without incremental vacuum", () => {
    beforeEach(async () => {
      const db = new DatabaseSync(path);
      db.exec("pragma auto_vacuum = none; pragma journal_mode = wal; create table earlier (n)");
      db.exec("drop table earlier");
      db.close();
      await open().close();
      store = null;
      fill();
      run("delete from messages where n > 10");
    });

    test("keeps its size, because its pages cannot be freed a few at a time", async () => {
      const before = bytesOf(path);
      expect(await open().freePages(500)).toMatchObject({ next: null, rows: 0 });
      expect(bytesOf(path)).toBe(before);
    });

    test("shrinks when it is compacted, keeps its rows, and shrinks by itself from then on", async () => {
      const before = bytesOf(path);
      const { beforeBytes, afterBytes } = compactFile(path, () => before * 2);
      expect(beforeBytes).toBe(before);
      expect(afterBytes).toBe(bytesOf(path));
      expect(afterBytes).toBeLessThan(before / 10);
      expect(run("select count(*) as left from messages")).toEqual([{ left: 10 }]);
      expect(run("pragma auto_vacuum")).toEqual([{ auto_vacuum: 2 }]);
      expect(run("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
    });

    test("is not compacted without the space for two copies of its rows", () => {
      const before = bytesOf(path);
      expect(() => compactFile(path, () => 1000)).toThrow(/needs [12] MB of free space.*has 0 MB/);
      expect(bytesOf(path)).toBe(before);
    });
  });
});
