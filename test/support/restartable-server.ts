import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { startApp, type App } from "../../src/app/start.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { readConfig } from "../../src/config.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newKeySecret } from "../../src/model/api-key.ts";
import { Smsc } from "../../src/smsc/smsc.ts";
import { migratedDatabase } from "./databases.ts";
import type { EngineName } from "./engines.ts";

const PASSPHRASE = "correct horse battery";

interface Answer<T> {
  status: number;
  body: T;
}

interface Message {
  messageId: string;
  recipient: string;
  state: string;
  errCode: string | null;
}

/** Cleanup steps, last first. */
export const undo: (() => Promise<unknown>)[] = [];

/** Stops and removes what a test has opened; for `afterEach`. */
export async function closeAll(): Promise<void> {
  while (undo.length > 0) await undo.pop()?.();
}

/** A server that can be started again with the same data. */
export class Restartable {
  readonly env: Record<string, string>;
  app: App | null = null;
  holdChanges = 0;

  constructor(env: Record<string, string>) {
    this.env = env;
    undo.push(() => this.stop());
  }

  async start(): Promise<this> {
    const onHoldChange = (): void => void (this.holdChanges += 1);
    this.app = await startApp(readConfig(this.env), { connectionThread: false, onHoldChange });
    return this;
  }

  async stop(): Promise<void> {
    await this.app?.stop();
    this.app = null;
  }

  async request<T>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    const response = await fetch((this.app?.url ?? "") + path, {
      method,
      headers: { apikey: this.env["HELIOGRAPH_API_KEY"] ?? "", "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as T };
  }

  send(to: string, fields: Record<string, unknown> = {}): Promise<Answer<never>> {
    return this.request("POST", "/v1/sms", { sender: "HELIOG", to, text: "Hello", type: "TRANS", ...fields });
  }

  async messages(): Promise<Message[]> {
    const { body } = await this.request<{ data: Message[] }>("GET", "/v1/messages?limit=100");
    return body.data;
  }

  async addCarrier(port: number, window: number): Promise<void> {
    const smpp = { host: "127.0.0.1", port, systemId: "esme", password: "secret", window };
    await this.request("POST", "/api/carriers", { name: "line", adapter: "smpp", smpp });
    await this.request("POST", "/api/routes", { name: "by smpp", channel: "sms", carrier: "line", priority: 1 });
  }
}

export async function environment(engine: EngineName): Promise<Record<string, string>> {
  const database = engine === "postgres" ? await migratedDatabase(inject("postgresUrl")) : null;
  if (database) undo.push(() => database.drop());
  return {
    HELIOGRAPH_PORT: "0",
    HELIOGRAPH_DATA_DIR: await mkdtemp(join(inject("scratchFolder"), "restore-")),
    HELIOGRAPH_LOG_LEVEL: "silent",
    HELIOGRAPH_EGRESS_ALLOW: "127.0.0.0/8,::1/128",
    HELIOGRAPH_API_KEY: newKeySecret("live"),
    HELIOGRAPH_BACKUP_PASSPHRASE: PASSPHRASE,
    ...(database ? { HELIOGRAPH_DATABASE_URL: database.url } : {}),
  };
}

export function terminalOf(): { terminal: Terminal; lines: string[] } {
  const lines: string[] = [];
  const terminal: Terminal = {
    canAsk: false,
    say: (line) => void lines.push(line),
    confirm: async () => false,
    ask: async () => "",
    askSecret: async () => "",
    showProgress: () => {},
  };
  return { terminal, lines };
}

/** Numbers that the SMSC got, each as often as it was submitted. */
export async function openSmsc(
  behavior: { silentPercent?: number } = {},
  port = 0,
): Promise<{ smsc: Smsc; got: string[] }> {
  const got: string[] = [];
  const onTaken = ({ destination }: { destination: { address: string } }): void => void got.push(destination.address);
  const smsc = await Smsc.open({ host: "127.0.0.1", port, clock: systemClock, behavior, onTaken });
  undo.push(() => smsc.close());
  return { smsc, got };
}

export const codeOf = ({ body }: { body: unknown }): string => (body as { error: { code: string } }).error.code;
