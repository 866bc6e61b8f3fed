import { afterEach, beforeEach, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { DEFAULT_GUARD } from "../../src/model/pumping.ts";
import { accept } from "../../src/store/postgres/accept.ts";
import { checkCodes } from "../../src/store/postgres/check-codes.ts";
import { ConnectionPool } from "../../src/store/postgres/pool.ts";
import { NOON } from "../support/acceptances.ts";
import { codeAcceptance } from "../support/codes.ts";
import { openPlanner, type Planner } from "../support/plans.ts";

const TRIES = 10;
/** The last column of each key: without it a search is one through all that an account has. */
const LAST_OF_KEY: Record<string, RegExp> = {
  verifications: /\(id =/,
  verify_numbers: /\(number =/,
  verify_prefixes: /\(prefix =/,
  verify_tallies: /\(bucket >=/,
};

let planner: Planner;
beforeEach(async () => {
  planner = await openPlanner();
});
afterEach(() => planner.close());

// The statements of a store under a name are planned while its tables are empty, and run when they are not.

test("code checks are planned by whole keys on empty tables", async () => {
  const batch = Array.from({ length: TRIES }, () => ({
    accountId: 1,
    mode: "live" as const,
    id: newId(NOON),
    digest: "any",
    at: NOON,
  }));
  await checkCodes(planner.pool, batch);
  const { all, partly } = await planner.indexSearches(LAST_OF_KEY);
  expect(all.length).toBeGreaterThan(2);
  expect(partly).toEqual([]);
});

test.each([
  ["free", false],
  ["metered", true],
])("codes that are %s are planned by whole keys on empty tables", async (_, metered) => {
  const limits = { bound: true, guard: DEFAULT_GUARD };
  const batch = Array.from({ length: TRIES }, (_each, index) =>
    codeAcceptance({ to: [String(15_550_900_000 + index)], metered }, limits),
  );
  await accept(planner.pool, batch);
  const { all, partly } = await planner.indexSearches(LAST_OF_KEY);
  expect(new Set(all.map(({ table }) => table))).toEqual(new Set(Object.keys(LAST_OF_KEY)));
  expect(partly).toEqual([]);
});

test("statements on a single code are not planned again each time", async () => {
  const one = new ConnectionPool(planner.url, { connections: 1 });
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
  // PostgreSQL makes five custom plans before it chooses a generic one.
  for (const { custom_plans: plans } of rows) expect(plans).toBe(5);
});
