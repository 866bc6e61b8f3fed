// Pairs of a one-time password generated and submitted, per second and durable, as a ratio to accepts of POST /v1/sms in
// the same run. Right codes are those of test numbers; wrong ones go to ordinary numbers, which every limit is noted for.
// Run: npm run bench:verify [-- --seconds 3 --rounds 5 --engine sqlite,postgres]
import { parseArgs } from "node:util";
import { freshDatabase } from "../test/support/databases.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { median, say } from "./figures.ts";
import type { Load, Measured } from "./generator.ts";
import { LoadProcess } from "./load-process.ts";
import type { MeasuredPairs, PairLoad } from "./pair-generator.ts";
import { record } from "./record.ts";
import { sendRequest } from "./requests.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "3" },
    rounds: { type: "string", default: "5" },
    engine: { type: "string", default: "sqlite,postgres" },
  },
});
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);
const CONNECTIONS = 64;
const NUMBERS_EACH = 5000;
const FIXED_CODE = "424242";

const portOf = ({ baseUrl }: ServerProcess): number => Number(new URL(baseUrl).port);

const testNumbers = Array.from({ length: CONNECTIONS }, (_, index) => [String(15_550_100_000 + index)]);
const numbers = Array.from({ length: CONNECTIONS }, (_, index) =>
  Array.from({ length: NUMBERS_EACH }, (_each, place) => String(12_000_000_000 + index * 10_000_000 + place * 1999)),
);

const CODE_TEXT = "482913 is your verification code. It is valid for 5 minutes.";

const generator = new LoadProcess<Load, Measured>("generator.ts");
const pairGenerator = new LoadProcess<PairLoad, MeasuredPairs>("pair-generator.ts");

async function accepts(server: ServerProcess, seconds = SECONDS): Promise<number> {
  const request = sendRequest(server.apiKey, "OTP", CODE_TEXT);
  const load: Load = { port: portOf(server), connections: CONNECTIONS, seconds, request };
  return (await generator.measure(load)).perSecond;
}

async function pairs(server: ServerProcess, isRight: boolean, seconds = SECONDS): Promise<number> {
  const load: PairLoad = {
    port: portOf(server),
    key: server.apiKey,
    configId: "bench",
    seconds,
    numbers: isRight ? testNumbers : numbers,
    // The one in a million that is right by chance would be counted as refused, and no code of the others has letters.
    otp: isRight ? FIXED_CODE : "AAAAAA",
    status: isRight ? 200 : 400,
  };
  return (await pairGenerator.measure(load)).perSecond;
}

async function prepare(server: ServerProcess): Promise<void> {
  const ask = async (method: string, path: string, body: object): Promise<void> => {
    const headers = { apikey: server.apiKey, "content-type": "application/json" };
    const response = await fetch(server.baseUrl + path, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(await response.text());
  };
  await ask("PATCH", "/api/account", { sameText: null });
  const fixed = testNumbers.map(([number]) => ({ number, code: FIXED_CODE }));
  await ask("POST", "/api/verify-configs", { name: "bench", testNumbers: fixed });
}

interface Result {
  name: string;
  /** Of the slower kind of pair. */
  ratioToAccept: number;
  rightPairsPerSecond: number;
  wrongPairsPerSecond: number;
  acceptsPerSecond: number;
}

async function compare(name: string, server: ServerProcess): Promise<Result> {
  await prepare(server);
  await accepts(server, 1);
  await pairs(server, true, 1);
  await pairs(server, false, 1);
  const rounds: { accept: number; right: number; wrong: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const accept = await accepts(server);
    const right = await pairs(server, true);
    const wrong = await pairs(server, false);
    rounds.push({ accept, right, wrong });
    say(
      `  ${name} round ${round + 1}: ${(right / accept).toFixed(2)} with right codes, ${(wrong / accept).toFixed(2)} with wrong ones (${accept.toFixed(0)} accepts per s)`,
    );
  }
  return {
    name,
    ratioToAccept: Math.min(
      median(rounds.map(({ accept, right }) => right / accept)),
      median(rounds.map(({ accept, wrong }) => wrong / accept)),
    ),
    rightPairsPerSecond: median(rounds.map(({ right }) => right)),
    wrongPairsPerSecond: median(rounds.map(({ wrong }) => wrong)),
    acceptsPerSecond: median(rounds.map(({ accept }) => accept)),
  };
}

const cluster = options.engine.includes("postgres") ? await startCluster() : null;
const results: Result[] = [];
for (const engine of options.engine.split(",")) {
  for (const roles of ["api", "api,dispatch"]) {
    const database = engine === "postgres" && cluster ? await freshDatabase(cluster.url) : null;
    const server = await startServer({
      env: { HELIOGRAPH_ROLES: roles, HELIOGRAPH_ACCEPT_BACKLOG: "200000" },
      ...(database ? { databaseUrl: database.url } : {}),
    });
    results.push(await compare(`${engine}, ${roles === "api" ? "accepting" : "accepting and sending"}`, server));
    await server.kill("SIGKILL");
    await server.cleanup();
    await database?.drop();
  }
}
generator.end();
pairGenerator.end();
await cluster?.stop();

say("\nratio to accept   right pairs/s   wrong pairs/s   accepts/s");
for (const { name, ratioToAccept, rightPairsPerSecond, wrongPairsPerSecond, acceptsPerSecond } of results) {
  const cells = [
    ratioToAccept.toFixed(2).padStart(15),
    rightPairsPerSecond.toFixed(0).padStart(15),
    wrongPairsPerSecond.toFixed(0).padStart(15),
    acceptsPerSecond.toFixed(0).padStart(11),
  ];
  say(`${cells.join(" ")}   ${name}`);
}
await record("verify", { seconds: SECONDS, rounds: ROUNDS, connections: CONNECTIONS, results });
