import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { DEFAULT_GUARD } from "../../src/model/pumping.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import type { NewVerification } from "../../src/store/verifications.ts";
import { NOON } from "../support/acceptances.ts";
import { migratedDatabase } from "../support/databases.ts";
import { ENGINES, type EngineName } from "../support/engines.ts";
import { ANY_NUMBER, codeAcceptance, DIGEST } from "../support/codes.ts";
import { repetitions, testSeed } from "../support/repetitions.ts";
import type { ServerProcess } from "../support/server-process.ts";
import { openTrial, type Trial } from "../torture/trial.ts";

const ROUNDS = repetitions(4, 200);
const PARALLEL = 100;

interface Nodes {
  stores: readonly [Store, Store];
  close(): Promise<void>;
}

/** Two nodes on one database, each with connections and writers of its own. */
async function openNodes(engine: EngineName): Promise<Nodes> {
  if (engine === "postgres") {
    const database = await migratedDatabase(inject("postgresUrl"));
    const stores = [await openPostgresStore(database.url), await openPostgresStore(database.url)] as const;
    return {
      stores,
      close: async () => {
        for (const store of stores) await store.close();
        await database.drop();
      },
    };
  }
  const folder = await mkdtemp(join(tmpdir(), "heliograph-race-"));
  const path = join(folder, "store.db");
  const stores = [openSqliteStore(path, systemClock), openSqliteStore(path, systemClock)] as const;
  return {
    stores,
    close: async () => {
      for (const store of stores) await store.close();
      await rm(folder, { recursive: true });
    },
  };
}

describe.each(ENGINES)("tries at one code at the same moment on %s", (engine) => {
  let nodes: Nodes;
  beforeAll(async () => {
    nodes = await openNodes(engine);
  });
  afterAll(() => nodes.close());

  const storeOf = (index: number): Store => nodes.stores[index % 2 === 0 ? 0 : 1];

  /** Every try is a write of its own, on either node: none is put in order by a queue before the store. */
  async function tryAll(id: string, digests: readonly string[]): Promise<string[]> {
    const results = await Promise.all(
      digests.map((digest, index) =>
        storeOf(index).checkCodes([{ accountId: 1, mode: "live", id, digest, at: NOON + 1 }]),
      ),
    );
    return results.map((result) => {
      const [only] = result;
      if (!only || only instanceof Error) throw only ?? new Error("no result");
      return only.kind;
    });
  }

  test(`exactly one of ${PARALLEL} right ones is verified, every time`, { timeout: 600_000 }, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const sent = codeAcceptance({ to: [String(15_550_400_000 + round)] });
      expect(await storeOf(round).accept([sent])).toMatchObject([{ kind: "stored" }]);
      const kinds = await tryAll(
        sent.message.requestId,
        Array.from({ length: PARALLEL }, () => DIGEST),
      );
      expect(kinds.filter((kind) => kind === "verified")).toHaveLength(1);
      expect(kinds.filter((kind) => kind === "ended")).toHaveLength(PARALLEL - 1);
    }
  });

  test("no more of the wrong ones are compared than a code may be tried", async () => {
    const sent = codeAcceptance({ to: ["15550499999"] });
    await nodes.stores[0].accept([sent]);
    const kinds = await tryAll(
      sent.message.requestId,
      Array.from({ length: PARALLEL }, (_, index) => `wrong ${index}`),
    );
    expect(kinds.filter((kind) => kind === "incorrect")).toHaveLength(5);
  });

  test("no more wrong ones are compared for a number than it may have in an hour, over many codes", async () => {
    const number = "15550499998";
    const codes = Array.from({ length: 10 }, (_, index) =>
      codeAcceptance({ to: [number] }, { config: `config ${index}`, bound: true, caps: ANY_NUMBER }),
    );
    for (const code of codes) expect(await nodes.stores[0].accept([code])).toMatchObject([{ kind: "stored" }]);
    const kinds = await Promise.all(
      codes.flatMap(({ message }) =>
        Array.from({ length: 5 }, (_, index) =>
          storeOf(index).checkCodes([
            { accountId: 1, mode: "live", id: message.requestId, digest: `wrong ${index}`, at: NOON + 1 },
          ]),
        ),
      ),
    );
    const compared = kinds.flat().filter((result) => "kind" in result && result.kind === "incorrect");
    expect(compared).toHaveLength(10);
  });

  test("exactly one of the codes requested at the same moment can be verified", async () => {
    const number = "15550499997";
    const codes = Array.from({ length: 20 }, () => codeAcceptance({ to: [number] }));
    await Promise.all(codes.map((code, index) => storeOf(index).accept([code])));
    const kinds = await Promise.all(codes.map(({ message }) => tryAll(message.requestId, [DIGEST])));
    expect(kinds.flat().filter((kind) => kind === "verified")).toHaveLength(1);
  });
});

