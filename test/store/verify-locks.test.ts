import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { DEFAULT_GUARD } from "../../src/model/pumping.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import type { Acceptance, Store } from "../../src/store/store.ts";
import type { CodeCheck } from "../../src/store/verifications.ts";
import { NOON } from "../support/acceptances.ts";
import { ANY_NUMBER, codeAcceptance, DIGEST } from "../support/codes.ts";
import { migratedDatabase, type FreshDatabase } from "../support/databases.ts";
import { eventually } from "../support/eventually.ts";

const ROUNDS = 12;
const BATCHES = 6;
const NUMBERS = 12;
const ANY_TRAFFIC = { ...DEFAULT_GUARD, prefixUnused: 100_000, countryPerHour: null, sendsPerDay: null };

/** Overlap between the batches of a round: the same numbers, prefixes with other numbers, or only the same countries. */
const SHARED = ["numbers", "prefixes", "countries"] as const;

function numbersOf(shared: (typeof SHARED)[number] | undefined, batch: number): string[] {
  return Array.from({ length: NUMBERS }, (_, index) => {
    const prefix = 155_507 + (index % 3) + (shared === "countries" ? 3 * batch : 0);
    const rest = index + (shared === "numbers" ? 0 : NUMBERS * batch);
    return `${prefix}${String(rest).padStart(4, "0")}`;
  });
}

const countries = ["US", "CA", "DE"];

describe("batches of codes and of checks on two nodes of one PostgreSQL", () => {
  let database: FreshDatabase;
  let stores: readonly [Store, Store];
  let client: Client;
  beforeEach(async () => {
    database = await migratedDatabase(inject("postgresUrl"));
    stores = [await openPostgresStore(database.url), await openPostgresStore(database.url)];
    client = new Client(database.url);
    await client.connect();
  });
  afterEach(async () => {
    await client.end();
    await database.drop();
  });

  const storeOf = (index: number): Store => stores[index % 2 === 0 ? 0 : 1];

  /** The batch in another order for each index: a store that locks rows in the given order would deadlock. */
  function turned<T>(batch: readonly T[], index: number): T[] {
    const from = (index * 5) % batch.length;
    const all = [...batch.slice(from), ...batch.slice(0, from)];
    return index % 2 === 0 ? all : all.toReversed();
  }

  /** Nothing is wrong with what fails for waiting, and the store does it again: only PostgreSQL has counted it. */
  async function countDeadlocks(): Promise<number> {
    for (const store of stores) await store.close();
    const others = `select count(*)::integer as count from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    await eventually(
      async () => (await client.query<{ count: number }>(others)).rows[0]?.count,
      (count) => count === 0,
    );
    const { rows } = await client.query<{ deadlocks: string }>(
      "select deadlocks from pg_stat_database where datname = current_database()",
    );
    return Number(rows[0]?.deadlocks);
  }

  test("batches never deadlock, and every send is counted", async () => {
    await client.query("insert into balances (account_id, balance, held) values (1, 1000000, 0)");
    let stored = 0;
    let tries: CodeCheck[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const at = NOON + round;
      const batches = Array.from({ length: BATCHES }, (_, index) =>
        turned(numbersOf(SHARED[round % 3], index), index).map((to): Acceptance => {
          const changes = { to: [to], createdAt: at, metered: (round + (index >> 1)) % 3 === 0 };
          const country = countries[Number(to) % countries.length] ?? "";
          return codeAcceptance(changes, { bound: true, guard: ANY_TRAFFIC, caps: ANY_NUMBER, country });
        }),
      );
      const [accepted, checked] = await Promise.all([
        Promise.all(batches.map((batch, index) => storeOf(index).accept(batch))),
        Promise.all([0, 1, 2].map((index) => storeOf(index).checkCodes(turned(tries, index)))),
      ]);
      for (const result of accepted.flat()) expect(result).toMatchObject({ kind: "stored" });
      for (const result of checked.flat()) expect(result).not.toBeInstanceOf(Error);
      stored += accepted.flat().length;
      // In rounds with shared numbers, all codes of a number but one have ended. Some codes are checked twice.
      tries = batches.flat().map(({ message }, place) => {
        const digest = place % 2 === 0 ? DIGEST : "wrong";
        return { accountId: 1, mode: "live", id: message.requestId, digest, at: at + 1 };
      });
      if (round % 2 === 0) tries = [...tries, ...tries.slice(0, 3)];
    }
    const last = await stores[0].checkCodes(tries);
    const { sends, verified } = await stores[0].countConversion(1, NOON);
    expect(sends).toBe(stored);
    expect(verified).toBeGreaterThanOrEqual(
      last.filter((result) => "kind" in result && result.kind === "verified").length,
    );
    expect(verified).toBeGreaterThan(0);
    expect(await countDeadlocks()).toBe(0);
  });
});
