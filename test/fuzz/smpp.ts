import { parseArgs } from "node:util";
import { fuzzFrames, type FrameReport } from "./smpp-frames.ts";
import { fuzzSmppServer, type ServerFuzzReport } from "./smpp-server.ts";

/**
 * Long fuzz run of framer and decoder: `node test/fuzz/smpp.ts --frames 100000000 --seed 7`. `--from N --frames 1`
 * replays stream N of a seed. `--server` sends the frames to a listening server over sockets, before and after a bind, on
 * `--connections 40` at a time, for at most `--minutes 60`.
 */

const SAY_EVERY_MS = 5000;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    frames: { type: "string", default: "10000000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_007) },
    from: { type: "string", default: "0" },
    server: { type: "boolean", default: false },
    connections: { type: "string", default: "40" },
    minutes: { type: "string", default: "60" },
  },
});
const seed = Number(values.seed);
const startedAt = performance.now();
let saidAt = startedAt;
say(`seed ${seed}, ${values.frames} frames`);

const summary = ({ frames, streams, pdus, malformed, unframeable, violations }: FrameReport): string =>
  `${frames} frames in ${streams} streams: ${pdus} read, ${malformed} malformed, ${unframeable} streams ended by a wrong length, ${violations.length} violations; ${((performance.now() - startedAt) / 1000).toFixed(0)} s, ${Math.round(process.memoryUsage.rss() / 1_048_576)} MB`;

const serverSummary = ({ frames, connections, memoryMB, violations }: ServerFuzzReport): string =>
  `${frames} frames on ${connections} connections, ${violations.length} violations; ${((performance.now() - startedAt) / 1000).toFixed(0)} s, server with ${Math.round(memoryMB.before)} MB after the warm-up, at most ${Math.round(memoryMB.most)} MB, and ${Math.round(memoryMB.after)} MB at the end`;

/** Prints one line in five seconds. */
function sayNow(line: () => string): void {
  if (performance.now() - saidAt < SAY_EVERY_MS) return;
  saidAt = performance.now();
  say(line());
}

const frames = Number(values.frames);
const report = values.server
  ? await fuzzSmppServer({
      seed,
      frames,
      connections: Number(values.connections),
      withinMs: Number(values.minutes) * 60_000,
      onProgress: (soFar) => sayNow(() => serverSummary(soFar)),
    })
  : fuzzFrames({ seed, frames, from: Number(values.from), onProgress: (soFar) => sayNow(() => summary(soFar)) });
say("memoryMB" in report ? serverSummary(report) : summary(report));
for (const violation of report.violations) say(`VIOLATION ${violation}`);
process.exit(report.violations.length === 0 ? 0 : 1);
