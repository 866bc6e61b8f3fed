import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startCluster, type Cluster } from "../support/postgres-cluster.ts";
import { repetitions, testSeed } from "../support/repetitions.ts";
import type { ServerProcess } from "../support/server-process.ts";
import { openLosingProxy, type LosingProxy } from "../torture/losing-proxy.ts";
import { createSmallDisk, type SmallDisk } from "../torture/small-disk.ts";
import { openTrial, type Trial } from "../torture/trial.ts";

const RATE = 200;
const SILENT_MS = 2000;
/** A node on a busy machine is overloaded for a while once its store is back. Requests then wait instead of failing. */
const PATIENT = { HELIOGRAPH_ACCEPT_WAIT_MS: "5000" };

let trial: Trial | null = null;
afterEach(async () => {
  await trial?.close();
  trial = null;
});

function seed(what: string): number {
  const chosen = testSeed(process.env["TORTURE_SEED"]);
  process.stdout.write(`${what}, TORTURE_SEED=${chosen}\n`);
  return chosen;
}

describe("SQLite on a disk that is full", { timeout: 600_000 }, () => {
  let disk: SmallDisk;
  beforeAll(async () => {
    disk = await createSmallDisk();
  });
  afterAll(() => disk.remove());

  it("sends get 503, reads work, and the node recovers by itself; no accepted message is lost", async () => {
    trial = await openTrial({ postgresUrl: null, seed: seed("full disk"), dataDir: join(disk.path, "data") });
    const server = await trial.start(PATIENT);
    const before = await post(server);
    const client = trial.send([server], RATE);
    for (let times = 0; times < repetitions(1, 3); times += 1) {
      const accepted = await trial.countAccepted();
      await eventually(trial.countAccepted, (count) => count > accepted + 50);
      disk.fill(server.pid);
      await isAway(server, before.body.data[0]?.messageId ?? "");
      // For longer than the silence after which the node no longer takes itself for alive.
      await sleep(SILENT_MS + 500);
      disk.free(server.pid);
      await isBack(server);
    }
    await client.stop();
    const { violations: broken, ...findings } = await trial.verify();
    process.stdout.write(`${JSON.stringify(findings)}\n`);
    expect(broken).toEqual([]);
    expect({ duplicates: findings.duplicates, heldInDoubt: findings.heldInDoubt }).toEqual({
      duplicates: 0,
      heldInDoubt: 0,
    });
    expect(await server.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  });
});

describe("PostgreSQL", { timeout: 600_000 }, () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.stop());

  it("that is stopped makes sends answer 503, and is used again once it runs; nothing accepted is lost", async () => {
    trial = await openTrial({ postgresUrl: cluster.url, seed: seed("PostgreSQL away") });
    const server = await trial.start(PATIENT);
    const client = trial.send([server], RATE);
    await eventually(trial.countAccepted, (count) => count > 100);
    await stopPostgres(cluster);
    await isAway(server, null);
    await sleep(SILENT_MS + 500);
    await cluster.restart();
    await isBack(server);
    await client.stop();
    const { violations: broken, ...findings } = await trial.verify();
    process.stdout.write(`${JSON.stringify(findings)}\n`);
    expect(broken).toEqual([]);
    expect({ duplicates: findings.duplicates, heldInDoubt: findings.heldInDoubt }).toEqual({
      duplicates: 0,
      heldInDoubt: 0,
    });
  });

  it("that crashes again and again under load loses nothing, and every lost answer is resolved by its key", async () => {
    trial = await openTrial({ postgresUrl: cluster.url, seed: seed("PostgreSQL crashes") });
    const server = await trial.start(PATIENT);
    const client = trial.send([server], RATE * 2);
    for (let times = 0; times < repetitions(2, 5); times += 1) {
      const accepted = await trial.countAccepted();
      await eventually(trial.countAccepted, (count) => count > accepted + 100);
      await cluster.restart("immediate");
      await isBack(server);
    }
    await client.stop();
    const { violations: broken, ...findings } = await trial.verify();
    process.stdout.write(`${JSON.stringify(findings)}\n`);
    expect(broken).toEqual([]);
    expect({ duplicates: findings.duplicates, heldInDoubt: findings.heldInDoubt }).toEqual({
      duplicates: 0,
      heldInDoubt: 0,
    });
  });

  describe("whose answers are lost after the commit", () => {
    let proxy: LosingProxy;
    let server: ServerProcess;

    /** Starts a server that speaks with its database through a line that can lose answers. */
    async function startBehindProxy(): Promise<Trial> {
      trial = await openTrial({ postgresUrl: cluster.url, seed: seed("lost answers") });
      proxy = await openLosingProxy(trial.databaseUrl ?? "");
      server = await trial.start({ HELIOGRAPH_DATABASE_URL: proxy.url });
      return trial;
    }
    afterEach(() => proxy.close());

    it("a send has an unknown outcome, its replay reports the stored message, and it is delivered", async () => {
      await startBehindProxy();
      const lost = proxy.lose({ to: "accept keyed\0", matching: /SELECT 1/ });
      const unclear = await post(server, { key: "once" });
      await lost;
      expect(unclear.status).toBe(503);
      const replay = await post(server, { key: "once" });
      expect(replay).toMatchObject({ status: 200, replayed: true });
      await eventually(
        () => stateOf(server, replay.body.data[0]?.messageId ?? ""),
        (state) => state === "delivered",
      );
    });

    it("does not keep a start from succeeding", async () => {
      const { databaseUrl, start } = (trial = await openTrial({ postgresUrl: cluster.url, seed: seed("first claim") }));
      proxy = await openLosingProxy(databaseUrl ?? "");
      const lost = proxy.lose({ to: "order by due_at limit", matching: /(SELECT|UPDATE) 0/ });
      server = await start({ HELIOGRAPH_DATABASE_URL: proxy.url });
      await lost;
      expect((await post(server)).status).toBe(200);
    });

    it("leaves no claimed message behind", async () => {
      await startBehindProxy();
      // Throttled at first, such a message waits in the store and is claimed for its second try.
      const lost = proxy.lose({ to: "skip locked", matching: /UPDATE [1-9]/ });
      const { body } = await post(server, { to: "441234569008" });
      await lost;
      const end = await eventually(
        () => stateOf(server, body.data[0]?.messageId ?? ""),
        (state) => state === "delivered",
      );
      expect(end).toBe("delivered");
    });

    it("loses and repeats nothing under load, whichever write it is", async () => {
      const { send: sendFrom, countAccepted, verify: prove } = await startBehindProxy();
      const client = sendFrom([server], RATE);
      for (const to of [
        "accept campaigns keyed\0",
        "take campaigns\0",
        "transition\0",
        "receive on phones\0",
        "mark reported\0",
        "update nodes set beat_at",
      ]) {
        for (let times = 0; times < repetitions(1, 3); times += 1) {
          await proxy.lose({ to, matching: /(SELECT|INSERT|UPDATE|DELETE)/ });
          const accepted = await countAccepted();
          await eventually(countAccepted, (count) => count > accepted + 10);
        }
      }
      await client.stop();
      const { violations: broken, ...findings } = await prove();
      process.stdout.write(`${JSON.stringify(findings)}\n`);
      expect(broken).toEqual([]);
      expect({ duplicates: findings.duplicates, heldInDoubt: findings.heldInDoubt }).toEqual({
        duplicates: 0,
        heldInDoubt: 0,
      });
    });
  });
});

