import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freshDatabase } from "../test/support/databases.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { callApi, waitForCarrier, portOf } from "./api-client.ts";
import type { CustomerSample, StartCommand, Stream } from "./customer.ts";
import { sendRequest } from "./requests.ts";

/** Unanswered submits allowed on the SMPP connection. */
export const SMSC_WINDOW = 1000;

/** A child process that counts the messages it received. */
export class Counter {
  readonly child: ChildProcess;

  constructor(file: string) {
    this.child = fork(join(import.meta.dirname, file));
  }

  async received(): Promise<number> {
    this.child.send("count");
    const [{ received }] = (await once(this.child, "message")) as [{ received: number }];
    return received;
  }
}

/** Makes the SMSC the only route and the sink the only webhook. */
export async function configure(server: ServerProcess, smscPort: number, sinkPort: number | null): Promise<void> {
  const { data } = await callApi<{ data: { id: string }[] }>(server, "GET", "/api/routes");
  for (const { id } of data) await callApi(server, "DELETE", `/api/routes/${id}`);
  const receipts = sinkPort === null ? "none" : "all";
  const connection = { host: "127.0.0.1", port: smscPort, systemId: "bench", password: "secret" };
  const smpp = { ...connection, window: SMSC_WINDOW, receipts };
  const { id } = await callApi<{ id: string }>(server, "POST", "/api/carriers", {
    name: "bench",
    adapter: "smpp",
    smpp,
  });
  await callApi(server, "POST", "/api/routes", { name: "bench", channel: "sms", carrier: "bench" });
  await callApi(server, "PATCH", "/api/account", { sameText: null });
  if (sinkPort !== null)
    await callApi(server, "POST", "/api/dlr-configs", { name: "bench", url: `http://127.0.0.1:${sinkPort}/` });
  await waitForCarrier(server, id);
}

/** A server between an SMSC and a customer who sends requests and receives callbacks; each is its own process. */
export interface Testbed {
  server: ServerProcess;
  /** Null on SQLite. */
  databaseUrl: string | null;
  smsc: Counter;
  /** Makes the customer send from now on. Earlier streams must be stopped. */
  begin(streams: readonly Stream[]): Promise<void>;
  sample(): Promise<CustomerSample>;
  stopSending(): void;
  close(): Promise<void>;
}

export async function openTestbed(engine: string, env: Record<string, string> = {}): Promise<Testbed> {
  const smsc = new Counter("counting-smsc.ts");
  const [smscPort] = (await once(smsc.child, "message")) as [number];
  const customer = fork(join(import.meta.dirname, "customer.ts"));
  const [sinkPort] = (await once(customer, "message")) as [number];
  const cluster = engine === "postgres" ? await startCluster() : null;
  const database = cluster && (await freshDatabase(cluster.url));
  const server = await startServer({ env, ...(database && { databaseUrl: database.url }) });
  await configure(server, smscPort, sinkPort);
  return {
    server,
    databaseUrl: database?.url ?? null,
    smsc,
    async begin(streams) {
      customer.send({ port: portOf(server), streams } satisfies StartCommand);
      await once(customer, "message");
    },
    async sample() {
      customer.send("sample");
      const [sample] = (await once(customer, "message")) as [CustomerSample];
      return sample;
    },
    stopSending: () => void customer.send("stop"),
    async close() {
      customer.disconnect();
      smsc.child.disconnect();
      await server.kill("SIGKILL");
      await server.cleanup();
      await database?.drop();
      await cluster?.stop();
    },
  };
}

const CONNECTIONS = 64;
/** JIT compilation takes this long on slow cores. */
const WARM_UP_SECONDS = 10;
const STALLED_MS = 30_000;

/** Messages per second through the whole lifecycle at full speed, from the first request to the last callback. */
export async function measureRate(testbed: Testbed, seconds: number): Promise<number> {
  await fullSpeed(testbed, WARM_UP_SECONDS);
  return fullSpeed(testbed, seconds);
}

async function fullSpeed(testbed: Testbed, seconds: number): Promise<number> {
  const before = await testbed.sample();
  const startedAt = performance.now();
  const request = sendRequest(testbed.server.apiKey, "TRANS");
  await testbed.begin([{ name: "TRANS", connections: CONNECTIONS, request }]);
  await pause(seconds * 1000);
  testbed.stopSending();
  const { calledBack } = await drained(testbed);
  return (calledBack - before.calledBack) / ((performance.now() - startedAt) / 1000);
}

/** Waits until every accepted message has its callback, or no callback arrives for 30 s. */
export async function drained(testbed: Testbed): Promise<CustomerSample> {
  let last = { calledBack: -1, at: performance.now() };
  for (;;) {
    const sample = await testbed.sample();
    const now = performance.now();
    const isPending = sample.outstanding > 0 || sample.streams.some(({ inFlight }) => inFlight > 0);
    if (!isPending || now - last.at > STALLED_MS) return sample;
    if (sample.calledBack > last.calledBack) last = { calledBack: sample.calledBack, at: now };
    await pause(20);
  }
}
