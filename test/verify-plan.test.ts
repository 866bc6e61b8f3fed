import { Client } from "pg";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { newId } from "../src/lib/ids.ts";
import { DEFAULT_GUARD } from "../src/model/pumping.ts";
import { accept } from "../src/store/postgres/accept.ts";
import { checkCodes } from "../src/store/postgres/check-codes.ts";
import { ConnectionPool, type Statement } from "../src/store/postgres/pool.ts";
import { NOON } from "./support/acceptances.ts";
import { codeAcceptance } from "./support/codes.ts";
import { migratedDatabase, type FreshDatabase } from "./support/databases.ts";

const TRIES = 10;
/** The last column of each key: without it a search is one through all that an account has. */
const LAST_OF_KEY: Record<string, string> = {
  verifications: "(id =",
  verify_numbers: "(number =",
  verify_prefixes: "(prefix =",
  verify_tallies: "(bucket >=",
};

interface PlanNode {
  "Relation Name"?: string;
  "Index Cond"?: string;
  Plans?: PlanNode[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

let database: FreshDatabase;
let pool: ConnectionPool;
let client: Client;
let asked: Statement[];
beforeEach(async () => {
  database = await migratedDatabase(inject("postgresUrl"));
  pool = new ConnectionPool(database.url, 1);
  client = new Client(database.url);
  await client.connect();
  asked = [];
  pool.query = (statement) => {
    asked.push(statement);
    return Promise.resolve({ rows: [], count: 0 });
  };
  pool.transaction = (work) => work(pool.query);
});
afterEach(async () => {
  await Promise.all([client.end(), pool.end()]);
  await database.drop();
});

/** How the rows of each table would be looked for by what was asked. */
async function searchesOf(): Promise<{ table: string; condition: string }[]> {
  await client.query("set enable_seqscan = off; set plan_cache_mode = force_generic_plan");
  const found: PlanNode[] = [];
  for (const [place, { text, values = [] }] of asked.entries()) {
    await client.query(`prepare asked_${place} as ${text}`);
    const given = values.map((column) => client.escapeLiteral(String(column))).join(", ");
    const { rows } = await client.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>(
      `explain (format json) execute asked_${place} (${given})`,
    );
    found.push(...(rows[0]?.["QUERY PLAN"] ?? []).flatMap(({ Plan }) => nodesOf(Plan)));
  }
  return found.flatMap((node) => {
    const { "Relation Name": table = "", "Index Cond": condition = "" } = node;
    return condition !== "" && table in LAST_OF_KEY ? [{ table, condition }] : [];
  });
}

const isPartly = ({ table, condition }: { table: string; condition: string }): boolean =>
  !condition.includes(LAST_OF_KEY[table] ?? "");

// The statements of a store under a name are planned while its tables are empty, and run when they are not.

test("tries at codes are planned by whole keys on empty tables", async () => {
  const batch = Array.from({ length: TRIES }, () => ({
    accountId: 1,
    mode: "live" as const,
    id: newId(NOON),
    digest: "any",
    at: NOON,
  }));
  await checkCodes(pool, batch);
  const searches = await searchesOf();
  expect(searches.length).toBeGreaterThan(2);
  expect(searches.filter(isPartly)).toEqual([]);
});

test.each([
  ["free", false],
  ["metered", true],
])("passwords that are %s are planned by whole keys on empty tables", async (_, metered) => {
  const limits = { bound: true, guard: DEFAULT_GUARD };
  const batch = Array.from({ length: TRIES }, (_each, index) =>
    codeAcceptance({ to: [String(15_550_900_000 + index)], metered }, limits),
  );
  await accept(pool, batch);
  const searches = await searchesOf();
  expect(new Set(searches.map(({ table }) => table))).toEqual(new Set(Object.keys(LAST_OF_KEY)));
  expect(searches.filter(isPartly)).toEqual([]);
});

test("statements about one password at a time are not planned anew for each", async () => {
  const one = new ConnectionPool(database.url, 1);
  for (let place = 0; place < 2 * TRIES; place += 1) {
    const sent = codeAcceptance({ to: [String(15_550_900_000 + place)] }, { bound: true, guard: DEFAULT_GUARD });
    await accept(one, [sent]);
    await checkCodes(one, [{ accountId: 1, mode: "live", id: sent.message.requestId, digest: "any", at: NOON }]);
  }
  const { rows } = await one.query<{ name: string; custom_plans: number }>({
    text: "select name, custom_plans from pg_prepared_statements where name <> ''",
  });
  await one.end();
  expect(rows.map(({ name }) => name).toSorted()).toEqual(["accept codes", "otp check", "otp traffic"]);
  // What the server tries out before it decides.
  for (const { custom_plans: plans } of rows) expect(plans).toBe(5);
});
