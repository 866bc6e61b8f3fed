// Messages that clients submit over SMPP, compared with single messages over HTTP in the same run: to durable acceptance with one
// bind, and the whole way to an SMSC and back to the client as a receipt, or as a callback. The whole way over SMPP is also
// compared with Kannel's opensmppbox, if that program is in PATH.
// Run: npm run bench:smpp-server [-- --seconds 3 --rounds 5 --engine sqlite,postgres]
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freshDatabase } from "../test/support/databases.ts";
import { freePort } from "../test/support/free-port.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { inPath } from "../test/support/programmes.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { callApi, portOf } from "./api-client.ts";
import type { EsmeLoad, EsmeMeasured } from "./esme.ts";
import type { Load, Measured } from "./generator.ts";
import { startKannelSmppServer } from "./kannel-process.ts";
import { LoadProcess } from "./load-process.ts";
import { record } from "./record.ts";
import { median, print } from "./report.ts";
import { sendRequest } from "./requests.ts";
import { configure, Counter, SMSC_WINDOW } from "./testbed.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "3" },
    rounds: { type: "string", default: "5" },
    engine: { type: "string", default: "sqlite,postgres" },
  },
});
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);
/** Window of the bind, and number of HTTP connections. */
const WINDOW = 100;
/** JIT compilation needs about as many rounds on both sides. */
const WARM_UP_ROUNDS = 3;
const STALLED_MS = 30_000;

const generator = new LoadProcess<Load, Measured>("generator.ts");
const esme = new LoadProcess<EsmeLoad, EsmeMeasured>("esme.ts");
const smsc = new Counter("counting-smsc.ts");
const [smscPort] = (await once(smsc.child, "message")) as [number];
const sink = new Counter("sink.ts");
const [{ port: sinkPort }] = (await once(sink.child, "message")) as [AddressInfo];
const cluster = options.engine.includes("postgres") ? await startCluster() : null;

/** An SMPP server to bind to. */
interface SmppLogin {
  port: number;
  systemId: string;
  password: string;
}

interface Side {
  server: ServerProcess;
  smpp: SmppLogin;
  end(): Promise<void>;
}

/** A server whose only route is the SMSC. With callbacks, it reports every receipt to the sink. */
async function start(engine: string, callbacks: boolean): Promise<Side> {
  const database = engine === "postgres" && cluster ? await freshDatabase(cluster.url) : null;
  const smppPort = await freePort();
  const env = { HELIOGRAPH_SMPP_PORT: String(smppPort) };
  const server = await startServer({ env, ...(database && { databaseUrl: database.url }) });
  await configure(server, smscPort, callbacks ? sinkPort : null);
  const { username, password } = await callApi<{ username: string; password: string }>(
    server,
    "POST",
    "/api/credentials",
    { kind: "smpp", name: "bench", window: WINDOW },
  );
  return {
    server,
    smpp: { port: smppPort, systemId: username, password },
    async end() {
      await server.kill("SIGKILL");
      await server.cleanup();
      await database?.drop();
    },
  };
}

/** Waits until the counter has as many more as expected, so that nothing of one measurement is left in the next. */
async function drain(counter: Counter, expected: number): Promise<void> {
  let last = { received: -1, at: performance.now() };
  for (;;) {
    const received = await counter.received();
    if (received >= expected) return;
    if (received > last.received) last = { received, at: performance.now() };
    if (performance.now() - last.at > STALLED_MS) throw new Error(`${received} of ${expected} reached the end`);
    await pause(10);
  }
}

async function overHttp({ server }: Side, end: Counter): Promise<{ accepted: number; whole: number }> {
  const before = await end.received();
  const request = sendRequest(server.apiKey, "TRANS");
  const load = { port: portOf(server), connections: WINDOW, seconds: SECONDS, request };
  const { answers, elapsedMs, perSecond } = await generator.measure(load);
  const startedAt = performance.now() - elapsedMs;
  await drain(end, before + answers);
  return { accepted: perSecond, whole: answers / ((performance.now() - startedAt) / 1000) };
}

