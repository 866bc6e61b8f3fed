// Single messages per second from the API to the SMSC with two nodes on one PostgreSQL, as a ratio to one node in the
// same run with as many clients. Every accepted message must reach the SMSC exactly once; otherwise the run fails.
// Run: npm run bench:nodes [-- --seconds 3 --rounds 4 --processes 2]
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freshDatabase } from "../test/support/databases.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { waitForCarrier, portOf } from "./api-client.ts";
import { useSmsc } from "./bulk.ts";
import { median, print } from "./report.ts";
import type { Load, Measured } from "./generator.ts";
import { LoadProcess } from "./load-process.ts";
import { record } from "./record.ts";
import { sendRequest } from "./requests.ts";
import { Counter } from "./testbed.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "3" },
    rounds: { type: "string", default: "4" },
    processes: { type: "string", default: "2" },
  },
});
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);
const PROCESSES = Number(options.processes);
const CONNECTIONS = 256;
const WARM_UP_ROUNDS = 3;
/**
 * Two per node, two for the database, two for load generator and SMSC. With fewer, two nodes share the cores of one.
 */
const ENOUGH_CORES = 8;
const LOST_AFTER_MS = 30_000;
/** A message that was claimed twice would be sent twice within this time. */
const DUPLICATE_WINDOW_MS = 500;

/** The same generators for one node and for two, so that the load is equal. */
const generators = [
  new LoadProcess<Load, Measured>("generator.ts"),
  new LoadProcess<Load, Measured>("generator.ts"),
] as const;
const smsc = new Counter("counting-smsc.ts");
const [smscPort] = (await once(smsc.child, "message")) as [number];
const cluster = await startCluster();

/** Messages per second, from the first request until the SMSC has the last message. */
async function measureRound(nodes: readonly ServerProcess[]): Promise<number> {
  const before = await smsc.received();
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
  while ((await smsc.received()) - before < accepted) {
    if (performance.now() - startedAt > SECONDS * 1000 + LOST_AFTER_MS) break;
    await pause(10);
  }
  const rate = accepted / ((performance.now() - startedAt) / 1000);
  await pause(DUPLICATE_WINDOW_MS);
  const received = (await smsc.received()) - before;
  if (received !== accepted) throw new Error(`${accepted} messages were accepted, but the SMSC received ${received}`);
  return rate;
}

async function medianRate(nodes: readonly ServerProcess[]): Promise<number> {
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) await measureRound(nodes);
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rates.push(await measureRound(nodes));
  return median(rates);
}

interface Rates {
  ratio: number;
  onePerSecond: number;
  twoPerSecond: number;
}

async function measureProcesses(number: number): Promise<Rates> {
  const database = await freshDatabase(cluster.url);
  const env = {
    HELIOGRAPH_MASTER_KEY: "the master key of both nodes",
    HELIOGRAPH_API_KEY: `hg_live_${String(number).padStart(24, "0")}`,
  };
  const one = await startServer({ env, databaseUrl: database.url });
  const carrierId = await useSmsc(one, smscPort, "none");
  await waitForCarrier(one, carrierId);
  const onePerSecond = await medianRate([one]);
  const two = await startServer({ env, databaseUrl: database.url });
  // Carrier connections are divided among the nodes: a new node gets its share after the others see its heartbeat.
  await waitForCarrier(two, carrierId);
  const twoPerSecond = await medianRate([one, two]);
  for (const node of [one, two]) {
    await node.kill("SIGKILL");
    await node.cleanup();
  }
  await database.drop();
  const ratio = twoPerSecond / onePerSecond;
  print(
    `  process ${number}: ${ratio.toFixed(2)} (${twoPerSecond.toFixed(0)} by two and ${onePerSecond.toFixed(0)} by one per s)`,
  );
  return { ratio, onePerSecond, twoPerSecond };
}

const perProcess: Rates[] = [];
for (let number = 1; number <= PROCESSES; number += 1) perProcess.push(await measureProcesses(number));
for (const generator of generators) generator.end();
smsc.child.disconnect();
await cluster.stop();

const cores = availableParallelism();
const result = {
  cores: cores >= ENOUGH_CORES ? "enough" : "too few",
  ratio: median(perProcess.map(({ ratio }) => ratio)),
  onePerSecond: median(perProcess.map(({ onePerSecond }) => onePerSecond)),
  twoPerSecond: median(perProcess.map(({ twoPerSecond }) => twoPerSecond)),
};
print("\nratio to one node   two nodes/s   one node/s");
print(
  `${result.ratio.toFixed(2).padStart(17)} ${result.twoPerSecond.toFixed(0).padStart(13)} ${result.onePerSecond.toFixed(0).padStart(12)}   on ${cores} cores`,
);
if (cores < ENOUGH_CORES)
  print(
    `With fewer than ${ENOUGH_CORES} cores the two nodes share the cores of one, so the ratio does not show the gain of a second machine.`,
  );
await record("nodes", { seconds: SECONDS, rounds: ROUNDS, lives: PROCESSES, results: [result] });
