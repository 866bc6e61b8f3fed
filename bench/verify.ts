// Pairs of a one-time password generated and submitted, per second and durable, as a ratio to accepts of POST /v1/sms to
// numbers of the same kind in the same run. Right codes are those of test numbers; wrong ones go to ordinary numbers, which
// every limit is noted for, and to none of them twice.
// Run: npm run bench:verify [-- --seconds 3 --rounds 5 --engine sqlite,postgres]
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freshDatabase } from "../test/support/databases.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { ask, portOf } from "./ask.ts";
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
/** Of each connection in one load: more than it comes to. */
const NUMBERS_EACH = 400 * Math.ceil(SECONDS);
/** What a load has left to be sent and reported is done by then. */
const BETWEEN_LOADS_MS = 500;
const FIXED_CODE = "424242";

const testNumbers = Array.from({ length: CONNECTIONS }, (_, index) => [String(15_550_100_000 + index)]);
let listsMade = 0;

/** Others for every load, and those of one connection far from those of the next. */
function freshNumbers(): string[][] {
  const from = listsMade++ * NUMBERS_EACH;
  return Array.from({ length: CONNECTIONS }, (_, index) =>
    Array.from({ length: NUMBERS_EACH }, (_each, place) =>
      String(12_000_000_000 + index * 10_000_000 + (from + place) * 97),
    ),
  );
}

const CODE_TEXT = "482913 is your verification code. It is valid for 5 minutes.";

const generator = new LoadProcess<Load, Measured>("generator.ts");
const pairGenerator = new LoadProcess<PairLoad, MeasuredPairs>("pair-generator.ts");

async function accepts(server: ServerProcess, numbers: readonly string[][], seconds: number): Promise<number> {
  const inTurn = (numbers[0] ?? []).flatMap((_, place) => numbers.map((each) => each[place] ?? ""));
  const request = inTurn.map((number) => sendRequest(server.apiKey, "OTP", CODE_TEXT, number));
  const load: Load = { port: portOf(server), connections: CONNECTIONS, seconds, request };
  return (await generator.measure(load)).perSecond;
}

async function pairs(
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
    // The one in a million that is right by chance would be counted as refused, and no code of the others has letters.
    otp: isRight ? FIXED_CODE : "AAAAAA",
    status: isRight ? 200 : 400,
  };
  return (await pairGenerator.measure(load)).perSecond;
}

async function prepare(server: ServerProcess): Promise<void> {
  await ask(server, "PATCH", "/api/account", { sameText: null });
  const fixed = testNumbers.map(([number]) => ({ number, code: FIXED_CODE }));
  await ask(server, "POST", "/api/verify-configs", { name: "bench", testNumbers: fixed });
}

interface Turn {
  ratio: number;
  pairs: number;
  accepts: number;
}

/** Accepts, then pairs to numbers of the same kind: what numbers alone cost, both have. */
async function turn(server: ServerProcess, isRight: boolean, seconds = SECONDS): Promise<Turn> {
  const numbers = (): string[][] => (isRight ? testNumbers : freshNumbers());
  await pause(BETWEEN_LOADS_MS);
  const accepted = await accepts(server, numbers(), seconds);
  await pause(BETWEEN_LOADS_MS);
  const paired = await pairs(server, isRight, numbers(), seconds);
  return { ratio: paired / accepted, pairs: paired, accepts: accepted };
}

interface Result {
  name: string;
  /** Of the slower kind of pair. */
  ratioToAccept: number;
  right: Turn;
  wrong: Turn;
}

async function compare(name: string, server: ServerProcess): Promise<Result> {
  await prepare(server);
  await turn(server, true, 1);
  await turn(server, false, 1);
  const rounds: { right: Turn; wrong: Turn }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const right = await turn(server, true);
    const wrong = await turn(server, false);
    rounds.push({ right, wrong });
    say(
      `  ${name} round ${round + 1}: ${right.ratio.toFixed(2)} with right codes, ${wrong.ratio.toFixed(2)} with wrong ones`,
    );
  }
  const right = medians(rounds.map((round) => round.right));
  const wrong = medians(rounds.map((round) => round.wrong));
  return { name, ratioToAccept: Math.min(right.ratio, wrong.ratio), right, wrong };
}

const medians = (turns: readonly Turn[]): Turn => ({
  ratio: median(turns.map(({ ratio }) => ratio)),
  pairs: median(turns.map((each) => each.pairs)),
  accepts: median(turns.map((each) => each.accepts)),
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

say("\nratio to accept     pairs/s   accepts/s");
for (const { name, right, wrong } of results)
  for (const [kind, { ratio, pairs: paired, accepts: accepted }] of Object.entries({ right, wrong }))
    say(
      `${ratio.toFixed(2).padStart(15)} ${paired.toFixed(0).padStart(11)} ${accepted.toFixed(0).padStart(11)}   ${kind} codes, ${name}`,
    );
await record("verify", { seconds: SECONDS, rounds: ROUNDS, connections: CONNECTIONS, results });
