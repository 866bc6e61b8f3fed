// Single messages per second from the API to the SMSC by two nodes on one PostgreSQL, as a ratio to one node in the same run,
// with as many clients. Every accepted message has to come to the SMSC once: one more or one less ends the run.
// Run: npm run bench:nodes [-- --seconds 3 --rounds 4 --lives 2]
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freshDatabase } from "../test/support/databases.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { lineUp, portOf } from "./ask.ts";
import { useSmsc } from "./bulk.ts";
import { median, say } from "./figures.ts";
import type { Load, Measured } from "./generator.ts";
import { LoadProcess } from "./load-process.ts";
import { record } from "./record.ts";
import { sendRequest } from "./requests.ts";
import { Counter } from "./walk.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "3" },
    rounds: { type: "string", default: "4" },
    lives: { type: "string", default: "2" },
  },
});
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);
const LIVES = Number(options.lives);
const CONNECTIONS = 256;
const WARM_UP_ROUNDS = 3;
/** Two for each node, two for the database, two for the load and the SMSC: with fewer, two nodes share what one had. */
const ENOUGH_CORES = 8;
const LOST_AFTER_MS = 30_000;
/** A message that was claimed twice would be sent within so long. */
const DOUBLED_WITHIN_MS = 500;

/** The same for one node and for two, so that both are asked alike. */
const generators = [
  new LoadProcess<Load, Measured>("generator.ts"),
  new LoadProcess<Load, Measured>("generator.ts"),
] as const;
const smsc = new Counter("counting-smsc.ts");
const [smscPort] = (await once(smsc.child, "message")) as [number];
const cluster = await startCluster();

/** Messages per second, from the first request until the SMSC has the last of them. */
async function turn(nodes: readonly ServerProcess[]): Promise<number> {
  const before = await smsc.taken();
  const measured = await Promise.all(
    generators.map((generator, index) => {
      const node = nodes[index % nodes.length] as ServerProcess;
      const request = sendRequest(node.apiKey, "TRANS");
      return generator.measure({
        port: portOf(node),
        connections: CONNECTIONS / generators.length,
        seconds: SECONDS,
        request,
      });
    }),
  );
  const startedAt = performance.now() - Math.max(...measured.map(({ elapsedMs }) => elapsedMs));
  const accepted = measured.reduce((sum, { answers }) => sum + answers, 0);
  while ((await smsc.taken()) - before < accepted) {
    if (performance.now() - startedAt > SECONDS * 1000 + LOST_AFTER_MS) break;
    await pause(10);
  }
  const rate = accepted / ((performance.now() - startedAt) / 1000);
  await pause(DOUBLED_WITHIN_MS);
  const taken = (await smsc.taken()) - before;
  if (taken !== accepted) throw new Error(`${accepted} messages were accepted, and ${taken} came to the SMSC`);
  return rate;
}

async function turns(nodes: readonly ServerProcess[]): Promise<number> {
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) await turn(nodes);
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rates.push(await turn(nodes));
  return median(rates);
}

interface Rates {
  ratio: number;
  onePerSecond: number;
  twoPerSecond: number;
}

async function live(life: number): Promise<Rates> {
  const database = await freshDatabase(cluster.url);
  const env = {
    HELIOGRAPH_MASTER_KEY: "the master key of both nodes",
    HELIOGRAPH_API_KEY: `hg_live_${String(life).padStart(24, "0")}`,
  };
  const one = await startServer({ env, databaseUrl: database.url });
  const carrierId = await useSmsc(one, smscPort, "none");
  await lineUp(one, carrierId);
  const onePerSecond = await turns([one]);
  const two = await startServer({ env, databaseUrl: database.url });
  // Lines to the SMSC are divided among the nodes: a new one has its own when the others have heard of it.
  await lineUp(two, carrierId);
  const twoPerSecond = await turns([one, two]);
  for (const node of [one, two]) {
    await node.kill("SIGKILL");
    await node.cleanup();
  }
  await database.drop();
  const ratio = twoPerSecond / onePerSecond;
  say(
    `  life ${life}: ${ratio.toFixed(2)} (${twoPerSecond.toFixed(0)} by two and ${onePerSecond.toFixed(0)} by one per s)`,
  );
  return { ratio, onePerSecond, twoPerSecond };
}

const lives: Rates[] = [];
for (let life = 1; life <= LIVES; life += 1) lives.push(await live(life));
for (const generator of generators) generator.end();
smsc.child.disconnect();
await cluster.stop();

const cores = availableParallelism();
const result = {
  cores: cores >= ENOUGH_CORES ? "enough" : "too few",
  ratio: median(lives.map(({ ratio }) => ratio)),
  onePerSecond: median(lives.map(({ onePerSecond }) => onePerSecond)),
  twoPerSecond: median(lives.map(({ twoPerSecond }) => twoPerSecond)),
};
say("\nratio to one node   two nodes/s   one node/s");
say(
  `${result.ratio.toFixed(2).padStart(17)} ${result.twoPerSecond.toFixed(0).padStart(13)} ${result.onePerSecond.toFixed(0).padStart(12)}   on ${cores} cores`,
);
if (cores < ENOUGH_CORES)
  say(`With fewer than ${ENOUGH_CORES} cores this tells what sharing costs, and not what a second machine brings.`);
await record("nodes", { seconds: SECONDS, rounds: ROUNDS, lives: LIVES, results: [result] });
