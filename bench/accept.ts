// Durable accepts per second of POST /v1/sms, as a ratio to a bare Fastify echo server with the same schemas in the
// same run. The other two channels are compared with SMS.
// Run: npm run bench:accept [-- --seconds 3 --rounds 5 --connections 64 --million --engine sqlite,postgres]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freshDatabase } from "../test/support/databases.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { portOf } from "./api-client.ts";
import { median, print } from "./report.ts";
import type { Load, Measured } from "./generator.ts";
import { LoadProcess } from "./load-process.ts";
import { record } from "./record.ts";
import { postRequest, sendRequest, TEXT } from "./requests.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "3" },
    rounds: { type: "string", default: "5" },
    connections: { type: "string", default: "64" },
    million: { type: "boolean", default: false },
    engine: { type: "string", default: "sqlite,postgres" },
  },
});
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);
const CONNECTIONS = Number(options.connections);
const BULK_CONNECTIONS = 4;
const BULK = 1000;

const numbers = Array.from({ length: BULK }, (_, index) => String(15_550_200_000 + index));
const bulk = JSON.stringify({ sender: "HELIOG", to: numbers, text: TEXT, type: "PROMO" });

/** Templates of about the same length. Every new account has them as samples. */
const OTHER_CHANNELS = {
  chatapp: {
    from: "+15550100199",
    to: "15550100100",
    type: "template",
    templateName: "order_shipped",
    components: { body: { params: ["Ada", "4711"] } },
  },
  rcs: {
    number: "+15550100100",
    botId: "heliograph",
    type: "TRANS",
    templateName: "order-shipped",
    content: [{ params: ["Ada", "4711"] }],
  },
};
type OtherChannel = keyof typeof OTHER_CHANNELS;

/** The same recipients without values of their own, as in the bulk of text messages. */
const OTHER_BULKS: Record<OtherChannel, string> = {
  chatapp: JSON.stringify({ ...OTHER_CHANNELS.chatapp, to: undefined, recipients: numbers.map((to) => ({ to })) }),
  rcs: JSON.stringify({
    ...OTHER_CHANNELS.rcs,
    number: undefined,
    recipients: numbers.map((number) => ({ number: `+${number}` })),
  }),
};

const bulkRequest = (key: string): string => postRequest(key, "/v1/sms", bulk);

const generator = new LoadProcess<Load, Measured>("generator.ts");
const measure = (port: number, request: string, connections = CONNECTIONS, seconds = SECONDS): Promise<Measured> =>
  generator.measure({ port, connections, seconds, request });

/** Measures the generator against a socket that answers with fixed bytes: a lower bound of the load it can produce. */
async function generatorLimit(): Promise<number> {
  const answer = Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
  const server = createServer((socket) =>
    socket.on("data", () => socket.write(answer)).on("error", () => socket.destroy()),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await measure(port, sendRequest("none", "TRANS"), CONNECTIONS, 1);
  const { perSecond } = await measure(port, sendRequest("none", "TRANS"));
  server.close();
  return perSecond;
}

async function startEcho(): Promise<{ port: number; stop(): void }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "echo-server.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { port: Number(line.toString()), stop: () => child.kill() };
}

async function memoryMiB(server: ServerProcess): Promise<number> {
  const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(metrics)?.[1] ?? 0) / 1_048_576;
}

interface Result {
  name: string;
  ratioToEcho: number;
  ratios: number[];
  perSecond: number;
  echoPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Accepts of the other channels, as a ratio to those of SMS. */
  ratioToSms: Record<OtherChannel, number>;
  bulkRecipientsPerSecond: number;
  /** Recipients of bulks on the other channels, as a ratio to those of SMS. */
  bulkChatappToSms: number;
  bulkRcsToSms: number;
  bulkP50Ms: number;
  bulkP99Ms: number;
  memoryMiB: number;
  memoryAfterMillionMiB?: number;
}

/** Disables the duplicate-text filter: the load is one text to one number, so the filter would match every message. */
async function allowSameText(server: ServerProcess): Promise<void> {
  await fetch(`${server.baseUrl}/api/account`, {
    method: "PATCH",
    headers: { apikey: server.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ sameText: null }),
  });
}

const compareChannel = (channel: OtherChannel, server: ServerProcess): Promise<number> =>
  compareRequests(server, {
    sms: sendRequest(server.apiKey, "TRANS"),
    other: postRequest(server.apiKey, `/v1/${channel}`, JSON.stringify(OTHER_CHANNELS[channel])),
    connections: CONNECTIONS,
  });

const compareBulk = (channel: OtherChannel, server: ServerProcess): Promise<number> =>
  compareRequests(server, {
    sms: bulkRequest(server.apiKey),
    other: postRequest(server.apiKey, `/v1/${channel}`, OTHER_BULKS[channel]),
    connections: BULK_CONNECTIONS,
  });

interface Compared {
  sms: string;
  other: string;
  connections: number;
}

