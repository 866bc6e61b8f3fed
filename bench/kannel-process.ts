import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../test/support/free-port.ts";

/** Kannel in its fastest configuration: no logs, a wide window, several smsboxes. */
export interface Kannel {
  /** Ports of `sendsms`, one per smsbox. */
  ports: readonly number[];
  stop(): Promise<void>;
}

export interface KannelOptions {
  smscPort: number;
  /** `file` writes every message to a file without syncing; `none` keeps messages in memory only. */
  store: "file" | "none";
  window: number;
  smsboxes: number;
}

/** Folder in which Debian installs both programs. */
export const SBIN = "/usr/sbin";
const START_MS = 15_000;

/** Kannel's SMPP server: bearerbox and opensmppbox. */
export interface KannelSmppServer {
  port: number;
  systemId: string;
  password: string;
  stop(): Promise<void>;
}

const BOX_LOGIN = { systemId: "bench", password: "secret" };

/** Starts bearerbox and smsboxes from Debian's package, bound to an SMSC, and waits until they accept messages. */
export async function startKannel({ smscPort, store, window, smsboxes }: KannelOptions): Promise<Kannel> {
  const processes = await startBearerbox({ smscPort, store, window });
  const ports: number[] = [];
  for (let index = 0; index < smsboxes; index += 1) {
    const port = await freePort();
    ports.push(port);
    // All programs read the whole file; each smsbox has a file with its own port.
    const config = `
group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = ${port}
log-level = 4
max-pending-requests = 1024

group = sendsms-user
username = bench
password = secret
max-messages = 10
concatenation = true
`;
    await processes.run(join(SBIN, "smsbox"), config, port);
  }
  return { ports, stop: processes.stop };
}

/** Starts bearerbox and opensmppbox. Debian has the latter's source in that of Kannel, and no package of it. */
export async function startKannelSmppServer(
  program: string,
  { smscPort, store, window }: Omit<KannelOptions, "smsboxes">,
): Promise<KannelSmppServer> {
  const processes = await startBearerbox({ smscPort, store, window });
  const port = await freePort();
  const logins = join(processes.folder, "logins.txt");
  await writeFile(logins, `${BOX_LOGIN.systemId} ${BOX_LOGIN.password} any 127.0.0.1\n`);
  const config = `
group = opensmppbox
opensmppbox-id = box
opensmppbox-port = ${port}
bearerbox-host = 127.0.0.1
bearerbox-port = ${processes.boxPort}
our-system-id = box
route-to-smsc = bench
use-systemid-as-smsboxid = true
smpp-logins = "${logins}"
log-level = 4
`;
  await processes.run(program, config, port);
  return { port, ...BOX_LOGIN, stop: processes.stop };
}

interface KannelProcesses {
  folder: string;
  boxPort: number;
  /** Starts a further program, and waits for its port. */
  run(program: string, config: string, port: number): Promise<void>;
  stop(): Promise<void>;
}

async function startBearerbox({ smscPort, store, window }: Omit<KannelOptions, "smsboxes">): Promise<KannelProcesses> {
  const folder = await mkdtemp(join(tmpdir(), "heliograph-kannel-"));
  const [adminPort, boxPort] = [await freePort(), await freePort()];
  const core = `
group = core
admin-port = ${adminPort}
admin-password = bench
status-password = bench
smsbox-port = ${boxPort}
log-level = 4
box-allow-ip = "127.0.0.1"
dlr-storage = internal
${store === "file" ? `store-type = file\nstore-location = "${join(folder, "store")}"` : ""}

group = smsc
smsc = smpp
smsc-id = bench
host = 127.0.0.1
port = ${smscPort}
transceiver-mode = true
smsc-username = bench
smsc-password = secret
system-type = ""
interface-version = 34
max-pending-submits = ${window}
throughput = 100000
source-addr-autodetect = true
dest-addr-ton = 1
dest-addr-npi = 1
`;
  const boxes: ChildProcess[] = [];
  const run = async (program: string, config: string, port: number): Promise<void> => {
    const file = join(folder, `${port}.conf`);
    await writeFile(file, core + config);
    boxes.push(spawn(program, ["-v", "4", file], { cwd: folder, stdio: "ignore" }));
    await waitForPort(port);
  };
  // bearerbox does not open its port without a group of this name.
  await run(join(SBIN, "bearerbox"), "\ngroup = smsbox\nbearerbox-host = 127.0.0.1\n", boxPort);
  return {
    folder,
    boxPort,
    run,
    async stop() {
      for (const box of boxes.toReversed()) {
        box.kill("SIGKILL");
        if (box.exitCode === null && box.signalCode === null) await once(box, "exit");
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves once a port takes connections. */
async function waitForPort(port: number): Promise<void> {
  const until = performance.now() + START_MS;
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (isOpen) return;
    if (performance.now() > until) throw new Error(`Kannel did not open port ${port} within ${START_MS / 1000} s`);
    await pause(50);
  }
}
