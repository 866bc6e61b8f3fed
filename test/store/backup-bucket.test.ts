import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { checkMasterKey } from "../../src/accounts/master-key.ts";
import { checkBackups } from "../../src/app/doctor/check-backups.ts";
import { readDestination } from "../../src/backup/read-destination.ts";
import { BackupSchedule } from "../../src/backup/schedule.ts";
import { backup } from "../../src/cli/backup.ts";
import { restore } from "../../src/cli/restore.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { readConfig } from "../../src/config.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { Log } from "../../src/lib/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { S3_CREDENTIALS, startS3Server, type S3Server } from "../support/s3-server.ts";

const MASTER_KEY = "the master key of this test";
const PLACE = "s3://backups/node-1";

/** Progress that the last command showed. */
let progress: string[] = [];

const terminal: Terminal = {
  canAsk: false,
  say: () => {},
  confirm: async () => false,
  ask: async () => "",
  askSecret: async () => "",
  showProgress: (text) => void progress.push(text),
};

describe("a backup in a bucket", () => {
  let original: string;
  let dataDir: string;
  let server: S3Server;
  let env: Record<string, string>;
  beforeAll(async () => {
    original = join(await mkdtemp(join(inject("scratchFolder"), "bucket-")), "original.db");
    const store = openSqliteStore(original, systemClock);
    await checkMasterKey(store, Buffer.from(MASTER_KEY));
    await store.close();
  });
  beforeEach(async () => {
    progress = [];
    dataDir = await mkdtemp(join(inject("scratchFolder"), "bucket-"));
    copyFileSync(original, join(dataDir, "heliograph.db"));
    server = await startS3Server();
    env = {
      HELIOGRAPH_DATA_DIR: dataDir,
      HELIOGRAPH_MASTER_KEY: MASTER_KEY,
      HELIOGRAPH_BACKUP_PASSPHRASE: "correct horse batery",
      HELIOGRAPH_S3_ENDPOINT: server.endpoint,
      AWS_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
      HELIOGRAPH_S3_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
    };
  });
  afterEach(() => server.close());

  const write = (): Promise<string> => backup(readConfig(env), [PLACE], {}, terminal);
  const namesIn = (): string[] => [...new Set([...server.objects.keys()].map((key) => key.split("/")[1] ?? ""))];
  const addressOfNewest = (): string => `${PLACE}/${namesIn().toSorted().at(-1)}`;
  const remainsIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith(".backup"));
  const emptyDir = (): Promise<string> => mkdtemp(join(inject("scratchFolder"), "restored-"));
  const restoreInto = (
    target: string,
    address: string,
    more: Record<string, string | undefined> = {},
  ): Promise<string> =>
    restore(readConfig({ ...env, HELIOGRAPH_MASTER_KEY: "", ...more }), [address], { "data-dir": target }, terminal);

  test("holds the same files as one in a folder, leaves none behind, and is restored from its address", async () => {
    expect(await write()).toMatch(
      /^s3:\/\/backups\/node-1\/heliograph-\w+Z: 1 MB, \d+ rows.*verified\. The master key is in it/,
    );
    const [name = ""] = namesIn();
    expect([...server.objects.keys()].toSorted()).toEqual(
      ["heliograph.db", "manifest.json", "master-key.json"].map((file) => `node-1/${name}/${file}`),
    );
    // The manifest makes it a backup, so it is the last to be stored.
    expect(server.requests.findLast((line) => line.startsWith("PUT"))).toContain("manifest.json");
    expect(remainsIn(dataDir)).toEqual([]);
    const target = await emptyDir();
    progress = [];
    expect(await restoreInto(target, `${PLACE}/${name}`)).toMatch(/verified[\s\S]*held/);
    for (const step of ["downloaded", "checked"])
      expect(progress).toContainEqual(expect.stringMatching(new RegExp(`^\\[#{30}\\] 100 % {2}${step}$`)));
    expect(progress.at(-1)).toBe("");
    expect(readdirSync(target).toSorted()).toEqual(["heliograph.db", "heliograph.lock", "master.key"]);
    const db = new DatabaseSync(join(target, "heliograph.db"), { readOnly: true });
    expect(
      db
        .prepare("select name from service order by name")
        .all()
        .map(({ name: row }) => row),
    ).toContain("held");
    db.close();
  });

  test("a backup within the same second gets another name", async () => {
    await write();
    const name = namesIn()[0] ?? "";
    for (let ahead = 0; ahead < 3600; ahead += 1) {
      const at = new Date(Date.now() + ahead * 1000).toISOString().replaceAll(/[-:]|\.\d+/g, "");
      server.objects.set(`node-1/heliograph-${at}/manifest.json`, Buffer.from("{}"));
    }
    expect(await write()).toMatch(/heliograph-\w+Z-2:/);
    expect(namesIn()).toContain(name);
  });

  test("is refused by a restore before the download, where the data directory has a database", async () => {
    await write();
    server.requests.length = 0;
    await expect(restoreInto(dataDir, addressOfNewest())).rejects.toThrow(
      /heliograph\.db exists.*nothing was restored/,
    );
    await expect(
      restoreInto(await emptyDir(), addressOfNewest(), { HELIOGRAPH_DATABASE_URL: "postgres://127.0.0.1/x" }),
    ).rejects.toThrow("HELIOGRAPH_DATABASE_URL is set");
    expect(server.requests.some((line) => line.includes("heliograph.db"))).toBe(false);
  });

  test("is named by a restore from the place that holds it", async () => {
    await write();
    const target = await emptyDir();
    await expect(restoreInto(target, PLACE)).rejects.toThrow(`BACKUP is one backup, such as ${addressOfNewest()}`);
    await expect(restoreInto(target, "s3://backups/elsewhere")).rejects.toThrow("manifest.json is missing");
    expect(readdirSync(target).filter((name) => name !== "heliograph.lock")).toEqual([]);
  });

  test("that was changed or cut is not restored, and leaves nothing in the data directory", async () => {
    await write();
    const key = `${addressOfNewest().slice("s3://backups/".length)}/heliograph.db`;
    const whole = server.objects.get(key) ?? Buffer.alloc(0);
    const changed = Buffer.from(whole);
    changed.writeUInt8(changed.readUInt8(5000) ^ 1, 5000);
    const target = await emptyDir();
    for (const [content, reason] of [
      [changed, "SHA-256 differs"],
      [whole.subarray(0, 5000), "SHA-256 differs"],
      [Buffer.concat([whole, whole]), "more bytes than the backup had"],
    ] as const) {
      server.objects.set(key, content);
      await expect(restoreInto(target, addressOfNewest())).rejects.toThrow(reason);
      expect(readdirSync(target).filter((name) => name !== "heliograph.lock")).toEqual([]);
    }
    server.objects.delete(key);
    await expect(restoreInto(target, addressOfNewest())).rejects.toThrow("heliograph.db is missing");
  });

  test("a failed upload leaves no backup and no local copy", async () => {
    server.faults.push({ on: /^PUT .*heliograph\.db/, fault: { status: 403, code: "QuotaExceeded" }, times: 1 });
    await expect(write()).rejects.toThrow(/403 QuotaExceeded.*no backup was written/);
    expect(
      namesIn().flatMap((name) => [...server.objects.keys()].filter((key) => key === `node-1/${name}/manifest.json`)),
    ).toEqual([]);
    expect(remainsIn(dataDir)).toEqual([]);
  });

  test("removes the local copy of a process that was killed", async () => {
    const left = join(dataDir, ".backup-transfer-999999999-abc");
    const own = join(dataDir, `.backup-transfer-${process.ppid}-abc`);
    for (const path of [left, own]) mkdirSync(path);
    await write();
    expect([left, own].map((path) => existsSync(path))).toEqual([false, true]);
  });

  test("needs credentials and a valid address", async () => {
    const without = { ...env, AWS_ACCESS_KEY_ID: "" };
    await expect(backup(readConfig(without), [PLACE], {}, terminal)).rejects.toThrow(
      "DIR is in a bucket: set HELIOGRAPH_S3_ACCESS_KEY_ID",
    );
    await expect(backup(readConfig(env), ["s3://B/x"], {}, terminal)).rejects.toThrow("must be s3://bucket/prefix");
    await expect(backup(readConfig(env), ["gs://bucket/x"], {}, terminal)).rejects.toThrow("a folder, or s3://");
    expect(() => readConfig({ ...env, HELIOGRAPH_BACKUP_DIR: "gs://bucket/x" })).toThrow(
      "HELIOGRAPH_BACKUP_DIR must be a path, or s3://bucket/prefix",
    );
  });

  test("heliograph doctor checks the bucket and names its fault", async () => {
    const check = (more: Record<string, string> = {}, now = Date.now()) =>
      checkBackups(readConfig({ ...env, HELIOGRAPH_BACKUP_DIR: PLACE, ...more }), now);
    expect(await check()).toMatchObject([{ status: "warning", detail: "none in s3://backups/node-1/" }]);
    await write();
    expect(await check()).toMatchObject([{ status: "ok", detail: expect.stringContaining("the newest 0 hours old") }]);
    expect(await check({}, Date.now() + 49 * 3_600_000)).toMatchObject([{ status: "warning" }]);
    expect(await check({ HELIOGRAPH_S3_SECRET_ACCESS_KEY: "wrong" })).toMatchObject([
      { status: "problem", detail: expect.stringContaining("403 SignatureDoesNotMatch") },
    ]);
    expect(await check({ AWS_ACCESS_KEY_ID: "" })).toMatchObject([{ status: "problem" }]);
  });

  describe("by schedule", () => {
    function schedule(everyMs = 3_600_000) {
      const metrics = createMetrics();
      const logged: unknown[] = [];
      const note = (...facts: unknown[]): void => void logged.push(facts);
      const log = { info: note, warn: note, error: note } as unknown as Log;
      const destination = readDestination(readConfig(env), PLACE, "HELIOGRAPH_BACKUP_DIR");
      if (destination.kind === "bucket") destination.bucket.s3.retryMs = 1;
      const options = { destination, databaseFile: join(dataDir, "heliograph.db"), key: null, everyMs, keep: 2 };
      return { metrics, logged, backups: new BackupSchedule({ clock: systemClock, log, metrics }, options) };
    }

    test("is written when due, not repeated after a restart, and the oldest beyond the number go", async () => {
      for (const name of ["20260101T000000Z", "20260102T000000Z", "20260103T000000Z"])
        for (const file of ["heliograph.db", "manifest.json"])
          server.objects.set(`node-1/heliograph-${name}/${file}`, Buffer.from("{}"));
      // The remains of an interrupted upload, and objects of others.
      server.objects.set("node-1/heliograph-20260104T000000Z/heliograph.db", Buffer.from("{}"));
      server.objects.set("node-1/heliograph-notes.txt", Buffer.from("mine"));
      server.objects.set("node-10/heliograph-20260101T000000Z/manifest.json", Buffer.from("{}"));
      const { backups, metrics, logged } = schedule();
      expect(await backups.run()).toBe(3_600_000);
      const kept = [...server.objects.keys()].filter((key) => key.endsWith("manifest.json") || key.includes("notes"));
      expect(kept.toSorted()).toEqual([
        "node-1/heliograph-20260103T000000Z/manifest.json",
        expect.stringMatching(/^node-1\/heliograph-2\w+Z\/manifest\.json$/),
        "node-1/heliograph-notes.txt",
        "node-10/heliograph-20260101T000000Z/manifest.json",
      ]);
      expect([...server.objects.keys()].some((key) => key.includes("20260104"))).toBe(false);
      expect(await metrics.registry.metrics()).toMatch(/heliograph_backup_last_success_timestamp_seconds 1\d{9}\n/);
      const before = server.requests.length;
      expect(await schedule().backups.run()).toBeGreaterThan(0);
      expect(server.requests.slice(before).filter((line) => line.startsWith("PUT"))).toEqual([]);
      expect(JSON.stringify(logged)).not.toContain(S3_CREDENTIALS.secretAccessKey);
    });

    test("counts a failure, logs no secret, and tries again sooner", async () => {
      server.faults.push({ on: /./, fault: { status: 503, code: "SlowDown" }, times: 100 });
      const { backups, metrics, logged } = schedule(86_400_000);
      expect(await backups.run()).toBe(600_000);
      expect(await metrics.registry.metrics()).toContain('heliograph_backup_failures_total{error="SlowDown"} 1');
      expect(JSON.stringify(logged)).toContain("s3://backups/node-1/");
      expect(JSON.stringify(logged)).not.toContain(S3_CREDENTIALS.secretAccessKey);
    });
  });
});
