import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { testSeed } from "../support/repetitions.ts";
import type { ServerProcess } from "../support/server-process.ts";
import { openLosingProxy } from "../torture/losing-proxy.ts";
import { openTrial, type Trial } from "../torture/trial.ts";

const SILENT_MS = 2000;
const RATE = 300;

let trial: Trial;
let one: ServerProcess;
let two: ServerProcess;
/** Instants that may have caused duplicates. */
const losses: number[] = [];

beforeAll(async () => {
  const seed = testSeed(process.env["TORTURE_SEED"]);
  process.stdout.write(`two nodes, TORTURE_SEED=${seed}\n`);
  trial = await openTrial({
    postgresUrl: inject("postgresUrl"),
    seed,
    env: { HELIOGRAPH_NODE_SILENT_SECONDS: String(SILENT_MS / 1000) },
  });
  // At once, on a database with nothing in it: one of them makes the first account, the other finds it.
  [one, two] = await Promise.all([trial.start(), trial.start()]);
});
afterAll(() => trial.close());

describe("two nodes on one database", () => {
  it("start together on an empty database, and both know the first key as soon as they are ready", async () => {
    for (const server of [one, two]) expect(await ask(server, "GET", "/v1/messages")).toMatchObject({ data: [] });
    expect([one, two].filter((server) => server.output().includes("Welcome to Heliograph"))).toHaveLength(1);
  });

  it("share the work", async () => {
    const client = trial.send([one, two], RATE);
    await bothTake(50);
    await client.stop();
    const { violations: broken, duplicates } = await trial.verify();
    expect(broken).toEqual([]);
    expect(duplicates).toBe(0);
  });

  it("a request repeated at both nodes under one key makes one message", async () => {
    const [first, second] = [await sendWithKey(one, "later"), await sendWithKey(two, "later")];
    expect(first).toMatchObject({ status: 200, replayed: false });
    expect(second).toEqual({ ...first, replayed: true });

    const atOnce = Array.from({ length: 20 }, (_, index) => `at once ${index}`);
    for (const key of atOnce) {
      const answers = await Promise.all([one, two, one, two].map((server) => sendWithKey(server, key)));
      // A twin on the same node is told to wait; a twin on another node is made to wait by the database.
      expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
      const accepted = answers.filter(({ status }) => status === 200);
      expect(new Set(accepted.map(({ id }) => id)).size).toBe(1);
      expect(accepted.filter(({ replayed }) => !replayed)).toHaveLength(1);
    }
    const stored = await (
      await trial.storeReader()
    ).select("select count(*) as count from messages where sender = 'TWIN'");
    expect(stored).toEqual([{ count: atOnce.length + 1 }]);
  });

  it("end a key everywhere when it is revoked at one", async () => {
    const made = await ask<{ id: string; key: string }>(one, "POST", "/api/keys", {
      name: "Short life",
      scopes: ["read"],
    });
    // At most one attempt in 300 ms: an address with too many bad keys in a minute gets another error.
    const tryAt = async (server: ServerProcess): Promise<number> => {
      await sleep(300);
      return (await fetch(`${server.baseUrl}/v1/messages`, { headers: { apikey: made.key } })).status;
    };
    await eventually(
      () => tryAt(two),
      (status) => status === 200,
    );

    await ask(one, "DELETE", `/api/keys/${made.id}`);
    expect(await tryAt(one)).toBe(401);
    await eventually(
      () => tryAt(two),
      (status) => status === 401,
    );
  });

  it("send nothing twice when one sleeps for longer than the silence and wakes: it has lost its rows and joins again", async () => {
    const client = trial.send([one, two], RATE);
    await bothTake(50);
    losses.push(Date.now());
    process.kill(one.pid, "SIGSTOP");
    const rows = await trial.storeReader();
    const alive = async (): Promise<number> =>
      Number((await rows.select("select count(*) as alive from nodes where dead = 0"))[0]?.["alive"]);
    await eventually(alive, (count) => count === 1);
    // Time for the other to take what the sleeper held, and to send it.
    await eventually(heldByTheDead, (count) => count === 0);
    process.kill(one.pid, "SIGCONT");

    await eventually(alive, (count) => count === 2);
    await eventually(
      () => metric(one, "heliograph_node_alive"),
      (value) => value === 1,
    );
    const accepted = await metric(one, ACCEPTED);
    await eventually(
      () => metric(one, ACCEPTED),
      (now) => now > accepted + 50,
    );
    await client.stop();

    const { violations: broken, duplicates, heldInDoubt } = await trial.verify(losses);
    process.stdout.write(`sleeper: ${duplicates} duplicates, ${heldInDoubt} held in doubt\n`);
    expect(broken).toEqual([]);
  });

  it("nothing is lost when one is killed under load: the other completes every message", async () => {
    const client = trial.send([one, two], RATE);
    await bothTake(50);
    losses.push(Date.now());
    await one.kill("SIGKILL");
    const accepted = await metric(two, ACCEPTED);
    await eventually(
      () => metric(two, ACCEPTED),
      (now) => now > accepted + 200,
    );
    await client.stop();

    const { violations: broken, ...findings } = await trial.verify(losses);
    process.stdout.write(`kill of one: ${JSON.stringify(findings)}\n`);
    expect(broken).toEqual([]);
  });
});

