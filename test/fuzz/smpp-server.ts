import { setTimeout as pause } from "node:timers/promises";
import { readFileSync } from "node:fs";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { bind } from "../../src/smpp/client.ts";
import { encode } from "../../src/smpp/encode.ts";
import { NO_ADDRESS, submitSm } from "../../src/smpp/pdu.ts";
import { NO_TLVS } from "../../src/smpp/tlv.ts";
import { freePort } from "../support/free-port.ts";
import { startServer, type ServerProcess } from "../support/server-process.ts";
import { Random } from "./random.ts";
import { createStream, cut } from "./smpp-frames.ts";

export interface ServerFuzzPlan {
  seed: number;
  /** Minimum number of frames that are sent. */
  frames: number;
  onProgress?(report: ServerFuzzReport): void;
}

export interface ServerFuzzReport {
  connections: number;
  frames: number;
  /** Resident memory of the server after a warm-up, and at the end. */
  memoryMB: { before: number; after: number };
  violations: string[];
}

interface Login {
  port: number;
  systemId: string;
  password: string;
}

const CONNECTIONS_AT_ONCE = 20;
const FRAMES_PER_CONNECTION_MAX = 400;
const WARM_UP_SHARE = 0.2;
const ANSWER_WITHIN_MS = 60_000;
/** Guesses in the frames lock this address, so that the bound connections use another. Linux has the whole 127.0.0.0/8. */
const UNBOUND_ADDRESS = process.platform === "linux" ? "127.0.0.2" : "127.0.0.1";
const MB = 1_048_576;

/** Sends hostile frames to a listening server over sockets, before and after a bind. Afterwards it must still accept a message. */
export async function fuzzSmppServer({ seed, frames, onProgress }: ServerFuzzPlan): Promise<ServerFuzzReport> {
  const port = await freePort();
  const server = await startServer({ env: { HELIOGRAPH_SMPP_PORT: String(port), HELIOGRAPH_LOG_LEVEL: "silent" } });
  const report: ServerFuzzReport = { connections: 0, frames: 0, memoryMB: { before: 0, after: 0 }, violations: [] };
  try {
    const login = { port, ...(await createLogin(server)) };
    let isOver = false;
    void server.exited.then(() => (isOver = true));
    const work = async (): Promise<void> => {
      while (report.frames < frames && !isOver) {
        const index = report.connections;
        report.connections += 1;
        report.frames += await play(Random.of(seed, index), login, index % 2 === 0);
        if (report.memoryMB.before === 0 && report.frames > frames * WARM_UP_SHARE)
          report.memoryMB.before = residentMB(server);
        onProgress?.(report);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS_AT_ONCE }, work));
    if (isOver) report.violations.push(`the server ended: ${server.output().slice(-2000)}`);
    else report.violations.push(...(await checkAlive(login)));
    report.memoryMB.after = isOver ? 0 : await settledMB(server, report.memoryMB.before);
    return report;
  } finally {
    await server.cleanup();
  }
}

/** One connection that sends a stream of frames in pieces. Returns their number. */
async function play(random: Random, login: Login, isBound: boolean): Promise<number> {
  const { octets, frames } = createStream(random, FRAMES_PER_CONNECTION_MAX);
  const socket = connect({
    port: login.port,
    host: "127.0.0.1",
    localAddress: isBound ? "127.0.0.1" : UNBOUND_ADDRESS,
  });
  // The server may close at any time, which is an answer to a hostile peer.
  socket.on("error", () => {}).resume();
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  if (isBound) socket.write(bindOf(login));
  for (const piece of cut(random, octets)) {
    if (socket.destroyed) break;
    if (!socket.write(piece)) await Promise.race([once(socket, "drain").catch(ignore), closed]);
  }
  await ended(socket, closed);
  return frames;
}

const ignore = (): void => {};

/** Waits for the server to read everything: it closes after the end of the stream. */
async function ended(socket: Socket, closed: Promise<void>): Promise<void> {
  socket.end();
  const timer = setTimeout(() => socket.destroy(), ANSWER_WITHIN_MS);
  await closed;
  clearTimeout(timer);
}

const bindOf = ({ systemId, password }: Login): Buffer =>
  encode(
    {
      command: "bind_transceiver",
      systemId,
      password,
      systemType: "",
      interfaceVersion: 0x34,
      addressRange: NO_ADDRESS,
      tlvs: NO_TLVS,
    },
    1,
  );

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
const SETTLED_MB = 64;

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
