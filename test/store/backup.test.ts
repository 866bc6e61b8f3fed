import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { checkMasterKey } from "../../src/accounts/master-key.ts";
import { listBackups, sha256Of, type Manifest } from "../../src/backup/manifest.ts";
import { BackupSchedule } from "../../src/backup/schedule.ts";
import { pruneBackups, writeBackup } from "../../src/backup/write-backup.ts";
import { backup } from "../../src/cli/backup.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { readConfig } from "../../src/config.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLog } from "../../src/lib/log.ts";
import { unwrapSecret, type WrappedSecret } from "../../src/lib/passphrase.ts";
import { createMetrics } from "../../src/metrics.ts";
import { copyDatabase } from "../../src/store/sqlite/copy.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

const MASTER_KEY = "the master key of this test";
const PASSPHRASE = "correct horse battery";
const key = { masterKey: MASTER_KEY, passphrase: PASSPHRASE };

const modeOf = (path: string): number => statSync(path).mode & 0o777;
const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest;

function silentTerminal(typed: string[] = []): Terminal {
  return {
    canAsk: typed.length > 0,
    say: () => {},
    confirm: async () => false,
    ask: async () => "",
    askSecret: async () => typed.shift() ?? "",
    showProgress: () => {},
  };
}

describe("a backup of SQLite", () => {
  let dataDir: string;
  let folder: string;
  let databaseFile: string;
  let original: string;
  beforeAll(async () => {
    original = join(await mkdtemp(join(inject("scratchFolder"), "backup-")), "original.db");
    const store = openSqliteStore(original, systemClock);
    await checkMasterKey(store, Buffer.from(MASTER_KEY));
    await store.close();
  });
  beforeEach(async () => {
    dataDir = await mkdtemp(join(inject("scratchFolder"), "backup-"));
    folder = join(dataDir, "backups");
    databaseFile = join(dataDir, "heliograph.db");
    copyFileSync(original, databaseFile);
  });

  test("is one snapshot, however much is written during the copy", async () => {
    const writer = new DatabaseSync(databaseFile, { timeout: 10_000 });
    writer.exec("pragma journal_mode = wal");
    writer.exec("create table one (v); create table other (v)");
    writer.exec(
      "with recursive c(i) as (values (1) union all select i + 1 from c where i < 15000) insert into one select hex(randomblob(1000)) from c",
    );
    let steps = 0;
    let restarts = 0;
    let last = Number.POSITIVE_INFINITY;
    const target = join(dataDir, "copy.db");
    await copyDatabase(databaseFile, target, {
      onProgress: ({ remainingPages }) => {
        steps += 1;
        if (remainingPages > last) restarts += 1;
        last = remainingPages;
        writer.exec("begin; insert into one values ('late'); insert into other values ('late'); commit");
      },
    });
    writer.close();
    expect(steps).toBeGreaterThan(3);
    expect(restarts).toBe(0);
    const copy = new DatabaseSync(target);
    expect(copy.prepare("select count(*) as count from one").get()).toEqual({ count: 15_000 });
    expect(copy.prepare("select count(*) as count from other").get()).toEqual({ count: 0 });
    copy.close();
  });

  test("holds the database, a manifest and the wrapped key, readable by their owner only", async () => {
    const { path } = await writeBackup({ folder, databaseFile, key });
    expect(readdirSync(path).toSorted()).toEqual(["heliograph.db", "manifest.json", "master-key.json"]);
    expect([folder, path].map(modeOf)).toEqual([0o700, 0o700]);
    for (const name of readdirSync(path)) expect([name, modeOf(join(path, name))]).toEqual([name, 0o600]);
    const { database, engine, masterKey } = manifestOf(path);
    expect(engine).toBe("sqlite");
    expect(database?.sha256).toBe(await sha256Of(join(path, "heliograph.db")));
    expect(database?.bytes).toBe(statSync(join(path, "heliograph.db")).size);
    expect(database?.counts).toMatchObject({ messages: 0, service: 1 });
    expect(database?.migrations).toBe(database?.counts["migrations"]);
    expect(masterKey?.sha256).toBe(await sha256Of(join(path, "master-key.json")));
    const wrapped = readFileSync(join(path, "master-key.json"), "utf8");
    expect(wrapped).not.toContain(MASTER_KEY);
    expect(await unwrapSecret(JSON.parse(wrapped) as WrappedSecret, PASSPHRASE)).toBe(MASTER_KEY);
    await expect(unwrapSecret(JSON.parse(wrapped) as WrappedSecret, "another passphrase")).rejects.toThrow(
      "the passphrase is wrong",
    );
  });

  test("of a damaged file fails, and leaves nothing that looks like a backup", async () => {
    const file = openSync(databaseFile, "r+");
    writeSync(file, Buffer.alloc(4096, 7), 0, 4096, 4 * 4096);
    closeSync(file);
    await expect(writeBackup({ folder, databaseFile, key })).rejects.toThrow(/Tree|malformed/);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("refuses a master key that is not the database's", async () => {
    const other = { masterKey: "another master key", passphrase: PASSPHRASE };
    await expect(writeBackup({ folder, databaseFile, key: other })).rejects.toThrow("another master key");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("removes the remains of one whose process was killed a day ago, and no younger ones", async () => {
    for (const name of [".heliograph-20200101T000000Z-1.partial", ".heliograph-20990101T000000Z-2.partial"])
      mkdirSync(join(folder, name), { recursive: true });
    utimesSync(join(folder, ".heliograph-20200101T000000Z-1.partial"), 0, 0);
    const { path } = await writeBackup({ folder, databaseFile, key: null });
    expect(readdirSync(folder).map((name) => join(folder, name))).toEqual([
      join(folder, ".heliograph-20990101T000000Z-2.partial"),
      path,
    ]);
  });

  test("is deleted once enough newer ones exist; other files of the folder stay", async () => {
    for (const name of [
      "heliograph-20260101T000000Z",
      "heliograph-20260102T000000Z",
      "heliograph-20260102T000000Z-2",
    ]) {
      mkdirSync(join(folder, name), { recursive: true });
      writeFileSync(join(folder, name, "manifest.json"), "{}");
    }
    mkdirSync(join(folder, "heliograph-20250101T000000Z")); // without a manifest: not ours to delete
    writeFileSync(join(folder, "notes.txt"), "");
    expect(pruneBackups(folder, 2)).toEqual(["heliograph-20260101T000000Z"]);
    expect(listBackups(folder)).toEqual(["heliograph-20260102T000000Z", "heliograph-20260102T000000Z-2"]);
    expect(existsSync(join(folder, "notes.txt"))).toBe(true);
  });

  describe("by schedule", () => {
    const schedule = (everyMs = 3_600_000): { metrics: ReturnType<typeof createMetrics>; backups: BackupSchedule } => {
      const metrics = createMetrics();
      const log = createLog("silent");
      const destination = { kind: "folder", folder } as const;
      const options = { destination, databaseFile, key: null, everyMs, keep: 1 };
      return { metrics, backups: new BackupSchedule({ clock: systemClock, log, metrics }, options) };
    };

    test("is written when the newest is too old, reported in metrics, and not repeated after a restart", async () => {
      mkdirSync(join(folder, "heliograph-20260101T000000Z"), { recursive: true });
      writeFileSync(join(folder, "heliograph-20260101T000000Z", "manifest.json"), "{}");
      const { backups, metrics } = schedule();
      await backups.run();
      const [written, ...rest] = listBackups(folder);
      expect(rest).toEqual([]);
      expect(written).not.toBe("heliograph-20260101T000000Z");
      const at = Date.parse(manifestOf(join(folder, written ?? "")).createdAt);
      expect(await metrics.registry.metrics()).toContain(
        `heliograph_backup_last_success_timestamp_seconds ${Math.floor(at / 1000)}`,
      );
      expect(await schedule().backups.run()).toBeGreaterThan(0);
      expect(listBackups(folder)).toEqual([written]);
    });

    test("counts a failure and tries again sooner", async () => {
      writeFileSync(folder, "a file, not a folder");
      const { backups, metrics } = schedule(86_400_000);
      expect(await backups.run()).toBe(600_000);
      expect(await metrics.registry.metrics()).toContain('heliograph_backup_failures_total{error="EEXIST"} 1');
    });
  });

  describe("by the command", () => {
    const run = (env: Record<string, string>, options: Parameters<typeof backup>[2] = {}, typed: string[] = []) =>
      backup(
        readConfig({ HELIOGRAPH_DATA_DIR: dataDir, HELIOGRAPH_MASTER_KEY: MASTER_KEY, ...env }),
        [folder],
        options,
        silentTerminal(typed),
      );
    const passphraseOf = async (): Promise<string> => {
      const file = join(folder, listBackups(folder).at(-1) ?? "", "master-key.json");
      return unwrapSecret(JSON.parse(readFileSync(file, "utf8")) as WrappedSecret, PASSPHRASE);
    };

    test("takes the passphrase of a file, of the setting, or typed twice", async () => {
      const file = join(dataDir, "passphrase");
      writeFileSync(file, `${PASSPHRASE}\n`);
      expect(await run({}, { "passphrase-file": file })).toMatch(/1 MB, \d+ rows, 0 of them messages; verified\./);
      expect(await passphraseOf()).toBe(MASTER_KEY);
      await run({}, {}, [PASSPHRASE, PASSPHRASE]);
      await expect(run({}, {}, [PASSPHRASE, "correct horse batery"])).rejects.toThrow("the two passphrases differ");
      await expect(run({}, {}, ["too short"])).rejects.toThrow("fewer than 12");
    });

    test("names the options where there is no passphrase, and leaves the key out on request only", async () => {
      await expect(run({})).rejects.toThrow("--passphrase-file FILE or HELIOGRAPH_BACKUP_PASSPHRASE");
      expect(existsSync(folder)).toBe(false);
      expect(await run({}, { "without-key": true })).toContain("The master key is not in it");
      expect(manifestOf(join(folder, listBackups(folder)[0] ?? "")).masterKey).toBeNull();
    });

    test("saves only the wrapped key on PostgreSQL, and says what the rest needs", async () => {
      const HELIOGRAPH_DATABASE_URL = "postgresql://127.0.0.1:1/none";
      const env = { HELIOGRAPH_DATABASE_URL, HELIOGRAPH_BACKUP_PASSPHRASE: PASSPHRASE };
      expect(await run(env)).toMatch(/holds the master key only[\s\S]*pg_dump[\s\S]*hold/);
      expect(await passphraseOf()).toBe(MASTER_KEY);
      expect(manifestOf(join(folder, listBackups(folder)[0] ?? ""))).toMatchObject({
        engine: "postgres",
        database: null,
      });
      await expect(run(env, { "without-key": true })).rejects.toThrow("use pg_dump");
    });
  });
});
