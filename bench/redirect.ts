// Redirects of short links per second, as a ratio to accepts of POST /v1/sms on the same server in the same run.
// Run: npm run bench:redirect [-- --links 10000000 --seconds 3 --rounds 5 --engine sqlite,postgres]
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freshDatabase } from "../test/support/databases.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { portOf } from "./api-client.ts";
import { median, print } from "./report.ts";
import { codeOf, fillPostgres, fillSqlite } from "./fill-links.ts";
import type { Load, Measured } from "./generator.ts";
import { LoadProcess } from "./load-process.ts";
import { record } from "./record.ts";
import { sendRequest } from "./requests.ts";

const { values: options } = parseArgs({
  options: {
    links: { type: "string", default: "1000000" },
    seconds: { type: "string", default: "3" },
    rounds: { type: "string", default: "5" },
    engine: { type: "string", default: "sqlite,postgres" },
  },
});
const LINKS = Number(options.links);
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);
const CONNECTIONS = 64;
/** Enough that a round hardly ever requests the same link twice. */
const CODES_PER_ROUND = 100_000;
const PHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";

const redirectRequests = (): string[] =>
  Array.from({ length: CODES_PER_ROUND }, () => {
    const code = codeOf(Math.floor(Math.random() * LINKS), LINKS);
    return `GET /s/${code} HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: ${PHONE}\r\n\r\n`;
  });

const generator = new LoadProcess<Load, Measured>("generator.ts");

async function readMetric(server: ServerProcess, pattern: RegExp): Promise<number> {
  const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
  return Number(pattern.exec(metrics)?.[1] ?? 0);
}

interface Result {
  name: string;
  ratioToAccept: number;
  ratios: number[];
  redirectsPerSecond: number;
  acceptsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  clicksDropped: number;
  memoryMiB: number;
}

async function compare(name: string, server: ServerProcess): Promise<Result> {
  const common = { port: portOf(server), connections: CONNECTIONS };
  const accept = (seconds: number): Promise<Measured> =>
    generator.measure({ ...common, seconds, request: sendRequest(server.apiKey, "TRANS") });
  const redirect = (seconds: number): Promise<Measured> =>
    generator.measure({ ...common, seconds, request: redirectRequests(), success: 3 });
  await accept(1);
  await redirect(1);
  const rounds: { redirects: Measured; accepts: Measured }[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const accepts = await accept(SECONDS);
    const redirects = await redirect(SECONDS);
    rounds.push({ redirects, accepts });
    print(
      `  ${name} round ${round}: ${(redirects.perSecond / accepts.perSecond).toFixed(2)} of the accepts (${redirects.perSecond.toFixed(0)} and ${accepts.perSecond.toFixed(0)} per s)`,
    );
  }
  const ratios = rounds.map(({ redirects, accepts }) => redirects.perSecond / accepts.perSecond);
  return {
    name,
    ratioToAccept: median(ratios),
    ratios,
    redirectsPerSecond: median(rounds.map(({ redirects }) => redirects.perSecond)),
    acceptsPerSecond: median(rounds.map(({ accepts }) => accepts.perSecond)),
    p50Ms: median(rounds.map(({ redirects }) => redirects.p50Ms)),
    p99Ms: median(rounds.map(({ redirects }) => redirects.p99Ms)),
    clicksDropped: await readMetric(server, /^heliograph_link_clicks_total{agent="person",effect="dropped"} (\S+)/m),
    memoryMiB: (await readMetric(server, /^process_resident_memory_bytes (\S+)/m)) / 1_048_576,
  };
}

/** A store with the links, and a server with the role api only. */
async function onSqlite(): Promise<Result> {
  const dataDir = await mkdtemp(join(tmpdir(), "heliograph-redirect-"));
  const path = join(dataDir, "heliograph.db");
  fillSqlite(path, LINKS);
  print(`  sqlite: ${LINKS} links in ${((await stat(path)).size / 1_048_576).toFixed(0)} MiB`);
  const server = await startServer({ dataDir, env: { HELIOGRAPH_ROLES: "api" } });
  try {
    return await compare("sqlite", server);
  } finally {
    await server.cleanup();
    await rm(dataDir, { recursive: true });
  }
}

async function onPostgres(): Promise<Result> {
  const cluster = await startCluster();
  const database = await freshDatabase(cluster.url);
  await fillPostgres(database.url, LINKS);
  print(`  postgres: ${LINKS} links`);
  const server = await startServer({ databaseUrl: database.url, env: { HELIOGRAPH_ROLES: "api" } });
  try {
    return await compare("postgres", server);
  } finally {
    await server.cleanup();
    await cluster.stop();
  }
}

const results: Result[] = [];
for (const engine of options.engine.split(",")) results.push(await (engine === "postgres" ? onPostgres() : onSqlite()));
generator.end();

print("\nratio to accept   redirects/s   accepts/s   p50 ms   p99 ms   clicks dropped   memory MiB");
for (const result of results) {
  const cells = [
    result.ratioToAccept.toFixed(2).padStart(15),
    result.redirectsPerSecond.toFixed(0).padStart(13),
    result.acceptsPerSecond.toFixed(0).padStart(11),
    result.p50Ms.toFixed(2).padStart(8),
    result.p99Ms.toFixed(2).padStart(8),
    String(result.clicksDropped).padStart(16),
    result.memoryMiB.toFixed(0).padStart(12),
  ];
  print(`${cells.join(" ")}   ${result.name}`);
}
await record("redirect", { links: LINKS, seconds: SECONDS, rounds: ROUNDS, connections: CONNECTIONS, results });
