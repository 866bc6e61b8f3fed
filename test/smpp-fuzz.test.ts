import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { fuzzFrames } from "./fuzz/smpp-frames.ts";
import { fuzzSessions } from "./fuzz/smpp-sessions.ts";

/** The same every time, so that a failure is the change's own; `npm run fuzz:smpp` goes looking with new ones. */
const seed = Number(process.env["FUZZ_SEED"] ?? 747_850_741);
const FRAMES = 1_000_000;
const GROWTH_MAX_MB = 32;

/** What is alive, in octets. */
function memory(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test(
  "a million random, mutated and cut frames are read or refused, and leave nothing behind",
  { timeout: 120_000 },
  () => {
    fuzzFrames({ seed, frames: 10_000 });
    const before = memory();
    const report = fuzzFrames({ seed, frames: FRAMES });
    expect(report.violations).toEqual([]);
    expect(report.frames).toBeGreaterThanOrEqual(FRAMES);
    expect((memory() - before) / 1_048_576).toBeLessThan(GROWTH_MAX_MB);
    // All three were tried: what is read, what is refused, and streams that cannot be read on.
    expect(Math.min(report.pdus, report.malformed)).toBeGreaterThan(FRAMES / 4);
    expect(report.unframeable).toBeGreaterThan(1000);
  },
);

test(
  "a session answers every frame that wants an answer, once and in order, whatever the others hold",
  { timeout: 120_000 },
  async () => {
    expect(await fuzzSessions(seed, 3000)).toEqual([]);
  },
);