describe.each(ENGINES)("batches of codes at the same moment on %s", (engine) => {
  const BATCHES = 8;
  let nodes: Nodes;
  beforeAll(async () => {
    nodes = await openNodes(engine);
  });
  afterAll(() => nodes.close());

  /** Every batch is a write of its own, on either node; gives the numbers to which a code was sent. */
  async function sendAll(
    batches: readonly (readonly string[])[],
    verification: Partial<NewVerification>,
  ): Promise<string[]> {
    const results = await Promise.all(
      batches.map((numbers, index) => {
        const codes = numbers.map((number) => codeAcceptance({ to: [number] }, { bound: true, ...verification }));
        return nodes.stores[index % 2 === 0 ? 0 : 1].accept(codes);
      }),
    );
    for (const result of results.flat()) expect(result).not.toBeInstanceOf(Error);
    return batches.flatMap((numbers, index) =>
      numbers.filter((_, place) => {
        const result = results[index]?.[place];
        return result && "kind" in result && result.kind === "stored";
      }),
    );
  }

  test("parallel requests exceed no limit per number, also for a new number", async () => {
    const caps = { cooldownSeconds: 0, sendsPer10Minutes: 3, sendsPerDay: 3 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const numbers = Array.from({ length: 10 }, (_, index) => String(15_550_500_000 + round * 10 + index));
      const batches = Array.from({ length: BATCHES }, (_, index) => (index % 2 === 0 ? numbers : numbers.toReversed()));
      const sent = await sendAll(batches, { caps });
      for (const number of numbers) expect(sent.filter((each) => each === number)).toHaveLength(3);
    }
  });

  test("parallel requests exceed no limit per prefix, also for a new prefix", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const first = 15_560_000_000 + round * 10_000;
      const batches = Array.from({ length: BATCHES }, (_, index) =>
        Array.from({ length: 5 }, (_each, place) => String(first + index * 5 + place)),
      );
      const sent = await sendAll(batches, { guard: { ...DEFAULT_GUARD, prefixUnused: 7 } });
      expect(sent).toHaveLength(7);
    }
  });
});

describe.each(ENGINES)("right codes that are submitted at the same moment to servers on %s", (engine) => {
  const NUMBER = "15550499996";
  const CODE = "271828";
  let trial: Trial;
  let servers: ServerProcess[];
  beforeAll(async () => {
    trial = await openTrial({
      postgresUrl: engine === "postgres" ? inject("postgresUrl") : null,
      seed: testSeed(),
    });
    // SQLite has one process; PostgreSQL is shared, and each of two gets half of the submissions.
    servers = engine === "postgres" ? await Promise.all([trial.start(), trial.start()]) : [await trial.start()];
    const testNumbers = [{ number: NUMBER, code: CODE }];
    await ask(serverOf(0), "/api/verify-configs", { name: "race", testNumbers });
  });
  afterAll(() => trial.close());

  const serverOf = (index: number): ServerProcess => servers[index % servers.length] as ServerProcess;

  async function ask(server: ServerProcess, path: string, body: object): Promise<{ status: number; data: string }> {
    const headers = { apikey: server.apiKey, "content-type": "application/json" };
    const response = await fetch(server.baseUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
    const { data } = (await response.json()) as { data: string };
    return { status: response.status, data };
  }

  test(`exactly one of ${PARALLEL} succeeds, every time`, { timeout: 600_000 }, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { data: verifyId } = await ask(serverOf(0), "/v1/verify", { configId: "race", to: NUMBER });
      const answers = await Promise.all(
        Array.from({ length: PARALLEL }, (_, index) =>
          ask(serverOf(index), "/v1/verify/validate", { verifyId, otp: CODE }),
        ),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(PARALLEL - 1);
    }
  });
});