/** SMS and the other channel alternate, so that variations of the machine affect both. */
async function compareRequests(server: ServerProcess, { sms, other, connections }: Compared): Promise<number> {
  const port = portOf(server);
  await measure(port, other, connections, 1);
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await measure(port, sms, connections);
    ratios.push((await measure(port, other, connections)).perSecond / before.perSecond);
  }
  return median(ratios);
}

async function compare(name: string, echoPort: number, server: ServerProcess): Promise<Result> {
  const port = portOf(server);
  await allowSameText(server);
  const request = sendRequest(server.apiKey, "TRANS");
  await measure(port, request, CONNECTIONS, 1);
  await measure(echoPort, request, CONNECTIONS, 1);
  const rounds: { ours: Measured; echo: Measured }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const echo = await measure(echoPort, request);
    const ours = await measure(port, request);
    rounds.push({ ours, echo });
    print(
      `  ${name} round ${round + 1}: ${(ours.perSecond / echo.perSecond).toFixed(2)} of the echo (${ours.perSecond.toFixed(0)} and ${echo.perSecond.toFixed(0)} per s)`,
    );
  }
  const bulks: Measured[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    bulks.push(await measure(port, bulkRequest(server.apiKey), BULK_CONNECTIONS));
  const ratios = rounds.map(({ ours, echo }) => ours.perSecond / echo.perSecond);
  const result: Result = {
    name,
    ratioToEcho: median(ratios),
    ratios,
    perSecond: median(rounds.map(({ ours }) => ours.perSecond)),
    echoPerSecond: median(rounds.map(({ echo }) => echo.perSecond)),
    p50Ms: median(rounds.map(({ ours }) => ours.p50Ms)),
    p99Ms: median(rounds.map(({ ours }) => ours.p99Ms)),
    ratioToSms: { chatapp: await compareChannel("chatapp", server), rcs: await compareChannel("rcs", server) },
    bulkRecipientsPerSecond: median(bulks.map((measured) => measured.perSecond * BULK)),
    bulkChatappToSms: await compareBulk("chatapp", server),
    bulkRcsToSms: await compareBulk("rcs", server),
    bulkP50Ms: median(bulks.map((measured) => measured.p50Ms)),
    bulkP99Ms: median(bulks.map((measured) => measured.p99Ms)),
    memoryMiB: await memoryMiB(server),
  };
  if (!options.million) return result;
  for (let sent = 0; sent < 1_000_000;)
    sent += (await measure(port, bulkRequest(server.apiKey), BULK_CONNECTIONS, 5)).answers * BULK;
  return { ...result, memoryAfterMillionMiB: await memoryMiB(server) };
}

const limit = await generatorLimit();
print(`Generator limit: ${limit.toFixed(0)} requests/s against a socket that answers fixed bytes`);
const echo = await startEcho();
const cluster = options.engine.includes("postgres") ? await startCluster() : null;
const results: Result[] = [];
for (const engine of options.engine.split(",")) {
  // The role api only accepts. With all roles the same two cores also send, simulate the carrier and process receipts.
  for (const roles of ["api", "api,dispatch"]) {
    const database = engine === "postgres" && cluster ? await freshDatabase(cluster.url) : null;
    const server = await startServer({
      env: { HELIOGRAPH_ROLES: roles, HELIOGRAPH_ACCEPT_BACKLOG: "200000" },
      ...(database ? { databaseUrl: database.url } : {}),
    });
    results.push(
      await compare(`${engine}, ${roles === "api" ? "accepting" : "accepting and sending"}`, echo.port, server),
    );
    await server.kill("SIGKILL");
    await server.cleanup();
    await database?.drop();
  }
}
echo.stop();
generator.end();
await cluster?.stop();

print(
  "\nratio to echo   accepts/s   p50 ms   p99 ms   chat app/SMS   RCS/SMS   bulk recipients/s   chat app/SMS bulk   RCS/SMS bulk   bulk p50 ms   memory MiB",
);
for (const result of results) {
  const cells = [
    result.ratioToEcho.toFixed(2).padStart(13),
    result.perSecond.toFixed(0).padStart(11),
    result.p50Ms.toFixed(2).padStart(8),
    result.p99Ms.toFixed(2).padStart(8),
    result.ratioToSms.chatapp.toFixed(2).padStart(14),
    result.ratioToSms.rcs.toFixed(2).padStart(9),
    result.bulkRecipientsPerSecond.toFixed(0).padStart(19),
    result.bulkChatappToSms.toFixed(2).padStart(19),
    result.bulkRcsToSms.toFixed(2).padStart(14),
    result.bulkP50Ms.toFixed(1).padStart(13),
    (result.memoryAfterMillionMiB ?? result.memoryMiB).toFixed(0).padStart(12),
  ];
  print(`${cells.join(" ")}   ${result.name}`);
}
await record("accept", {
  generatorLimitPerSecond: limit,
  seconds: SECONDS,
  rounds: ROUNDS,
  connections: CONNECTIONS,
  results,
});