async function overSmpp({ port, systemId, password }: SmppLogin, receipts: boolean): Promise<number> {
  const before = await smsc.received();
  const measured = await esme.measure({ port, systemId, password, window: WINDOW, seconds: SECONDS, receipts });
  await drain(smsc, before + measured.answers);
  return measured.perSecond;
}

interface Rates {
  smpp: number;
  http: number;
  kannel?: number;
}

interface Result {
  path: string;
  engine: string;
  /** Medians of the rounds, and of their ratios. */
  ratio: number;
  smpp: number;
  http: number;
  ratios: number[];
  /** Kannel's rate over SMPP, and ours as a ratio to it; null where it is not measured. */
  kannel: { perSecond: number; ratio: number; ratios: number[] } | null;
}

async function compare(path: string, engine: string, measure: () => Promise<Rates>): Promise<Result> {
  const rounds: Rates[] = [];
  for (let round = 1 - WARM_UP_ROUNDS; round <= ROUNDS; round += 1) {
    const rates = await measure();
    if (round < 1) continue;
    rounds.push(rates);
    const { smpp, http, kannel } = rates;
    const toKannel = kannel === undefined ? "" : `; ${(smpp / kannel).toFixed(2)} of Kannel with ${kannel.toFixed(0)}`;
    print(
      `  ${path}, ${engine}, round ${round}: ${(smpp / http).toFixed(2)} (${smpp.toFixed(0)} and ${http.toFixed(0)} per s)${toKannel}`,
    );
  }
  const ratios = rounds.map(({ smpp, http }) => smpp / http);
  const ofKannel = rounds.flatMap(({ kannel }) => kannel ?? []);
  const toKannel = rounds.flatMap(({ smpp, kannel }) => (kannel === undefined ? [] : smpp / kannel));
  return {
    path,
    engine,
    ratio: median(ratios),
    smpp: median(rounds.map(({ smpp }) => smpp)),
    http: median(rounds.map(({ http }) => http)),
    ratios,
    kannel: ofKannel.length === 0 ? null : { perSecond: median(ofKannel), ratio: median(toKannel), ratios: toKannel },
  };
}

const smppBox = inPath("opensmppbox");
const kannel =
  smppBox === undefined ? null : await startKannelSmppServer(smppBox, { smscPort, store: "file", window: SMSC_WINDOW });

const results: Result[] = [];
for (const engine of options.engine.split(",")) {
  const plain = await start(engine, false);
  results.push(
    await compare("Durable acceptance", engine, async () => ({
      http: (await overHttp(plain, smsc)).accepted,
      smpp: await overSmpp(plain.smpp, false),
    })),
  );
  await plain.end();
  const [bySmpp, byHttp] = [await start(engine, true), await start(engine, true)];
  // Its receipts go to the client alone.
  const { data } = await callApi<{ data: { id: string }[] }>(bySmpp.server, "GET", "/api/dlr-configs");
  for (const { id } of data) await callApi(bySmpp.server, "DELETE", `/api/dlr-configs/${id}`);
  results.push(
    await compare("To the SMSC and back", engine, async () => ({
      http: (await overHttp(byHttp, sink)).whole,
      smpp: await overSmpp(bySmpp.smpp, true),
      ...(kannel && { kannel: await overSmpp(kannel, true) }),
    })),
  );
  await bySmpp.end();
  await byHttp.end();
}
generator.end();
esme.end();
smsc.child.disconnect();
sink.child.disconnect();
await cluster?.stop();
await kannel?.stop();

if (!kannel)
  print(
    "Not compared with Kannel's SMPP server: opensmppbox is not in PATH. docs/performance.md tells how to build it.",
  );
print("\nSMPP to HTTP   SMPP/s   HTTP/s");
for (const { path, engine, ratio, smpp, http } of results)
  print(
    `${ratio.toFixed(2).padStart(12)} ${smpp.toFixed(0).padStart(8)} ${http.toFixed(0).padStart(8)}   ${path}, ${engine}`,
  );
for (const { path, engine, smpp, kannel: other } of results)
  if (other)
    print(
      `${other.ratio.toFixed(2)} of Kannel (${smpp.toFixed(0)} and ${other.perSecond.toFixed(0)} per s)   ${path}, ${engine}`,
    );
await record("smpp-server", { rounds: ROUNDS, seconds: SECONDS, window: WINDOW, results });