/** Ends PostgreSQL as a crash does; `cluster.restart()` brings it back. */
async function stopPostgres(cluster: Cluster): Promise<void> {
  const [pid] = (await readFile(join(cluster.dataDir, "postmaster.pid"), "utf8")).split("\n");
  process.kill(Number(pid), "SIGQUIT");
}

interface Sent {
  status: number;
  retryAfter: string | null;
  replayed: boolean;
  body: { id: string | null; data: { messageId: string }[]; totalCount: number; message: string; error: unknown };
}

async function post(
  server: ServerProcess,
  { key, to = "15550100100" }: { key?: string; to?: string } = {},
): Promise<Sent> {
  const answer = await fetch(`${server.baseUrl}/v1/sms`, {
    method: "POST",
    headers: {
      apikey: server.apiKey,
      "content-type": "application/json",
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    body: JSON.stringify({ sender: "HELIOG", to, text: "Hello", type: "TRANS" }),
  });
  return {
    status: answer.status,
    retryAfter: answer.headers.get("retry-after"),
    replayed: answer.headers.get("idempotent-replayed") === "true",
    body: (await answer.json()) as Sent["body"],
  };
}

async function statusOf(server: ServerProcess, path: string): Promise<number> {
  const answer = await fetch(server.baseUrl + path, { headers: { apikey: server.apiKey } });
  await answer.arrayBuffer();
  return answer.status;
}

async function stateOf(server: ServerProcess, messageId: string): Promise<string> {
  const answer = await fetch(`${server.baseUrl}/v1/messages/${messageId}`, { headers: { apikey: server.apiKey } });
  return ((await answer.json()) as { state: string }).state;
}

/** Sends are refused as documented, and the process lives; `readable` is a message that can still be read. */
async function isAway(server: ServerProcess, readable: string | null): Promise<void> {
  const refused = await eventually(
    () => post(server),
    ({ status }) => status !== 200,
  );
  expect(refused).toMatchObject({
    status: 503,
    retryAfter: expect.stringMatching(/^[1-9]\d*$/) as string,
    body: {
      id: null,
      data: [],
      totalCount: 0,
      error: { code: expect.stringMatching(/^STORAGE_(UNAVAILABLE|FULL)$/) as string, type: "server" },
    },
  });
  expect(await statusOf(server, "/healthz")).toBe(200);
  // At the brink a small write may still find room where a larger one did not.
  const ready = await eventually(
    () => statusOf(server, "/readyz"),
    (status) => status !== 200,
  );
  expect(ready).toBe(503);
  if (readable === null) return;
  expect(await statusOf(server, `/v1/messages/${readable}`)).toBe(200);
  expect(await statusOf(server, "/v1/messages")).toBe(200);
  expect(await statusOf(server, "/api/simulator/phones/15550100100/messages")).toBe(200);
}

async function isBack(server: ServerProcess): Promise<void> {
  await eventually(
    () => statusOf(server, "/readyz"),
    (status) => status === 200,
  );
  // The disk guard looks every few seconds.
  const sent = await eventually(
    () => post(server),
    ({ status }) => status === 200,
  );
  expect(sent.body).toMatchObject({ error: null });
}