describe("a node that was about to make the first account", () => {
  it("finds that another has made it, and knows its keys as soon as it is ready", async () => {
    const empty = await openTrial({ postgresUrl: inject("postgresUrl"), seed: testSeed() });
    const proxy = await openLosingProxy(empty.databaseUrl ?? "");
    try {
      const held = proxy.delay('insert into "accounts"');
      const late = empty.start({ HELIOGRAPH_DATABASE_URL: proxy.url });
      await Promise.race([held.reached, late]);
      const early = await empty.start();
      held.letGo();
      expect((await late).output()).not.toContain("Welcome");
      expect(early.output()).toContain("Welcome");
      for (const server of [early, await late])
        expect(await ask(server, "GET", "/v1/messages")).toMatchObject({ data: [] });
    } finally {
      await empty.close();
      proxy.close();
    }
  });
});

const ACCEPTED = "heliograph_messages_accepted_total";

/** The sum over all labels of one of the figures that a node shows. */
async function metric(server: ServerProcess, name: string): Promise<number> {
  const text = await (await fetch(`${server.baseUrl}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

/** Waits until each node has accepted and sent so many more messages. */
async function bothTake(messages: number): Promise<void> {
  for (const server of [one, two]) {
    for (const name of [ACCEPTED, "heliograph_submit_outcomes_total"]) {
      const before = await metric(server, name);
      await eventually(
        () => metric(server, name),
        (count) => count > before + messages,
      );
    }
  }
}

async function heldByTheDead(): Promise<number> {
  const [row] = await (
    await trial.storeReader()
  ).select(
    `select count(*) as held from messages join nodes on owner = nodes.id
     where dead = 1 and state in ('accepted', 'submitting')`,
  );
  return Number(row?.["held"]);
}

async function sendWithKey(
  server: ServerProcess,
  key: string,
): Promise<{ status: number; id: string | null; replayed: boolean }> {
  const answer = await fetch(`${server.baseUrl}/v1/sms`, {
    method: "POST",
    headers: { apikey: server.apiKey, "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ sender: "TWIN", to: "15550100100", text: "Hello", type: "TRANS" }),
  });
  const { id } = (await answer.json()) as { id: string | null };
  return { status: answer.status, id, replayed: answer.headers.get("idempotent-replayed") === "true" };
}

async function ask<T>(server: ServerProcess, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(server.baseUrl + path, {
    method,
    headers: { apikey: server.apiKey, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer.ok).toBe(true);
  return (await answer.json()) as T;
}
