// Submits per second through codec and session over loopback, as a ratio to the npm package `smpp` in the same run.
// Run: node bench/smpp-session.ts [--seconds 1 --rounds 7 --windows 10,100,1000]
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { median, print } from "./report.ts";
import { record } from "./record.ts";
import type { SmppLoad, SmppMeasured } from "./smpp-load.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "1" },
    rounds: { type: "string", default: "7" },
    windows: { type: "string", default: "10,100,1000" },
  },
});
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);
const TARGET_RATIO = 20;

const start = (file: string, side: string): ChildProcess => fork(join(import.meta.dirname, file), [side]);

interface Side {
  measure(window: number): Promise<SmppMeasured>;
  stop(): void;
}

/** Client and server of one side; both are idle while the other side is measured. */
async function open(side: "ours" | "theirs"): Promise<Side> {
  const smsc = start("smpp-smsc.ts", side);
  const esme = start("smpp-load.ts", side);
  const [port] = (await once(smsc, "message")) as [number];
  return {
    async measure(window) {
      esme.send({ port, window, seconds: SECONDS } satisfies SmppLoad);
      const [measured] = (await once(esme, "message")) as [SmppMeasured];
      return measured;
    },
    stop() {
      smsc.disconnect();
      esme.disconnect();
    },
  };
}

interface Result {
  window: number;
  ratioToNpm: number;
  lowestRatio: number;
  submitsPerSecond: number;
  npmPerSecond: number;
  cpuMicros: number;
  npmCpuMicros: number;
}

async function compare(ours: Side, theirs: Side, window: number): Promise<Result> {
  const rounds: { ours: SmppMeasured; theirs: SmppMeasured }[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const measured = { theirs: await theirs.measure(window), ours: await ours.measure(window) };
    // Round 0 is the warm-up.
    if (round > 0) rounds.push(measured);
  }
  const ratios = rounds.map((round) => round.ours.perSecond / round.theirs.perSecond);
  return {
    window,
    ratioToNpm: median(ratios),
    lowestRatio: Math.min(...ratios),
    submitsPerSecond: median(rounds.map((round) => round.ours.perSecond)),
    npmPerSecond: median(rounds.map((round) => round.theirs.perSecond)),
    cpuMicros: median(rounds.map((round) => round.ours.cpuMicros)),
    npmCpuMicros: median(rounds.map((round) => round.theirs.cpuMicros)),
  };
}

const ours = await open("ours");
const theirs = await open("theirs");
const results: Result[] = [];
print("ratio to npm smpp   lowest   submits/s   npm smpp/s   CPU µs each   of npm smpp   window");
for (const window of options.windows.split(",").map(Number)) {
  const result = await compare(ours, theirs, window);
  results.push(result);
  const cells = [
    result.ratioToNpm.toFixed(1).padStart(17),
    result.lowestRatio.toFixed(1).padStart(8),
    result.submitsPerSecond.toFixed(0).padStart(11),
    result.npmPerSecond.toFixed(0).padStart(12),
    result.cpuMicros.toFixed(1).padStart(13),
    result.npmCpuMicros.toFixed(1).padStart(13),
    String(window).padStart(8),
  ];
  print(cells.join(" "));
}
ours.stop();
theirs.stop();
const reached = results.filter(({ ratioToNpm }) => ratioToNpm >= TARGET_RATIO).map(({ window }) => window);
print(`target ratio ${TARGET_RATIO}: reached with windows ${reached.join(", ") || "none"}`);
await record("smpp-session", { seconds: SECONDS, rounds: ROUNDS, loadAverage: loadavg()[0], results });
