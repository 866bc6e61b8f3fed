// Submits per second through the whole pipeline with its store, from the first accepted request of a bulk to the last
// submit ack, compared with the npm package's bare session in the same run. Measures codec and session alone first.
// Run: npm run bench:smpp [-- --processes 3 --rounds 5 --messages 20000 --engine sqlite,postgres]
import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freshDatabase } from "../test/support/databases.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { BULK_SETTINGS, WINDOW, bulk, useSmsc } from "./bulk.ts";
import { median, print } from "./report.ts";
import { record } from "./record.ts";
import type { SmppLoad, SmppMeasured } from "./smpp-load.ts";
import { Counter } from "./testbed.ts";

const { values: options } = parseArgs({
  options: {
    processes: { type: "string", default: "3" },
    rounds: { type: "string", default: "5" },
    messages: { type: "string", default: "20000" },
    engine: { type: "string", default: "sqlite,postgres" },
    "whole-only": { type: "boolean", default: false },
  },
});
const PROCESSES = Number(options.processes);
const ROUNDS = Number(options.rounds);
const MESSAGES = Number(options.messages);
/** A server that sends campaigns has been running for longer than its JIT compilation takes: about 100,000 messages. */
const WARM_UP_ROUNDS = 5;

const start = (file: string): ChildProcess => fork(join(import.meta.dirname, file), ["theirs"]);

interface Result {
  name: string;
  ratioToNpm: number;
  submitsPerSecond: number;
  npmPerSecond: number;
}

interface Round {
  ours: number;
  theirs: number;
}

/** Rounds of one server process; throughput differs between processes. */
async function measureProcess(
  name: string,
  server: ServerProcess,
  smsc: Counter,
  npm: () => Promise<number>,
): Promise<Round[]> {
  const rounds: Round[] = [];
  for (let round = 1; round <= WARM_UP_ROUNDS + ROUNDS; round += 1) {
    const theirs = await npm();
    const ours = await bulk(server, smsc, MESSAGES);
    if (round <= WARM_UP_ROUNDS) continue;
    rounds.push({ ours, theirs });
    print(
      `  ${name} round ${round - WARM_UP_ROUNDS}: ${(ours / theirs).toFixed(2)} (${ours.toFixed(0)} and ${theirs.toFixed(0)} per s)`,
    );
  }
  return rounds;
}

const resultOf = (name: string, rounds: readonly Round[]): Result => ({
  name,
  ratioToNpm: median(rounds.map(({ ours, theirs }) => ours / theirs)),
  submitsPerSecond: median(rounds.map(({ ours }) => ours)),
  npmPerSecond: median(rounds.map(({ theirs }) => theirs)),
});

if (!options["whole-only"]) {
  const alone = spawn(process.execPath, [join(import.meta.dirname, "smpp-session.ts")], { stdio: "inherit" });
  await once(alone, "close");
}

const smsc = new Counter("counting-smsc.ts");
const [port] = (await once(smsc.child, "message")) as [number];
const theirSmsc = start("smpp-smsc.ts");
const theirEsme = start("smpp-load.ts");
const [theirPort] = (await once(theirSmsc, "message")) as [number];
const npm = async (): Promise<number> => {
  theirEsme.send({ port: theirPort, window: WINDOW, seconds: 1 } satisfies SmppLoad);
  const [measured] = (await once(theirEsme, "message")) as [SmppMeasured];
  return measured.perSecond;
};

const cluster = options.engine.includes("postgres") ? await startCluster() : null;
const results: Result[] = [];
for (const engine of options.engine.split(",")) {
  const rounds: Round[] = [];
  for (let number = 1; number <= PROCESSES; number += 1) {
    const database = engine === "postgres" && cluster ? await freshDatabase(cluster.url) : null;
    const server = await startServer({
      env: BULK_SETTINGS,
      ...(database ? { databaseUrl: database.url } : {}),
    });
    await useSmsc(server, port, "none");
    rounds.push(...(await measureProcess(`${engine}, process ${number},`, server, smsc, npm)));
    await server.kill("SIGKILL");
    await server.cleanup();
    await database?.drop();
  }
  results.push(resultOf(engine, rounds));
}
for (const child of [smsc.child, theirSmsc, theirEsme]) child.disconnect();
await cluster?.stop();

print("\nratio to npm smpp's bare session   submits/s, durable   npm smpp/s");
for (const { name, ratioToNpm, submitsPerSecond, npmPerSecond } of results)
  print(
    `${ratioToNpm.toFixed(2).padStart(32)} ${submitsPerSecond.toFixed(0).padStart(20)} ${npmPerSecond.toFixed(0).padStart(12)}   ${name}`,
  );
await record("smpp", { lives: PROCESSES, rounds: ROUNDS, messages: MESSAGES, window: WINDOW, results });
