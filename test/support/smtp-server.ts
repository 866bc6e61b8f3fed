import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { issueCertificates } from "./certificates.ts";
import { eventually } from "./eventually.ts";

/** An e-mail as the server has received it. */
interface ReceivedEmail {
  from: string;
  to: string[];
  tls: boolean;
  login: boolean;
  data: string;
}

/** Replies to the next commands, in order; afterwards everything is accepted. `close` breaks the connection. */
interface Replies {
  rcpt?: string[];
  data?: string[];
}

export interface SmtpTestServer {
  port: number;
  /** The CA of its certificate. */
  ca: string;
  received: ReceivedEmail[];
  reply(next: Replies): Promise<void>;
  close(): Promise<void>;
}

interface Options {
  security?: "starttls" | "tls" | "none";
  login?: readonly [user: string, password: string];
  port?: number;
}

const SCRIPT = join(import.meta.dirname, "smtp-server.py");

/** Starts Debian's aiosmtpd on a free port of this machine. */
export async function startSmtpServer({
  security = "starttls",
  login,
  port = 0,
}: Options = {}): Promise<SmtpTestServer> {
  const certificates = issueCertificates();
  const folder = mkdtempSync(join(tmpdir(), "heliograph-smtp-"));
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(cert, certificates.cert);
  writeFileSync(key, certificates.key);
  const child = spawn("/usr/bin/python3", [SCRIPT], { stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const received: ReceivedEmail[] = [];
  let listening = 0;
  let isReady = true;
  createInterface(child.stdout).on("line", (line) => {
    const told = JSON.parse(line) as { port?: number; ready?: boolean } & ReceivedEmail;
    if (told.port !== undefined) listening = told.port;
    else if (told.ready) isReady = true;
    else received.push(told);
  });
  const tell = (value: object): void => void child.stdin.write(`${JSON.stringify(value)}\n`);
  tell({ security, port, login: login ?? null, ...(security === "none" ? { cert: null, key: null } : { cert, key }) });
  await eventually(() => Promise.resolve(listening), Boolean);
  return {
    port: listening,
    ca: certificates.ca,
    received,
    async reply(next) {
      isReady = false;
      tell(next);
      await eventually(() => Promise.resolve(isReady), Boolean);
    },
    async close() {
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
