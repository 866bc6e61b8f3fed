// OTP pairs (generate and submit) per second, durable, as a ratio to accepts of POST /v1/sms to numbers of the same
// kind in the same run. Correct codes use test numbers. Wrong codes use ordinary numbers, for which all limits are
// recorded, each number once.
// Run: npm run bench:verify [-- --seconds 3 --rounds 5 --engine sqlite,postgres]
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freshDatabase } from "../test/support/databases.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { callApi, portOf } from "./api-client.ts";
import { median, print } from "./report.ts";
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
/** Numbers per connection and load; more than a connection can use. */
const NUMBERS_EACH = 400 * Math.ceil(SECONDS);
/** The sends and receipts of a load are finished within this time. */
const BETWEEN_LOADS_MS = 500;
const FIXED_CODE = "424242";

const testNumbers = Array.from({ length: CONNECTIONS }, (_, index) => [String(15_550_100_000 + index)]);
let listsCreated = 0;

/** New numbers for every load; the ranges of two connections are far apart. */
function freshNumbers(): string[][] {
  const from = listsCreated++ * NUMBERS_EACH;
  return Array.from({ length: CONNECTIONS }, (_, connection) =>
    Array.from({ length: NUMBERS_EACH }, (_each, index) =>
      String(12_000_000_000 + connection * 10_000_000 + (from + index) * 97),
    ),
  );
}

const CODE_TEXT = "482913 is your verification code. It is valid for 5 minutes.";

const generator = new LoadProcess<Load, Measured>("generator.ts");
const pairGenerator = new LoadProcess<PairLoad, MeasuredPairs>("pair-generator.ts");

async function measureAccepts(server: ServerProcess, numbers: readonly string[][], seconds: number): Promise<number> {
  const interleaved = (numbers[0] ?? []).flatMap((_, index) => numbers.map((each) => each[index] ?? ""));
  const request = interleaved.map((number) => sendRequest(server.apiKey, "OTP", CODE_TEXT, number));
  const load: Load = { port: portOf(server), connections: CONNECTIONS, seconds, request };
  return (await generator.measure(load)).perSecond;
}

async function measurePairs(
  server: ServerProcess,
  isRight: boolean,
  numbers: readonly string[][],
  seconds: number,
): Promise<number> {
  const load: PairLoad = {
    port: portOf(server),
    key: server.apiKey,
    configId: "bench",
    seconds,
    numbers,
    // Generated codes have no letters, so this code is never right by chance.
    otp: isRight ? FIXED_CODE : "AAAAAA",
    status: isRight ? 200 : 400,
  };
  return (await pairGenerator.measure(load)).perSecond;
}

async function prepare(server: ServerProcess): Promise<void> {
  await callApi(server, "PATCH", "/api/account", { sameText: null });
  const fixed = testNumbers.map(([number]) => ({ number, code: FIXED_CODE }));
  await callApi(server, "POST", "/api/verify-configs", { name: "bench", testNumbers: fixed });
}

interface Rates {
  ratio: number;
  pairs: number;
  accepts: number;
}

/** Accepts first, then pairs to numbers of the same kind, so that both pay the same cost per number. */
async function measureRound(server: ServerProcess, isRight: boolean, seconds = SECONDS): Promise<Rates> {
  const numbers = (): string[][] => (isRight ? testNumbers : freshNumbers());
  await pause(BETWEEN_LOADS_MS);
  const accepted = await measureAccepts(server, numbers(), seconds);
  await pause(BETWEEN_LOADS_MS);
  const paired = await measurePairs(server, isRight, numbers(), seconds);
  return { ratio: paired / accepted, pairs: paired, accepts: accepted };
}

interface Result {
  name: string;
  /** The lower of both ratios. */
  ratioToAccept: number;
  right: Rates;
  wrong: Rates;
}

async function compare(name: string, server: ServerProcess): Promise<Result> {
  await prepare(server);
  await measureRound(server, true, 1);
  await measureRound(server, false, 1);
  const rounds: { right: Rates; wrong: Rates }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const right = await measureRound(server, true);
    const wrong = await measureRound(server, false);
    rounds.push({ right, wrong });
    print(
      `  ${name} round ${round + 1}: ${right.ratio.toFixed(2)} with right codes, ${wrong.ratio.toFixed(2)} with wrong ones`,
    );
  }
  const right = medians(rounds.map((round) => round.right));
  const wrong = medians(rounds.map((round) => round.wrong));
  return { name, ratioToAccept: Math.min(right.ratio, wrong.ratio), right, wrong };
}

const medians = (rounds: readonly Rates[]): Rates => ({
  ratio: median(rounds.map(({ ratio }) => ratio)),
  pairs: median(rounds.map((each) => each.pairs)),
  accepts: median(rounds.map((each) => each.accepts)),
});

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

print("\nratio to accept     pairs/s   accepts/s");
for (const { name, right, wrong } of results)
  for (const [kind, { ratio, pairs: paired, accepts: accepted }] of Object.entries({ right, wrong }))
    print(
      `${ratio.toFixed(2).padStart(15)} ${paired.toFixed(0).padStart(11)} ${accepted.toFixed(0).padStart(11)}   ${kind} codes, ${name}`,
    );
await record("verify", { seconds: SECONDS, rounds: ROUNDS, connections: CONNECTIONS, results });
