import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { prepareSession } from "../../src/store/postgres/session.ts";
import { StorageUnavailable, type Acceptance, type Store } from "../../src/store/store.ts";
import { acceptance } from "../support/acceptances.ts";
import { freshDatabase } from "../support/databases.ts";
import { eventually } from "../support/eventually.ts";
import { startCluster, type Cluster } from "../support/postgres-cluster.ts";

describe("PostgreSQL that goes away", () => {
  let cluster: Cluster;
  let store: Store;
  let url: string;
  let accountId = 0;

  beforeAll(async () => {
    cluster = await startCluster();
    ({ url } = await freshDatabase(cluster.url));
    store = await openPostgresStore(url, { connections: 4 });
  });
  afterAll(async () => {
    await store.close();
    await cluster.stop();
  });

  async function administer(...statements: string[]): Promise<void> {
    const client = new Client({ connectionString: cluster.url });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  }

  it.each(["immediate", "fast"] as const)("costs the writes under way and nothing else (%s)", async (mode) => {
    accountId += 1;
    const stored: Acceptance[] = [];
    const failures: unknown[] = [];
    let over = false;
    const writer = async (): Promise<void> => {
      while (!over) {
        const item = acceptance({ accountId });
        try {
          await store.accept([item]);
          stored.push(item);
        } catch (error) {
          failures.push(error);
          await sleep(20);
        }
      }
    };
    const writers = [writer(), writer(), writer(), writer()];
    while (stored.length < 50) await sleep(5);
    await cluster.restart(mode);
    const before = stored.length;
    while (stored.length < before + 50) await sleep(5);
    over = true;
    await Promise.all(writers);

    expect(failures.length).toBeGreaterThan(0);
    expect(failures.filter((failure) => !(failure instanceof StorageUnavailable))).toEqual([]);
    const kept = await Promise.all(stored.map(({ message }) => store.findMessage({ ...message, n: 1 })));
    expect(kept.filter((message) => message === null)).toEqual([]);
  });

  it("the fault is noticed in reads and transactions, and cleared once the store is back", async () => {
    const untilRejected = async (ask: () => Promise<unknown>): Promise<unknown> => {
      for (;;) {
        try {
          await ask();
        } catch (error) {
          return error;
        }
      }
    };
    const read = untilRejected(() => store.listAccounts());
    const transaction = untilRejected(() => store.join({ alone: false }));
    await cluster.restart("immediate");
    expect(await read).toBeInstanceOf(StorageUnavailable);
    expect(await transaction).toBeInstanceOf(StorageUnavailable);
    await expect(store.ping()).resolves.toBeUndefined();
  });

  it("is noticed by a ping when it no longer takes writes, and forgotten once it does", async () => {
    const database = new URL(url).pathname.slice(1);
    await administer(
      `alter database ${database} set default_transaction_read_only = on`,
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'heliograph'",
    );
    const ping = (): Promise<string> =>
      store.ping().then(
        () => "answered",
        (error: unknown) => String(error),
      );
    await eventually(ping, (outcome) => outcome.includes("read-only"));
    await expect(store.accept([acceptance()])).rejects.toThrow(StorageUnavailable);
    // Sessions that are open by now stay read-only, as those to a former primary do.
    await administer(`alter database ${database} reset default_transaction_read_only`);
    await eventually(ping, (outcome) => outcome === "answered");
    expect(await store.accept([acceptance()])).toEqual([{ kind: "stored" }]);
  });

  it("cannot be opened while it is not there", async () => {
    await expect(openPostgresStore("postgres://nobody@127.0.0.1:1/none")).rejects.toThrow(StorageUnavailable);
  });

  it.each([
    ["off", "on"],
    ["remote_apply", "remote_apply"],
  ])("is never trusted with less than a synced commit (told %s, does %s)", async (told, does) => {
    const client = new Client({ connectionString: url, options: `-c synchronous_commit=${told}` });
    await client.connect();
    await prepareSession(client, 1000, "none");
    const { rows } = await client.query("show synchronous_commit");
    await client.end();
    expect(rows).toEqual([{ synchronous_commit: does }]);
  });
});

describe("SQLite on a full disk", () => {
  it("writes are refused, accepted rows are kept, and writes resume with free space", async () => {
    const folder = await mkdtemp(join(tmpdir(), "heliograph-full-"));
    const script = join(import.meta.dirname, "../support/filling-process.ts");
    // The soft limit only, so that it can be lifted again; in blocks of 1024 bytes.
    const limited = spawn(
      "bash",
      ["-c", `ulimit -S -f 4096 && exec "$0" "$@"`, process.execPath, script, join(folder, "store.db")],
      {
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      },
    );
    try {
      const [full] = (await once(limited, "message")) as [
        Record<"writes" | "pings", { done: number; unavailable: boolean }>,
      ];
      expect(full.writes.done).toBeGreaterThan(0);
      expect(full).toMatchObject({ writes: { unavailable: true }, pings: { unavailable: true } });

      execFileSync("prlimit", [`--pid=${limited.pid}`, "--fsize=unlimited:"]);
      limited.send("there is room");
      const [after] = (await once(limited, "message")) as [{ result: unknown; rows: number }];
      expect(after).toEqual({ result: { kind: "stored" }, rows: (full.writes.done + 1) * 200 });
      await once(limited, "exit");
    } finally {
      limited.kill("SIGKILL");
      await rm(folder, { recursive: true });
    }
  });
});
