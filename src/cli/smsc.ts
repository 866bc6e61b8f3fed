import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { BadSetting, type Config } from "../config.ts";
import { every, systemClock } from "../lib/clock.ts";
import { readBehavior, BEHAVIORS } from "../smsc/read-behavior.ts";
import { Smsc } from "../smsc/smsc.ts";
import type { SmscBehavior } from "../smsc/behavior.ts";
import type { Terminal } from "./terminal.ts";

interface SmscOptions {
  host?: string | undefined;
  port?: string | undefined;
  set?: string[] | undefined;
  "tls-cert"?: string | undefined;
  "tls-key"?: string | undefined;
}

const SMPP_PORT = 2775;
const HELP = [
  "Type while it runs:",
  "  text FROM TO WORDS   a phone sends a text",
  "  set NAME=VALUE       behave otherwise",
  "  hang up              cut every connection",
  "  help                 everything that can be set",
];

/** A simulated SMSC that anybody can bind to, until it is stopped. */
export async function smsc(
  _config: Config,
  _args: readonly string[],
  options: SmscOptions,
  terminal: Terminal,
): Promise<string> {
  const behavior: Partial<SmscBehavior> = Object.assign({}, ...(options.set ?? []).map(behaviorOf));
  const tls = tlsOf(options);
  const simulator = await Smsc.open({
    host: options.host ?? "127.0.0.1",
    port: portOf(options.port),
    behavior,
    clock: systemClock,
    ...(tls && { tls }),
  });
  terminal.say(`An SMSC listens on port ${simulator.port}${tls ? " with TLS" : ""}. Stop with Ctrl-C.`);
  for (const line of HELP) terminal.say(line);
  const watch = watchCounts(simulator, terminal);
  const typing = createInterface({ input: process.stdin });
  typing.on("line", (line) => obey(simulator, terminal, line.trim()));
  await new Promise<void>((resolve) => void process.once("SIGINT", resolve).once("SIGTERM", resolve));
  typing.close();
  await watch.stop();
  await simulator.close();
  const { submits, taken, delivered } = simulator.counts;
  return `\n${submits} submits, ${taken} taken, ${delivered} receipts and texts delivered.`;
}

/** One line a second, while something happens. */
function watchCounts(simulator: Smsc, terminal: Terminal): { stop(): Promise<void> } {
  let last = "";
  return every(systemClock, 1000, async () => {
    const { submits, taken, throttled, refused, delivered, owed } = simulator.counts;
    const line = `${simulator.sessions} bound, ${submits} submits: ${taken} taken, ${throttled} throttled, ${refused} refused; ${delivered} delivered, ${owed} owed`;
    if (line !== last) terminal.say(line);
    last = line;
  });
}

function obey(simulator: Smsc, terminal: Terminal, line: string): void {
  const [, from, to, words] = /^text (\S+) (\S+) (.+)$/.exec(line) ?? [];
  if (from !== undefined && to !== undefined && words !== undefined) return simulator.sendFromPhone(from, to, words);
  if (line === "hang up") return simulator.closeConnections();
  if (line.startsWith("set ")) {
    const behavior = readBehavior(line.slice("set ".length).trim());
    return typeof behavior === "string" ? terminal.say(behavior) : simulator.setBehavior(behavior);
  }
  if (line === "") return;
  for (const each of HELP) terminal.say(each);
  for (const [name, { meaning }] of Object.entries(BEHAVIORS)) terminal.say(`    ${name.padEnd(18)} ${meaning}`);
}

function behaviorOf(written: string): Partial<SmscBehavior> {
  const behavior = readBehavior(written);
  if (typeof behavior === "string") throw new BadSetting(`--set: ${behavior}`);
  return behavior;
}

function portOf(written: string | undefined): number {
  const port = written === undefined ? SMPP_PORT : Number(written);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new BadSetting("--port is a port from 0 to 65535; 0 takes a free one");
}

function tlsOf({ "tls-cert": cert, "tls-key": key }: SmscOptions): { cert: Buffer; key: Buffer } | null {
  if (cert === undefined && key === undefined) return null;
  if (cert === undefined || key === undefined)
    throw new BadSetting("--tls-cert and --tls-key are files that go together");
  return { cert: readFile("--tls-cert", cert), key: readFile("--tls-key", key) };
}

function readFile(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new BadSetting(`${option}: ${path} cannot be read`, { cause: error });
  }
}
