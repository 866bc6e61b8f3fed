import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, inject, it } from "vitest";
import { ENGINES, type EngineName } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { repetitions, testSeed } from "../support/repetitions.ts";
import type { ServerProcess } from "../support/server-process.ts";
import { openLosingProxy } from "../torture/losing-proxy.ts";
import { seededRandom } from "../torture/random.ts";
import { openTrial, type Trial } from "../torture/trial.ts";

const STOPS_PER_ENGINE = repetitions(2, 10);
const ACCEPTED_BETWEEN_STOPS = 50;
/** Recipients of a request that takes longer to send than the server to stop. */
const RECIPIENTS = 500;

let trial: Trial | null = null;
afterEach(async () => {
  await trial?.close();
  trial = null;
});

async function openEngine(engine: EngineName, env: Record<string, string> = {}): Promise<Trial> {
  const seed = testSeed(process.env["TORTURE_SEED"]);
  process.stdout.write(`shutdown on ${engine}, TORTURE_SEED=${seed}\n`);
  // A silence that is longer than the test: only rows that were given back can go on at once.
  const silence = { HELIOGRAPH_NODE_SILENT_SECONDS: "120" };
  trial = await openTrial({
    postgresUrl: engine === "postgres" ? inject("postgresUrl") : null,
    seed,
    env: { ...silence, ...env },
  });
  return trial;
}

/**
 * Asks a server to stop, and expects that it stops in order: it leaves the cluster last. A stop that takes too long is
 * broken off, and then the node stays alive in its table.
 */
