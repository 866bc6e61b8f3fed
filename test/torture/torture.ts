import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startCluster } from "../support/postgres-cluster.ts";
import { runKills, type KillReport } from "./kill-run.ts";
import { seedOf } from "./random.ts";

/**
 * The long form of the kill test, for a night: `node test/torture/torture.ts --engine both --kills 1000 --rate 500 --seed 7`.
 * One kill of ten comes after a sleep that is longer than a node may be silent (`--naps 0.1`). Every hundred kills the store is
 * settled, proven and replaced by a fresh one. Ends with 1 when an invariant is broken.
 */

const KILLS_PER_ROUND = 100;
const BROKEN_SHOWN = 20;

const { values } = parseArgs({
  options: {
    engine: { type: "string", default: "both" },
    kills: { type: "string", default: "1000" },
    rate: { type: "string", default: "500" },
    window: { type: "string", default: "50" },
    naps: { type: "string", default: "0.1" },
    seed: { type: "string" },
    report: { type: "string", default: join(tmpdir(), "heliograph-torture") },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const seed = seedOf(values.seed);
const engines = values.engine === "both" ? (["sqlite", "postgres"] as const) : [values.engine];
const cluster = engines.includes("postgres") ? await startCluster() : null;
const reports: KillReport[] = [];
say(`seed ${seed}: ${values.kills} kills at ${values.rate} messages/s on ${engines.join(" and ")}`);
try {
  for (const engine of engines) {
    for (let done = 0; done < Number(values.kills); done += KILLS_PER_ROUND) {
      reports.push(await runRound(engine, done));
    }
  }
} finally {
  await cluster?.stop();
}

await mkdir(values.report, { recursive: true });
const file = join(values.report, `torture-${seed}.json`);
await writeFile(file, JSON.stringify(reports, null, 2));
for (const engine of engines) say(summary(reports.filter((report) => report.engine === engine)));
say(`The whole report is in ${file}`);
process.exit(reports.some((report) => report.broken.length > 0) ? 1 : 0);

async function runRound(engine: string, done: number): Promise<KillReport> {
  const round = Math.floor(done / KILLS_PER_ROUND);
  const report = await runKills({
    postgresUrl: engine === "postgres" ? (cluster?.url ?? null) : null,
    kills: Math.min(KILLS_PER_ROUND, Number(values.kills) - done),
    messagesPerSecond: Number(values.rate),
    window: Number(values.window),
    napShare: Number(values.naps),
    seed: (seed + round) >>> 0,
    onKill: (kills) => {
      if (kills % 10 === 0) say(`${new Date().toISOString()} ${engine} kill ${done + kills}`);
    },
  });
  say(summary([report]));
  for (const line of report.broken.slice(0, BROKEN_SHOWN)) say(`  BROKEN ${line}`);
  return report;
}

function summary(rounds: readonly KillReport[]): string {
  const sum = (read: (report: KillReport) => number): number => rounds.reduce((all, report) => all + read(report), 0);
  const perKill = rounds.flatMap((report) => report.duplicatesPerKill).toSorted((a, b) => a - b);
  const ready = rounds.flatMap((report) => report.readyMs).toSorted((a, b) => a - b);
  const at = (sorted: readonly number[], share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return [
    `${rounds[0]?.engine}: ${sum((r) => r.kills)} kills, ${sum((r) => r.requests)} requests, ${sum((r) => r.messages)} messages,`,
    `${sum((r) => r.unknown)} answers lost (${sum((r) => r.resolved)} of them to stored requests), ${sum((r) => r.replayed)} replays,`,
    `${sum((r) => r.duplicates)} duplicates (per kill: median ${at(perKill, 0.5)}, most ${perKill.at(-1) ?? 0}),`,
    `${sum((r) => r.heldInDoubt)} held in doubt, ready again p50 ${at(ready, 0.5)} ms, p99 ${at(ready, 0.99)} ms,`,
    `${sum((r) => r.broken.length)} invariants broken, ${Math.round(sum((r) => r.tookMs) / 1000)} s`,
  ].join(" ");
}
