import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freshDatabase } from "../test/support/databases.ts";
import { startCluster } from "../test/support/postgres-cluster.ts";
import { startServer, type ServerProcess } from "../test/support/server-process.ts";
import { ask, lineUp, portOf } from "./ask.ts";
import type { CustomerSample, Orders, Stream } from "./customer.ts";
import { sendRequest } from "./requests.ts";

/** How many submits may be unanswered on the line to the SMSC. */
export const SMSC_WINDOW = 1000;

/** A process that counts what has reached it. */
export class Counter {
  readonly child: ChildProcess;

  constructor(file: string) {
    this.child = fork(join(import.meta.dirname, file));
  }

  async taken(): Promise<number> {
    this.child.send("how many?");
    const [{ taken }] = (await once(this.child, "message")) as [{ taken: number }];
    return taken;
  }
}

/** Makes the SMSC the only way out, and the sink the one who is told. */
export async function configure(server: ServerProcess, smscPort: number, sinkPort: number | null): Promise<void> {
  const { data } = await ask<{ data: { id: string }[] }>(server, "GET", "/api/routes");
  for (const { id } of data) await ask(server, "DELETE", `/api/routes/${id}`);
  const receipts = sinkPort === null ? "none" : "all";
  const line = { host: "127.0.0.1", port: smscPort, systemId: "bench", password: "secret" };
  const smpp = { ...line, window: SMSC_WINDOW, receipts };
  const { id } = await ask<{ id: string }>(server, "POST", "/api/carriers", { name: "bench", adapter: "smpp", smpp });
  await ask(server, "POST", "/api/routes", { name: "bench", channel: "sms", carrier: "bench" });
  await ask(server, "PATCH", "/api/account", { sameText: null });
  if (sinkPort !== null)
    await ask(server, "POST", "/api/dlr-configs", { name: "bench", url: `http://127.0.0.1:${sinkPort}/` });
  await lineUp(server, id);
}

/** A server with an SMSC on one side and a customer, who asks and is told, on the other; each a process of its own. */
export interface Walk {
  server: ServerProcess;
  /** Null on SQLite. */
  databaseUrl: string | null;
  smsc: Counter;
  /** Has the customer ask from now on; whoever asked before has been stopped. */
  begin(streams: readonly Stream[]): Promise<void>;
  sample(): Promise<CustomerSample>;
  stopAsking(): void;
  close(): Promise<void>;
}

export async function openWalk(engine: string, env: Record<string, string> = {}): Promise<Walk> {
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
      customer.send({ port: portOf(server), streams } satisfies Orders);
      await once(customer, "message");
    },
    async sample() {
      customer.send("sample");
      const [sample] = (await once(customer, "message")) as [CustomerSample];
      return sample;
    },
    stopAsking: () => void customer.send("stop"),
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
/** On slow cores it takes as long until everything is compiled. */
const WARM_UP_SECONDS = 10;
const STALLED_MS = 30_000;

/** Messages per second that come the whole way at full speed, from the first request to the last callback. */
export async function measureRate(walk: Walk, seconds: number): Promise<number> {
  await fullSpeed(walk, WARM_UP_SECONDS);
  return fullSpeed(walk, seconds);
}

async function fullSpeed(walk: Walk, seconds: number): Promise<number> {
  const before = await walk.sample();
  const startedAt = performance.now();
  const request = sendRequest(walk.server.apiKey, "TRANS");
  await walk.begin([{ name: "TRANS", connections: CONNECTIONS, request }]);
  await pause(seconds * 1000);
  walk.stopAsking();
  const { calledBack } = await drained(walk);
  return (calledBack - before.calledBack) / ((performance.now() - startedAt) / 1000);
}

/** Waits until all that was accepted is called back, or nothing comes any more. */
export async function drained(walk: Walk): Promise<CustomerSample> {
  let last = { calledBack: -1, at: performance.now() };
  for (;;) {
    const sample = await walk.sample();
    const now = performance.now();
    const isUnderWay = sample.outstanding > 0 || sample.streams.some(({ underWay }) => underWay > 0);
    if (!isUnderWay || now - last.at > STALLED_MS) return sample;
    if (sample.calledBack > last.calledBack) last = { calledBack: sample.calledBack, at: now };
    await pause(20);
  }
}
