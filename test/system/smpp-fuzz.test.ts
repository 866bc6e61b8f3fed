import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { fuzzFrames } from "../fuzz/smpp-frames.ts";
import { fuzzSessions } from "../fuzz/smpp-sessions.ts";
import { fuzzSmppServer } from "../fuzz/smpp-server.ts";
import { repetitions } from "../support/repetitions.ts";

/** The same every time, so that a failure is the change's own; `npm run fuzz:smpp` goes looking with new ones. */
const seed = Number(process.env["FUZZ_SEED"] ?? 747_850_741);
const FRAMES = repetitions(40_000, 1_000_000);
const GROWTH_MAX_MB = 32;
/** Resident memory includes what the garbage collector has not returned yet. */
const SERVER_GROWTH_MAX_MB = 128;

/** Live memory in bytes. */
function memory(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test("random, mutated and truncated frames are decoded or refused without leaks", () => {
  fuzzFrames({ seed, frames: 10_000 });
  const before = memory();
  const report = fuzzFrames({ seed, frames: FRAMES });
  expect(report.violations).toEqual([]);
  expect(report.frames).toBeGreaterThanOrEqual(FRAMES);
  expect((memory() - before) / 1_048_576).toBeLessThan(GROWTH_MAX_MB);
  // All three occurred: valid PDUs, malformed PDUs, and streams that cannot be framed.
  expect(Math.min(report.pdus, report.malformed)).toBeGreaterThan(FRAMES / 4);
  expect(report.unframeable).toBeGreaterThan(FRAMES / 1000);
});

test("a session answers every request once and in order, whatever the other frames contain", async () => {
  expect(await fuzzSessions(seed, repetitions(200, 3000))).toEqual([]);
});

test(
  "a listening server survives hostile frames before and after a bind, with bounded memory",
  { timeout: 600_000 },
  async () => {
    const report = await fuzzSmppServer({ seed, frames: repetitions(30_000, 2_000_000), connections: 20 });
    expect(report.violations).toEqual([]);
    expect(report.memoryMB.after - report.memoryMB.before).toBeLessThan(SERVER_GROWTH_MAX_MB);
  },
);
