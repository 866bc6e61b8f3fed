import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { checkIntegrity } from "../../src/app/doctor/check-integrity.ts";
import { IntegrityWatch } from "../../src/cluster/watch-integrity.ts";
import { readConfig } from "../../src/config.ts";
import { createLog } from "../../src/lib/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { startIntegrityCheck } from "../../src/store/sqlite/integrity-check.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { writeSqliteSchema } from "../support/sqlite-schema.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer } from "../support/test-server.ts";

const HOUR_MS = 3_600_000;

/** Overwrites the first leaf page of a table with bytes that are no page. */
function damage(file: string, table: string): void {
  const db = new DatabaseSync(file);
  db.exec("pragma wal_checkpoint(truncate)");
  const { rootpage } = db.prepare("select rootpage from sqlite_schema where name = ?").get(table) as {
    rootpage: number;
  };
  const { page_size: size } = db.prepare("pragma page_size").get() as { page_size: number };
  db.close();
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(size, 0x5a), 0, size, (rootpage - 1) * size);
  closeSync(descriptor);
}

describe("the check of the SQLite file", () => {
  let dataDir: string;
  let file: string;
  let store: Store;
  let clock: MovedClock;
  let lines: string[];
  let metrics: ReturnType<typeof createMetrics>;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(inject("scratchFolder"), "integrity-"));
    file = join(dataDir, "heliograph.db");
    clock = new MovedClock();
    lines = [];
    await writeSqliteSchema(file);
    store = openSqliteStore(file, clock);
  });
  afterEach(() => store.close());

  function openWatch(start = () => startIntegrityCheck(file)): IntegrityWatch {
    metrics = createMetrics();
    const log = createLog("info", { write: (line: string) => void lines.push(line) });
    return new IntegrityWatch({ store, clock, log, metrics, start }, { everyMs: 24 * HOUR_MS });
  }
  const shown = async (name: string): Promise<string[]> =>
    (await metrics.registry.metrics()).split("\n").filter((line) => line.startsWith(`heliograph_${name}`));
  const doctor = () =>
    checkIntegrity(readConfig({ HELIOGRAPH_DATA_DIR: dataDir }), clock.now()).map(
      ({ status, detail }) => `${status}: ${detail}`,
    );

  test("finds nothing in a whole file, and is due again a day later, also after a restart", async () => {
    expect(doctor()).toEqual(["ok: not checked yet; the server checks the file a minute after its start"]);
    const watch = openWatch();
    expect(await watch.run()).toBe(HOUR_MS);
    expect(watch.warnings).toEqual([]);
    expect(await shown("integrity_check_last")).toEqual([
      `heliograph_integrity_check_last_success_timestamp_seconds ${clock.now() / 1000}`,
    ]);
    clock.advance(23.5 * HOUR_MS);
    let starts = 0;
    const restarted = openWatch(() => {
      starts += 1;
      return startIntegrityCheck(file);
    });
    expect([await restarted.run(), starts]).toEqual([HOUR_MS / 2, 0]);
    expect(doctor()).toEqual(["ok: the check 23 hours ago found no damage"]);
    clock.advance(HOUR_MS / 2);
    await restarted.run();
    expect(starts).toBe(1);
    clock.advance(49 * HOUR_MS);
    expect(doctor()).toEqual(["warning: the check 49 hours ago found no damage"]);
  });

  test("reports a damaged page in log, metrics, warnings and doctor, until a check finds none", async () => {
    const whole = readFileSync(file);
    damage(file, "inbound");
    const watch = openWatch();
    await watch.run();
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      {
        level: "error",
        msg: "database is damaged",
        faults: [expect.stringMatching(/malformed|error code 11|invalid page/i)],
      },
    ]);
    expect(await shown("database_damaged")).toEqual(["heliograph_database_damaged 1"]);
    expect(await shown("integrity_check_failures")).toEqual([
      'heliograph_integrity_check_failures_total{reason="damaged"} 1',
    ]);
    expect(watch.warnings).toMatchObject([{ code: "DATABASE_DAMAGED", message: expect.stringContaining("restore") }]);
    expect(doctor()).toEqual([expect.stringMatching(/^problem: the check 0 hours ago found damage: /)]);
    const restarted = openWatch();
    await restarted.load();
    expect(restarted.warnings).toEqual(watch.warnings);
    expect(await shown("integrity_check_last")).toEqual([
      "heliograph_integrity_check_last_success_timestamp_seconds 0",
    ]);
    await store.close();
    writeFileSync(file, whole);
    for (const suffix of ["-wal", "-shm"]) writeFileSync(file + suffix, "");
    store = openSqliteStore(file, clock);
    clock.advance(24 * HOUR_MS);
    const after = openWatch();
    await after.run();
    expect(after.warnings).toEqual([]);
  });

  test("is tried again after ten minutes if it could not be made", async () => {
    const watch = openWatch(() => startIntegrityCheck(join(dataDir, "missing", "heliograph.db")));
    expect(await watch.run()).toBe(600_000);
    expect(await shown("integrity_check_failures")).toEqual([
      'heliograph_integrity_check_failures_total{reason="not run"} 1',
    ]);
    expect(watch.warnings).toEqual([]);
    expect(doctor()).toEqual(["ok: not checked yet; the server checks the file a minute after its start"]);
  });

  test("ends with the server, however long it would take", async () => {
    const endless = join(dataDir, "endless.mjs");
    writeFileSync(endless, "for (;;);");
    let isStarted = false;
    const watch = openWatch(() => {
      isStarted = true;
      return startIntegrityCheck(file, pathToFileURL(endless));
    });
    const running = watch.run();
    await eventually(
      () => isStarted,
      (started) => started,
    );
    watch.stop();
    await running;
    expect(lines).toEqual([]);
  });
});

test("a server knows from its start that its file is damaged", async () => {
  const dataDir = await mkdtemp(join(inject("scratchFolder"), "integrity-"));
  const env = { HELIOGRAPH_DATA_DIR: dataDir, HELIOGRAPH_INTEGRITY_CHECK_HOURS: "24" };
  const first = await startTestServer("sqlite", { env });
  const stored = JSON.stringify({ at: Date.now(), faults: ["Tree 9 page 9: btreeInitPage() returns error code 11"] });
  await first.app.store.replaceSettled("integrity-check", null, stored);
  await first.app.stop();
  const server = await startTestServer("sqlite", { env });
  const { body } = await server.asOwner<{ warnings: { code: string }[] }>("GET", "/api/system");
  expect(body.warnings.map(({ code }) => code)).toEqual(["DATABASE_DAMAGED"]);
  await server.close();
});
