import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startCluster } from "../support/postgres-cluster.ts";
import { runKills, type KillReport } from "./kill-run.ts";
import { seedOf } from "./random.ts";

/**
 * Long kill test, for a night: `node test/torture/torture.ts --engine both --kills 1000 --rate 500 --seed 7`. One kill
 * in ten follows a freeze longer than the heartbeat time-out (`--naps 0.1`). After every hundred kills the store is
 * settled, verified and replaced by a new one. Exit status 1 if an invariant is violated.
 */

const KILLS_PER_ROUND = 100;
const VIOLATIONS_SHOWN = 20;

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
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const seed = seedOf(values.seed);
const engines = values.engine === "both" ? (["sqlite", "postgres"] as const) : [values.engine];
const cluster = engines.includes("postgres") ? await startCluster() : null;
const reports: KillReport[] = [];
print(`seed ${seed}: ${values.kills} kills at ${values.rate} messages/s on ${engines.join(" and ")}`);
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
for (const engine of engines) print(summary(reports.filter((report) => report.engine === engine)));
print(`Full report: ${file}`);
process.exit(reports.some((report) => report.violations.length > 0) ? 1 : 0);

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
      if (kills % 10 === 0) print(`${new Date().toISOString()} ${engine} kill ${done + kills}`);
    },
  });
  print(summary([report]));
  for (const line of report.violations.slice(0, VIOLATIONS_SHOWN)) print(`  VIOLATION ${line}`);
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
    `${sum((r) => r.unknown)} responses lost (${sum((r) => r.resolved)} of them to stored requests), ${sum((r) => r.replayed)} replays,`,
    `${sum((r) => r.duplicates)} duplicates (per kill: median ${at(perKill, 0.5)}, max ${perKill.at(-1) ?? 0}),`,
    `${sum((r) => r.heldInDoubt)} held in doubt, restart p50 ${at(ready, 0.5)} ms, p99 ${at(ready, 0.99)} ms,`,
    `${sum((r) => r.violations.length)} violations, ${Math.round(sum((r) => r.tookMs) / 1000)} s`,
  ].join(" ");
}
