import { afterEach, describe, expect, test, vi } from "vitest";
import { audit } from "../day/audit.ts";
import { configureDay, simulateDay } from "../day/live.ts";
import { startMovedClockServer } from "../support/moved-clock-server.ts";
import { repetitions, testSeed } from "../support/repetitions.ts";
import type { EngineName } from "../support/engines.ts";
import { seededRandom } from "../torture/random.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
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
    const blocks = repetitions(16, 48);
    const { accepted, broken } = await spend("sqlite", { blocks, blockMs: DAY_MS / blocks, requestsMax });
    expect(broken).toEqual([]);
    expect(accepted).toBeGreaterThan((blocks / 2) * requestsMax);
  });

  test("of fewer messages does so on PostgreSQL", { timeout: 900_000 }, async () => {
    const requestsMax = repetitions(6, 20);
    const blocks = repetitions(9, 24);
    const { accepted, broken } = await spend("postgres", { blocks, blockMs: DAY_MS / blocks, requestsMax });
    expect(broken).toEqual([]);
    expect(accepted).toBeGreaterThan((blocks / 3) * requestsMax);
  });
});
