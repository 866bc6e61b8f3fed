import { afterEach, describe, expect, test, vi } from "vitest";
import { audit } from "../day/audit.ts";
import { configureDay, simulateDay } from "../day/live.ts";
import { startMovedClockServer } from "../support/moved-clock-server.ts";
import { repetitions, testSeed } from "../support/repetitions.ts";
import type { EngineName } from "../support/engines.ts";
import { seededRandom } from "../torture/random.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** On the night to 29 March the clocks of Europe change. */
const EVENING = Date.UTC(2026, 2, 28, 18);

/** Printed with a failure. */
const seed = testSeed(process.env["DAY_SEED"]);

afterEach(() => {
  vi.restoreAllMocks();
});

async function spend(engine: EngineName, day: { blocks: number; blockMs: number; requestsMax: number }) {
  const random = seededRandom(seed);
  vi.spyOn(Math, "random").mockImplementation(seededRandom(seed + 1).next);
  const server = await startMovedClockServer(engine, { now: EVENING });
  try {
    await configureDay(server);
    const diary = await simulateDay(server, { random, ...day });
    // Messages held in the evening, and those still valid, end on the day after.
    await server.travel(30 * HOUR_MS);
    return { accepted: diary.sent.size, diary, broken: await audit(server, diary) };
  } finally {
    await server.close();
  }
}

describe(`a day from seed ${seed}`, () => {
  test("of many messages ends with every promise kept", { timeout: 900_000 }, async () => {
    const requestsMax = repetitions(9, 72);
    const { accepted, broken } = await spend("sqlite", { blocks: 48, blockMs: 30 * MINUTE_MS, requestsMax });
    expect(broken).toEqual([]);
    expect(accepted).toBeGreaterThan(25 * requestsMax);
  });

  test("of fewer messages does so on PostgreSQL", { timeout: 900_000 }, async () => {
    const requestsMax = repetitions(6, 20);
    const { accepted, broken } = await spend("postgres", { blocks: 24, blockMs: 60 * MINUTE_MS, requestsMax });
    expect(broken).toEqual([]);
    expect(accepted).toBeGreaterThan(10 * requestsMax);
  });
});
