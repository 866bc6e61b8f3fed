import { parseArgs } from "node:util";
import { fuzzFrames, type FrameReport } from "./smpp-frames.ts";

/**
 * The long run over framer and decoder: `node test/fuzz/smpp.ts --frames 100000000 --seed 7`. `--from N --frames 1`
 * plays the stream N of a seed again.
 */

const SAY_EVERY_MS = 5000;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    frames: { type: "string", default: "10000000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_007) },
    from: { type: "string", default: "0" },
  },
});
const seed = Number(values.seed);
const startedAt = performance.now();
let saidAt = startedAt;
say(`seed ${seed}, ${values.frames} frames`);

const summary = ({ frames, streams, pdus, malformed, unframeable, violations }: FrameReport): string =>
  `${frames} frames in ${streams} streams: ${pdus} read, ${malformed} malformed, ${unframeable} streams ended by a wrong length, ${violations.length} violations; ${((performance.now() - startedAt) / 1000).toFixed(0)} s, ${Math.round(process.memoryUsage.rss() / 1_048_576)} MB`;

const report = fuzzFrames({
  seed,
  frames: Number(values.frames),
  from: Number(values.from),
  onProgress(soFar) {
    if (performance.now() - saidAt < SAY_EVERY_MS) return;
    saidAt = performance.now();
    say(summary(soFar));
  },
});
say(summary(report));
for (const violation of report.violations) say(`VIOLATION ${violation}`);
process.exit(report.violations.length === 0 ? 0 : 1);
