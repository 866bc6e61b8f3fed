import { Client } from "pg";
import { expect, inject, test } from "vitest";
import { newId } from "../src/lib/ids.ts";
import { checkCodes } from "../src/store/postgres/check-codes.ts";
import { ConnectionPool, type Statement } from "../src/store/postgres/pool.ts";
import { NOON } from "./support/acceptances.ts";
import { migratedDatabase } from "./support/databases.ts";

const TRIES = 10;
/** The last column of each key: without it a search is one through all that an account has. */
const LAST_OF_KEY: Record<string, string> = { verifications: "(id =", verify_numbers: "(number =" };

interface PlanNode {
  "Relation Name"?: string;
  "Index Cond"?: string;
  Plans?: PlanNode[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** The statements of a store under a name are planned while its tables are empty, and run when they are not. */
test("tries at codes are planned by whole keys on empty tables", async () => {
  const database = await migratedDatabase(inject("postgresUrl"));
  const pool = new ConnectionPool(database.url, 1);
  const client = new Client(database.url);
  await client.connect();
  const asked: Statement[] = [];
  pool.query = (statement) => {
    asked.push(statement);
    return Promise.resolve({ rows: [], count: 0 });
  };
  const batch = Array.from({ length: TRIES }, () => ({
    accountId: 1,
    mode: "live" as const,
    id: newId(NOON),
    digest: "any",
    at: NOON,
  }));
  await checkCodes(pool, batch);
  await client.query("set enable_seqscan = off; set plan_cache_mode = force_generic_plan");
  const found: PlanNode[] = [];
  for (const [place, { text, values = [] }] of asked.entries()) {
    await client.query(`prepare asked_${place} as ${text}`);
    const given = values.map((column) => `'${String(column)}'`).join(", ");
    const { rows } = await client.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>(
      `explain (format json) execute asked_${place} (${given})`,
    );
    found.push(...(rows[0]?.["QUERY PLAN"] ?? []).flatMap(({ Plan }) => nodesOf(Plan)));
  }
  const searches = found.filter((node) => node["Index Cond"] && LAST_OF_KEY[node["Relation Name"] ?? ""]);
  await Promise.all([client.end(), pool.end()]);
  await database.drop();
  expect(searches.length).toBeGreaterThan(2);
  expect(
    searches.filter((node) => !node["Index Cond"]?.includes(LAST_OF_KEY[node["Relation Name"] ?? ""] ?? "")),
  ).toEqual([]);
});
