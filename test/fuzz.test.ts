import { inject, describe, expect, test } from "vitest";
import { campaign } from "./fuzz/campaign.ts";
import { openTarget } from "./fuzz/target.ts";
import { freshDatabase } from "./support/databases.ts";

const MEMORY_MAX_MB = 700;

/** A new seed each time; the one that found something is printed and can be played again. */
const seed = Number(process.env["FUZZ_SEED"] ?? Date.now() % 1_000_000_007);

describe(`requests made from seed ${seed}`, () => {
  test("20,000 of them, whatever they hold, are answered as promised and store nothing that was refused", { timeout: 180_000 }, async () => {
    await attack(undefined, { requests: 18_000, rawRequests: 2_000 });
  });

  test("on PostgreSQL too", { timeout: 120_000 }, async () => {
    const database = await freshDatabase(inject("postgresUrl"));
    await attack(database.url, { requests: 4_500, rawRequests: 500 });
    await database.drop();
  });
});

async function attack(databaseUrl: string | undefined, counts: { requests: number; rawRequests: number }): Promise<void> {
  const target = await openTarget(databaseUrl);
  try {
    const report = await campaign(target, { seed, ...counts });
    expect(report.violations, target.output()).toEqual([]);
    expect(report).toMatchObject(counts);
    expect(report.readBack).toBeGreaterThan(counts.requests / 400);
    expect(target.hasDied()).toBe(false);
    expect(target.output()).not.toMatch(/"level":"(error|fatal)"/);
    expect(target.rssMb() ?? 0).toBeLessThan(MEMORY_MAX_MB);
  } finally {
    await target.close();
  }
}
