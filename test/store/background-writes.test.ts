import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { BackgroundResult } from "../../src/store/engine.ts";
import { runInBackground } from "../../src/store/postgres/background.ts";
import { ConnectionPool } from "../../src/store/postgres/pool.ts";
import { DatabaseThread } from "../../src/store/sqlite/thread.ts";
import { migratedDatabase } from "../support/databases.ts";
import { hasPostgres } from "../support/engines.ts";
import { writeSqliteSchema } from "../support/sqlite-schema.ts";

describe("background jobs of the SQLite writer", () => {
  let writer: DatabaseThread;
  beforeAll(async () => {
    const path = join(await mkdtemp(join(inject("scratchFolder"), "writer-")), "store.db");
    await writeSqliteSchema(path);
    writer = new DatabaseThread(new URL("../../src/store/sqlite/writer.ts", import.meta.url), path);
    await ordinary();
  });
  afterAll(() => writer.close());

  const ordinary = (): Promise<unknown> => writer.call("query", ["delete from failovers where n = ?", [0]]);
  const background = (): Promise<BackgroundResult> =>
    writer.call("background", [[{ sql: "delete from failovers where n = ?", values: [0] }]], { background: true });

  test("run after all ordinary jobs that wait, each in a transaction of its own", async () => {
    const order: string[] = [];
    const note = (name: string) => (): void => void order.push(name);
    // Keeps the writer busy until the others have arrived.
    const count = "with recursive counted (i) as (values (1) union all select i + 1 from counted where i < 1000000)";
    const jobs = [writer.call("query", [`${count} select max(i) from counted`, []])];
    jobs.push(background().then(note("background")), background().then(note("background")));
    for (let n = 0; n < 20; n += 1) jobs.push(ordinary().then(note("ordinary")));
    await Promise.all(jobs);
    expect(order).toEqual([...Array.from({ length: 20 }, () => "ordinary"), "background", "background"]);
  });

  test("run after a while where ordinary jobs never pause", async () => {
    const done = background().then(() => (isDone = true));
    let isDone = false;
    const never = async (): Promise<void> => {
      while (!isDone) await Promise.all(Array.from({ length: 100 }, ordinary));
    };
    await Promise.all([done, never(), never(), never()]);
    expect(isDone).toBe(true);
  });

  test("commit without a sync, and the jobs after them with one, also when they fail", async () => {
    const level = "(select synchronous from pragma_synchronous)";
    const note = `insert into service (name, value) values (?, ${level})`;
    const maintain = (sql: string, ...values: string[]): Promise<unknown> =>
      writer.call("background", [[{ sql, values }]], { background: true });
    await maintain(note, "background");
    await expect(maintain("delete from nothing")).rejects.toThrow("nothing");
    await writer.call("query", [note, ["ordinary"]]);
    const read = "select name, value from service where name in ('background', 'ordinary') order by name";
    // 1: only checkpoints sync; 2: every commit does.
    expect(await writer.call("query", [read, []])).toMatchObject({
      rows: [
        { name: "background", value: "1" },
        { name: "ordinary", value: "2" },
      ],
    });
  });

  test("each statement returns its number of changed rows", async () => {
    await writer.call("query", ["insert into failovers (account_id, request_id, n, due_at) values (1, 'a', 0, 0)", []]);
    expect(await background()).toEqual({ changes: [1], ms: expect.any(Number) as number });
  });
});

test.runIf(hasPostgres)(
  "maintenance on PostgreSQL commits without a sync, and the next transaction with one",
  async () => {
    const database = await migratedDatabase(inject("postgresUrl"));
    const pool = new ConnectionPool(database.url, { connections: 1 });
    const note = (name: string) => ({
      text: "insert into service (name, value) values ($1, current_setting('synchronous_commit'))",
      values: [name],
    });
    expect((await runInBackground(pool, [note("background")])).changes).toEqual([1]);
    await pool.query(note("ordinary"));
    const { rows } = await pool.query({
      text: "select name, value from service where name in ('background', 'ordinary') order by name",
    });
    expect(rows).toEqual([
      { name: "background", value: "off" },
      { name: "ordinary", value: "on" },
    ]);
    await pool.end();
    await database.drop();
  },
);
