import { afterEach, describe, expect, test, vi } from "vitest";
import { audit } from "./day/audit.ts";
import { furnish, live } from "./day/live.ts";
import { openMovedHouse } from "./support/moved-house.ts";
import type { EngineName } from "./support/engines.ts";
import { seededRandom, seedOf } from "./torture/random.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** On the night to 29 March the clocks of Europe change. */
const EVENING = Date.UTC(2026, 2, 28, 18);

/** A new seed each time; the one that found something is printed and can be played again. */
const seed = seedOf(process.env["DAY_SEED"]);

afterEach(() => {
  vi.restoreAllMocks();
});

async function spend(engine: EngineName, day: { blocks: number; blockMs: number; requestsMax: number }) {
  const random = seededRandom(seed);
  vi.spyOn(Math, "random").mockImplementation(seededRandom(seed + 1).next);
  const house = await openMovedHouse(engine, { now: EVENING });
  try {
    await furnish(house);
    const diary = await live(house, { random, ...day });
    // What was held in the evening or is still valid comes to its end on the day after.
    await house.travel(30 * HOUR_MS);
    return { accepted: diary.asked.size, diary, broken: await audit(house, diary) };
  } finally {
    await house.close();
  }
}

describe(`a day from seed ${seed}`, () => {
  test("of thousands of messages ends with every promise kept", { timeout: 120_000 }, async () => {
    const { accepted, broken } = await spend("sqlite", { blocks: 96, blockMs: 15 * MINUTE_MS, requestsMax: 36 });
    expect(broken).toEqual([]);
    expect(accepted).toBeGreaterThan(2000);
  });

  test("of hundreds does so on PostgreSQL", { timeout: 120_000 }, async () => {
    const { accepted, broken } = await spend("postgres", { blocks: 48, blockMs: 30 * MINUTE_MS, requestsMax: 10 });
    expect(broken).toEqual([]);
    expect(accepted).toBeGreaterThan(200);
  });
});
