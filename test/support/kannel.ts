import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";

/** Credentials for Kannel's sendsms. */
export const KANNEL_USER = { username: "heliograph", password: "sms & more" };

export interface Kannel {
  /** Base URL of `sendsms`. */
  baseUrl: string;
  /** Port at which an HTTP connection receives reports and inbound messages. */
  receiveUrl: string;
  /** Log output so far. */
  log(): Promise<string>;
  stop(): Promise<void>;
}

/** An SMSC that Kannel binds to by SMPP, or a server whose sendsms it calls. */
type SmscOptions =
  | { port: number; systemId: string; password: string }
  | { sendUrl: string; username: string; password: string };

interface Options {
  smsc: SmscOptions;
  /** URL for inbound messages; default: none. */
  getUrl?: string;
}

const STOP_TIMEOUT_MS = 60_000;

/** Starts bearerbox and smsbox from Debian's package on free ports with a generated configuration. */
export async function startKannel({ smsc, getUrl }: Options): Promise<Kannel> {
  const folder = await mkdtemp(join(tmpdir(), "heliograph-kannel-"));
  const [admin, boxes, sendsms] = [await freePort(), await freePort(), await freePort()];
  const file = join(folder, "kannel.conf");
  const receive = await freePort();
  await writeFile(file, configuration(folder, { admin, boxes, sendsms, receive }, smsc, getUrl));
  const running: ChildProcess[] = [];
  const watchdogs: ChildProcess[] = [];
  const log = async (): Promise<string> =>
    (
      await Promise.all(
        ["bearerbox.log", "smsbox.log"].map((name) => readFile(join(folder, name), "utf8").catch(() => "")),
      )
    ).join("\n");
  const stop = async (): Promise<void> => {
    // smsbox first, as Kannel's user guide recommends.
    for (const child of running.toReversed()) await end(child);
    for (const watchdog of watchdogs) watchdog.stdin?.end("stopped\n");
    await rm(folder, { recursive: true, force: true });
  };
  const run = async (programme: string, isReady: () => Promise<boolean>): Promise<void> => {
    const child = spawn(programme, [file], {
      cwd: folder,
      stdio: "ignore",
      env: { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin` },
    });
    running.push(child);
    await once(child, "spawn");
    watchdogs.push(startWatchdog(child, folder));
    await eventually(async () => child.exitCode !== null || (await isReady()), Boolean);
    if (child.exitCode !== null) throw new Error(`${programme} ended: ${await log()}`);
  };
  try {
    await run("bearerbox", async () => (await statusOf(admin)).includes("(online"));
    await run("smsbox", async () => (await statusOf(admin)).includes("smsbox"));
    await eventually(() => answers(`http://127.0.0.1:${sendsms}/cgi-bin/sendsms`), Boolean);
  } catch (error) {
    await stop();
    throw error;
  }
  return { baseUrl: `http://127.0.0.1:${sendsms}`, receiveUrl: `http://127.0.0.1:${receive}`, log, stop };
}

/** Watchdog: ends Kannel when this process dies for any reason, because its end of the pipe then closes. */
function startWatchdog({ pid }: ChildProcess, folder: string): ChildProcess {
  // Kannel writes into the folder until it has ended.
  const script = 'read -r _ || { while kill "$0" 2>/dev/null; do sleep 0.2; done; rm -rf "$1"; }';
  const watchdog = spawn("sh", ["-c", script, String(pid), folder], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.unref();
  return watchdog;
}

async function statusOf(port: number): Promise<string> {
  try {
    return await (await fetch(`http://127.0.0.1:${port}/status.txt?password=status`)).text();
  } catch {
    // Kannel is still starting.
    return "";
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    await (await fetch(url)).text();
    return true;
  } catch {
    // Kannel is still starting.
    return false;
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const lateKill = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(lateKill);
}

interface Ports {
  admin: number;
  boxes: number;
  sendsms: number;
  /** Port on which an HTTP connection receives reports and inbound messages. */
  receive: number;
}

function smscGroup({ receive }: Ports, smsc: SmscOptions): Record<string, string | number> {
  if ("sendUrl" in smsc)
    return {
      group: "smsc",
      smsc: "http",
      "smsc-id": "ours",
      "system-type": "kannel",
      port: receive,
      "connect-allow-ip": "127.0.0.1",
      "smsc-username": smsc.username,
      "smsc-password": smsc.password,
      "send-url": smsc.sendUrl,
      // Kannel adds parameters with an ampersand.
      "dlr-url": `http://127.0.0.1:${receive}/?username=${smsc.username}&password=${smsc.password}`,
      "max-sms-octets": 1600,
    };
  return {
    group: "smsc",
    smsc: "smpp",
    "smsc-id": "ours",
    host: "127.0.0.1",
    port: smsc.port,
    "transceiver-mode": "true",
    "smsc-username": smsc.systemId,
    "smsc-password": smsc.password,
    "system-type": "",
    "interface-version": 34,
    "enquire-link-interval": 5,
    "max-pending-submits": 10,
    "reconnect-delay": 1,
    "source-addr-autodetect": "true",
    "dest-addr-ton": 1,
    "dest-addr-npi": 1,
  };
}

function configuration(folder: string, ports: Ports, smsc: SmscOptions, getUrl: string | undefined): string {
  const groups: Record<string, string | number>[] = [
    {
      group: "core",
      "admin-port": ports.admin,
      "admin-password": "admin",
      "status-password": "status",
      "smsbox-port": ports.boxes,
      "log-file": join(folder, "bearerbox.log"),
      "log-level": 0,
      "box-allow-ip": "127.0.0.1",
      "box-deny-ip": "*.*.*.*",
      "dlr-storage": "internal",
    },
    smscGroup(ports, smsc),
    { group: "smpp-tlv", name: "PE_ID", tag: "0x1400", type: "octetstring", length: 30, "smsc-id": "ours" },
    { group: "smpp-tlv", name: "TEMPLATE_ID", tag: "0x1401", type: "octetstring", length: 30, "smsc-id": "ours" },
    {
      group: "smsbox",
      "bearerbox-host": "127.0.0.1",
      "sendsms-port": ports.sendsms,
      "log-file": join(folder, "smsbox.log"),
      "log-level": 0,
      "mo-recode": "true",
      "http-request-retry": 10,
      "http-queue-delay": 1,
    },
    {
      group: "sendsms-user",
      username: KANNEL_USER.username,
      password: KANNEL_USER.password,
      concatenation: "true",
      "max-messages": 10,
    },
    {
      group: "sms-service",
      keyword: "default",
      ...(getUrl === undefined ? { text: "" } : { "get-url": getUrl }),
      "max-messages": 0,
    },
  ];
  const line = ([name, value]: [string, string | number]): string =>
    `${name} = ${typeof value === "number" || name === "group" ? value : `"${value}"`}`;
  return `${groups.map((group) => Object.entries(group).map(line).join("\n")).join("\n\n")}\n`;
}
