import { parseArgs } from "node:util";
import { startCluster } from "../support/postgres-cluster.ts";
import { seedOf } from "./random.ts";
import { runSmppStorm } from "./smpp-run.ts";

/**
 * Long storm against the SMPP server: `npm run torture:smpp -- --engine sqlite --cuts 1000 --kills 200 --seed 7`. PostgreSQL runs
 * with two nodes. Exit status 1 if an acknowledged message was lost, or had no receipt.
 */

const CUTS_PER_ROUND = 250;

const { values } = parseArgs({
  options: {
    engine: { type: "string", default: "both" },
    cuts: { type: "string", default: "1000" },
    kills: { type: "string", default: "200" },
    seed: { type: "string" },
  },
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const seed = seedOf(values.seed);
const engines = values.engine === "both" ? (["sqlite", "postgres"] as const) : [values.engine];
const cluster = engines.includes("postgres") ? await startCluster() : null;
const cuts = Number(values.cuts);
const rounds = Math.max(1, Math.ceil(cuts / CUTS_PER_ROUND));
let isBroken = false;
print(`seed ${seed}: ${cuts} cuts and ${values.kills} kills on ${engines.join(" and ")}`);
try {
  for (const engine of engines)
    for (let round = 0; round < rounds; round += 1) {
      const share = (all: number): number =>
        Math.floor((all * (round + 1)) / rounds) - Math.floor((all * round) / rounds);
      const { violations, ...report } = await runSmppStorm({
        postgresUrl: engine === "postgres" ? (cluster?.url ?? null) : null,
        cuts: share(cuts),
        kills: share(Number(values.kills)),
        seed: (seed + round) >>> 0,
        onEvent: (done) => {
          if ((done.cuts + done.kills) % 50 === 0)
            print(`${new Date().toISOString()} ${engine} ${done.cuts} cuts, ${done.kills} kills`);
        },
      });
      print(JSON.stringify(report));
      for (const violation of violations) print(`  VIOLATION ${violation}`);
      isBroken ||= violations.length > 0;
    }
} finally {
  await cluster?.stop();
}
process.exit(isBroken ? 1 : 0);
