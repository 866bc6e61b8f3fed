import { setTimeout as pause } from "node:timers/promises";
import { readFileSync } from "node:fs";
import { bind } from "../../src/smpp/client.ts";
import { submitSm } from "../../src/smpp/pdu.ts";
import { freePort } from "../support/free-port.ts";
import { startServer, type ServerProcess } from "../support/server-process.ts";
import { Random } from "./random.ts";
import { playPeer, type Login } from "./smpp-connections.ts";

export interface ServerFuzzPlan {
  seed: number;
  /** Minimum number of frames that are sent. */
  frames: number;
  /** Connections at the same time. */
  connections: number;
  /** The run ends after this time, however many frames it has sent. */
  withinMs?: number;
  onProgress?(report: ServerFuzzReport): void;
}

export interface ServerFuzzReport {
  connections: number;
  /** Frames that the server has read. */
  frames: number;
  /** Resident memory of the server after a warm-up, at most during the run, and at the end. */
  memoryMB: { before: number; most: number; after: number };
  violations: string[];
}

const WARM_UP_SHARE = 0.2;
const LOOK_EVERY_MS = 500;
const MB = 1_048_576;

/** Sends hostile frames to a listening server over sockets, before and after a bind. Afterwards it must still accept a message. */
export async function fuzzSmppServer(plan: ServerFuzzPlan): Promise<ServerFuzzReport> {
  const { seed, frames, connections, withinMs = Infinity, onProgress } = plan;
  const port = await freePort();
  const server = await startServer({ env: { HELIOGRAPH_SMPP_PORT: String(port), HELIOGRAPH_LOG_LEVEL: "silent" } });
  const memoryMB = { before: 0, most: 0, after: 0 };
  const report: ServerFuzzReport = { connections: 0, frames: 0, memoryMB, violations: [] };
  const look = (): void => {
    const now = residentMB(server);
    if (memoryMB.before === 0 && report.frames > frames * WARM_UP_SHARE) memoryMB.before = now;
    memoryMB.most = Math.max(memoryMB.most, now);
    onProgress?.(report);
  };
  const looks = setInterval(look, LOOK_EVERY_MS);
  try {
    const login = { port, ...(await createLogin(server)) };
    const until = performance.now() + withinMs;
    let isOver = false;
    void server.exited.then(() => (isOver = true));
    const work = async (): Promise<void> => {
      while (report.frames < frames && !isOver && performance.now() < until) {
        const index = report.connections;
        report.connections += 1;
        // Added after the wait: "+= await" would lose what others have added meanwhile.
        const read = await playPeer(Random.of(seed, index), login);
        report.frames += read;
      }
    };
    await Promise.all(Array.from({ length: connections }, work));
    clearInterval(looks);
    if (isOver) report.violations.push(`the server ended: ${server.output().slice(-2000)}`);
    else report.violations.push(...(await checkAlive(login)));
    memoryMB.after = isOver ? 0 : await settledMB(server, memoryMB.before);
    return report;
  } finally {
    clearInterval(looks);
    await server.cleanup();
  }
}

async function createLogin({ baseUrl, apiKey }: ServerProcess): Promise<Omit<Login, "port">> {
  const response = await fetch(`${baseUrl}/api/credentials`, {
    method: "POST",
    headers: { apikey: apiKey, "content-type": "application/json" },
    body: JSON.stringify({ kind: "smpp", name: "fuzz", maxBinds: 100 }),
  });
  const { username, password } = (await response.json()) as { username: string; password: string };
  return { systemId: username, password };
}

/** An ordinary client binds, and its message is accepted. */
async function checkAlive({ port, systemId, password }: Login): Promise<string[]> {
  const attempt = () => bind({ host: "127.0.0.1", port, systemId, password, onRequest: () => null });
  // On a busy machine, the server still reads the frames of closed connections.
  let result = await attempt();
  for (let tries = 1; result.kind !== "bound" && tries < BIND_TRIES; tries += 1) {
    await pause(LOOK_AGAIN_MS);
    result = await attempt();
  }
  if (result.kind !== "bound") return [`no bind afterwards: ${JSON.stringify(result)}`];
  const source = { ton: 5, npi: 0, address: "FUZZ" };
  const destination = { ton: 1, npi: 1, address: "15550100100" };
  const outcome = await result.session.request(submitSm({ source, destination, shortMessage: Buffer.from("alive") }));
  result.session.destroy();
  return outcome.kind === "answer" && outcome.pdu.status === 0
    ? []
    : [`no message afterwards: ${JSON.stringify(outcome)}`];
}

const BIND_TRIES = 30;
const SETTLED_WITHIN_MS = 60_000;
const LOOK_AGAIN_MS = 1000;
const SETTLED_MB = 128;

/** The memory once the server has collected its garbage, which its job does when the load is over. */
async function settledMB(server: ServerProcess, before: number): Promise<number> {
  const deadline = performance.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const now = residentMB(server);
    if (now - before < SETTLED_MB || performance.now() > deadline) return now;
    await pause(LOOK_AGAIN_MS);
  }
}

/** Only Linux tells the memory of another process in a file. */
export function residentMB({ pid }: Pick<ServerProcess, "pid">): number {
  if (process.platform !== "linux") return 0;
  const pages = Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]);
  return (pages * 4096) / MB;
}