async function stop(server: ServerProcess): Promise<void> {
  expect(await server.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  const rows = await trial?.storeReader();
  expect(await rows?.select("select count(*) as alive from nodes where dead = 0")).toEqual([{ alive: 0 }]);
}

describe.each(ENGINES)("a server during shutdown (%s)", (engine) => {
  it("under load loses nothing, repeats nothing, and ends in time, again and again", async () => {
    const { start, restart, send, countAccepted, verify: prove } = await openEngine(engine);
    const random = seededRandom(1);
    let server = await start();
    const client = send([server], 400);
    for (let stops = 0; stops < STOPS_PER_ENGINE; stops += 1) {
      const before = await countAccepted();
      await sleep(random.between(300, 1500));
      await eventually(countAccepted, (accepted) => accepted > before + ACCEPTED_BETWEEN_STOPS);
      await stop(server);
      server = await restart(server);
    }
    await client.stop();
    const { violations: broken, duplicates, accepted, heldInDoubt, settledMs } = await prove();
    process.stdout.write(`${engine}: ${accepted} requests accepted, settled after ${settledMs} ms\n`);
    expect(broken).toEqual([]);
    expect({ duplicates, heldInDoubt }).toEqual({ duplicates: 0, heldInDoubt: 0 });
    expect(accepted).toBeGreaterThan(STOPS_PER_ENGINE * ACCEPTED_BETWEEN_STOPS);
  });

  it("unsent messages stay stored, and the next start sends them at once", async () => {
    // With a window of one, a bulk request cannot be sent before the server is told to stop.
    const { start, restart, storeReader: witness } = await openEngine(engine, { HELIOGRAPH_DISPATCH_WINDOW: "1" });
    const server = await start();
    const numbers = Array.from({ length: RECIPIENTS }, (_, index) => `4420${String(index).padStart(4, "0")}1234`);
    await sendTo(server, numbers);
    await stop(server);
    const rows = await witness();
    const owners = await rows.select(
      "select owner, count(*) as count from messages where state = 'accepted' group by owner",
    );
    expect(owners).toEqual([{ owner: 0, count: expect.any(Number) as number }]);

    await restart(server);
    const [left] = await rows.select("select count(*) as left_over from messages where state = 'accepted'");
    expect(left?.["left_over"]).toBeLessThan(RECIPIENTS);
    const waiting = async () => Number((await rows.select(WAITING))[0]?.["waiting"]);
    await eventually(waiting, (count) => count === 0, 120_000);
    const onPhones = await rows.select(
      "select count(*) as all_of_them, count(distinct number) as numbers from phone_messages",
    );
    expect(onPhones).toEqual([{ all_of_them: RECIPIENTS, numbers: RECIPIENTS }]);
  });

  it("is not held up by a stream, a long poll, an idle connection, or one that has not asked yet", async () => {
    const { start } = await openEngine(engine);
    const server = await start();
    const headers = { apikey: server.apiKey };
    const agent = new Agent({ keepAlive: true });
    const stream = openAndHold(server, "/api/simulator/events", agent);
    const poll = openAndHold(server, "/api/simulator/messages/wait?to=441234567890&timeout=60", agent);
    await stream.answered;
    const idle = await fetch(`${server.baseUrl}/v1/messages`, { headers });
    await idle.arrayBuffer();
    const silent = connect(Number(new URL(server.baseUrl).port), "127.0.0.1");
    await once(silent, "connect");
    // The poll has begun when the server has read it, which only its next request on another line can show.
    await (await fetch(`${server.baseUrl}/healthz`)).arrayBuffer();

    await stop(server);
    await stream.ended;
    expect(await poll.ended).toEqual({ status: 200, body: '{"data":null}' });
    agent.destroy();
    silent.destroy();
  });

  it("gives every request that it has begun an answer that is true", async () => {
    const { start, storeReader: witness } = await openEngine(engine);
    const server = await start();
    const sending = Array.from({ length: 200 }, (_, index) =>
      sendTo(server, [`4420${String(index).padStart(4, "0")}1234`]).catch(() => null),
    );
    await sending[0];
    const stopped = stop(server);
    const answers = await Promise.all(sending);
    await stopped;

    const rows = await (await witness()).select("select request_id from messages");
    const stored = new Set(rows.map((row) => row["request_id"]));
    const accepted = answers.filter((answer) => answer?.status === 200).map((answer) => answer?.id);
    expect(accepted.filter((id) => !stored.has(id))).toEqual([]);
    expect(accepted.length).toBeGreaterThan(0);
    const others = answers.filter((answer) => answer !== null && answer.status !== 200);
    expect(others.filter((answer) => answer?.status !== 503)).toEqual([]);
  });
});

describe("a node on PostgreSQL that shuts down during a claim", () => {
  it("claimed rows are released for the other nodes", async () => {
    // Lanes this small make the node fetch again as soon as they have run empty, outside of the job that fetches in turn.
    const {
      start,
      storeReader: witness,
      databaseUrl,
    } = await openEngine("postgres", { HELIOGRAPH_LANE_CAPACITY: "5" });
    const proxy = await openLosingProxy(databaseUrl ?? "");
    try {
      const server = await start({ HELIOGRAPH_DATABASE_URL: proxy.url });
      const rows = await witness();
      const count = async (sql: string): Promise<number> => Number((await rows.select(sql))[0]?.["count"]);
      const numbers = Array.from({ length: 300 }, (_, index) => `4420${String(index).padStart(4, "0")}1234`);
      for (const type of ["PROMO", "TRANS", "OTP"]) await sendTo(server, numbers, type);
      await eventually(
        () => count("select count(*) as count from messages where state not in ('accepted', 'submitting')"),
        (sent) => sent > 20,
      );
      const held = proxy.delay("skip locked");
      await held.reached;
      const stopped = stop(server);
      await Promise.race([
        stopped,
        eventually(
          () => count("select count(*) as count from nodes where dead = 0"),
          (nodes) => nodes === 0,
          2000,
        ).catch(() => null),
      ]);
      held.letGo();
      await stopped;
      expect(await count("select count(*) as count from messages where state = 'accepted'")).toBeGreaterThan(0);
      expect(await count("select count(*) as count from messages where state = 'accepted' and owner <> 0")).toBe(0);
    } finally {
      proxy.close();
    }
  });
});

describe("a server that drains", () => {
  const statusOf = async (server: ServerProcess): Promise<[number, string]> => {
    const answer = await fetch(`${server.baseUrl}/readyz`);
    return [answer.status, ((await answer.json()) as { status: string }).status];
  };
  const draining = (server: ServerProcess) =>
    eventually(
      () => statusOf(server),
      ([status]) => status === 503,
    );

  it("is not ready, serves requests and closes each connection after its response, until a second SIGTERM", async () => {
    const { start, storeReader: witness } = await openEngine("sqlite", { HELIOGRAPH_DRAIN_SECONDS: "600" });
    const server = await start();
    const signalled = server.kill("SIGTERM");
    expect(await draining(server)).toEqual([503, "draining"]);
    const sent = await fetch(`${server.baseUrl}/v1/sms`, {
      method: "POST",
      headers: { apikey: server.apiKey, "content-type": "application/json" },
      body: JSON.stringify({ sender: "HELIOG", to: "441234567890", text: "Hello", type: "TRANS" }),
    });
    expect([sent.status, sent.headers.get("connection")]).toEqual([200, "close"]);
    const { id } = (await sent.json()) as { id: string };
    const listed = await fetch(`${server.baseUrl}/v1/messages`, { headers: { apikey: server.apiKey } });
    expect([listed.status, listed.headers.get("connection")]).toEqual([200, "close"]);
    await listed.arrayBuffer();
    expect((await fetch(`${server.baseUrl}/healthz`)).status).toBe(200);
    await server.kill("SIGTERM");
    expect(await signalled).toEqual({ code: 0, signal: null });
    await expect(fetch(`${server.baseUrl}/healthz`)).rejects.toThrow("fetch failed");
    expect(await (await witness()).select("select request_id from messages")).toEqual([{ request_id: id }]);
  });

  it("stops by itself when the drain time is over", async () => {
    const { start } = await openEngine("sqlite", { HELIOGRAPH_DRAIN_SECONDS: "1" });
    const server = await start();
    expect(await server.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  });

  it("drains by default where others than this machine can reach it", async () => {
    const { start } = await openEngine("sqlite", { HELIOGRAPH_HOST: "0.0.0.0" });
    const server = await start();
    const signalled = server.kill("SIGTERM");
    expect(await draining(server)).toEqual([503, "draining"]);
    await server.kill("SIGTERM");
    expect(await signalled).toEqual({ code: 0, signal: null });
  });

  it("is not meant by SIGHUP, which changes nothing", async () => {
    const { start } = await openEngine("sqlite", { HELIOGRAPH_LOG_LEVEL: "info" });
    const server = await start();
    void server.kill("SIGHUP");
    await eventually(
      async () => server.output(),
      (output) => output.includes("SIGHUP has no effect"),
    );
    expect(await statusOf(server)).toEqual([200, "ready"]);
    await stop(server);
  });
});

describe("a process that ends while a reporting statement runs on SQLite", () => {
  it.each([0, 1])("does not wait for the statement, and exits with %i", async (code) => {
    const folder = await mkdtemp(join(tmpdir(), "heliograph-exit-"));
    const script = join(import.meta.dirname, "../support/ending-process.ts");
    const ending = spawn(process.execPath, [script, folder, String(code)], { stdio: "inherit" });
    try {
      expect(await once(ending, "exit")).toEqual([code, null]);
    } finally {
      ending.kill("SIGKILL");
      await rm(folder, { recursive: true });
    }
  });
});

const WAITING = "select count(*) as waiting from messages where state in ('accepted', 'submitting')";

async function sendTo(
  server: ServerProcess,
  to: readonly string[],
  type = "TRANS",
): Promise<{ status: number; id: string | null }> {
  const answer = await fetch(`${server.baseUrl}/v1/sms`, {
    method: "POST",
    headers: { apikey: server.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ sender: "HELIOG", to, text: "Hello", type }),
  });
  const { id } = (await answer.json()) as { id: string | null };
  return { status: answer.status, id };
}

interface Held {
  answered: Promise<void>;
  ended: Promise<{ status: number; body: string }>;
}

/** Asks and reads to the end on a connection that the client would keep. */
function openAndHold(server: ServerProcess, path: string, agent: Agent): Held {
  const answered = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<{ status: number; body: string }>();
  const sent = request(new URL(path, server.baseUrl), { agent, headers: { apikey: server.apiKey } }, (answer) => {
    answered.resolve();
    let body = "";
    answer.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    answer.on("end", () => ended.resolve({ status: answer.statusCode ?? 0, body }));
    answer.on("error", ended.reject);
  });
  sent.on("error", ended.reject);
  sent.end();
  return { answered: answered.promise, ended: ended.promise };
}
