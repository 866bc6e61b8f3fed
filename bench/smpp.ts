// Submits per second through the whole carrier, store included: from the first accepted request of a bulk to the last answer
// of the SMSC, beside the npm package's bare session in the same run. Before it, codec and session alone.
// Run: npm run bench:smpp [-- --rounds 5 --messages 20000 --engine sqlite,postgres]
import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freshDatabase } from "../test/support/databases.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { ask } from "./ask.ts";
import { median, say } from "./figures.ts";
import { record } from "./record.ts";
import type { SmppLoad, SmppMeasured } from "./smpp-load.ts";

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    messages: { type: "string", default: "20000" },
    engine: { type: "string", default: "sqlite,postgres" },
    "whole-only": { type: "boolean", default: false },
  },
});
const ROUNDS = Number(options.rounds);
const MESSAGES = Number(options.messages);
const PER_REQUEST = 1000;
const WINDOW = 1000;

const start = (file: string, side: "ours" | "theirs"): ChildProcess => fork(join(import.meta.dirname, file), [side]);

/** Makes the SMSC the only way out. */
async function configure(server: ServerProcess, port: number): Promise<void> {
  const { data } = await ask<{ data: { id: string }[] }>(server, "GET", "/api/routes");
  for (const { id } of data) await ask(server, "DELETE", `/api/routes/${id}`);
  const smpp = { host: "127.0.0.1", port, systemId: "bench", password: "secret", connections: 2, window: WINDOW };
  await ask(server, "POST", "/api/carriers", { name: "bench", adapter: "smpp", smpp });
  await ask(server, "POST", "/api/routes", { name: "bench", channel: "sms", carrier: "bench" });
  await ask(server, "PATCH", "/api/account", { sameText: null });
}

async function taken(server: ServerProcess): Promise<number> {
  const metrics = await ask<string>(server, "GET", "/metrics");
  return Number(/^heliograph_submit_outcomes_total\{[^}]*taken[^}]*\} (\d+)/m.exec(metrics)?.[1] ?? 0);
}

let sent = 0;
/** One bulk, from its first request to the carrier's last answer. */
async function bulk(server: ServerProcess, messages: number): Promise<number> {
  const before = await taken(server);
  const startedAt = performance.now();
  const requests = Array.from({ length: messages / PER_REQUEST }, () => {
    const to = Array.from({ length: PER_REQUEST }, () => String(15_560_000_000 + (sent += 1)));
    return ask(server, "POST", "/v1/sms", { sender: "HELIOG", text: "Your parcel is on its way.", type: "PROMO", to });
  });
  await Promise.all(requests);
  while ((await taken(server)) < before + messages) await pause(20);
  return messages / ((performance.now() - startedAt) / 1000);
}

interface Result {
  name: string;
  ratioToNpm: number;
  submitsPerSecond: number;
  npmPerSecond: number;
}

async function compare(name: string, server: ServerProcess, npm: () => Promise<number>): Promise<Result> {
  await bulk(server, PER_REQUEST);
  const rounds: { ours: number; theirs: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const theirs = await npm();
    const ours = await bulk(server, MESSAGES);
    rounds.push({ ours, theirs });
    say(
      `  ${name} round ${round + 1}: ${(ours / theirs).toFixed(2)} (${ours.toFixed(0)} and ${theirs.toFixed(0)} per s)`,
    );
  }
  return {
    name,
    ratioToNpm: median(rounds.map(({ ours, theirs }) => ours / theirs)),
    submitsPerSecond: median(rounds.map(({ ours }) => ours)),
    npmPerSecond: median(rounds.map(({ theirs }) => theirs)),
  };
}

if (!options["whole-only"]) {
  const alone = spawn(process.execPath, [join(import.meta.dirname, "smpp-session.ts")], { stdio: "inherit" });
  await once(alone, "close");
}

const smsc = start("smpp-smsc.ts", "ours");
const [port] = (await once(smsc, "message")) as [number];
const theirSmsc = start("smpp-smsc.ts", "theirs");
const theirEsme = start("smpp-load.ts", "theirs");
const [theirPort] = (await once(theirSmsc, "message")) as [number];
const npm = async (): Promise<number> => {
  theirEsme.send({ port: theirPort, window: WINDOW, seconds: 1 } satisfies SmppLoad);
  const [measured] = (await once(theirEsme, "message")) as [SmppMeasured];
  return measured.perSecond;
};

const cluster = options.engine.includes("postgres") ? await startCluster() : null;
const results: Result[] = [];
for (const engine of options.engine.split(",")) {
  const database = engine === "postgres" && cluster ? await freshDatabase(cluster.url) : null;
  const server = await startServer({
    env: {
      HELIOGRAPH_ACCEPT_BACKLOG: "200000",
      HELIOGRAPH_DISPATCH_WINDOW: "4000",
      HELIOGRAPH_LANE_CAPACITY: "100000",
    },
    ...(database ? { databaseUrl: database.url } : {}),
  });
  await configure(server, port);
  results.push(await compare(engine, server, npm));
  await server.kill("SIGKILL");
  await server.cleanup();
  await database?.drop();
}
for (const child of [smsc, theirSmsc, theirEsme]) child.disconnect();
await cluster?.stop();

say("\nratio to npm smpp's bare session   submits/s, durable   npm smpp/s");
for (const { name, ratioToNpm, submitsPerSecond, npmPerSecond } of results)
  say(
    `${ratioToNpm.toFixed(2).padStart(32)} ${submitsPerSecond.toFixed(0).padStart(20)} ${npmPerSecond.toFixed(0).padStart(12)}   ${name}`,
  );
await record("smpp", { rounds: ROUNDS, messages: MESSAGES, window: WINDOW, results });
