import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { LedgerClientOptions } from "./ledger-client.ts";

export interface LedgerClient {
  /** Sends no new request, waits for a definite response to every intent, and exits. */
  stop(): Promise<void>;
  /** Exits at once with requests pending; for a run that has failed anyway. */
  abandon(): void;
}

const STOP_TIMEOUT_MS = 240_000;

export function startLedgerClient(options: LedgerClientOptions): LedgerClient {
  const path = fileURLToPath(new URL("ledger-client.ts", import.meta.url));
  const child = fork(path, [JSON.stringify(options)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const exited = once(child, "exit") as Promise<[number | null]>;
  return {
    async stop() {
      if (child.connected) child.send("stop");
      const late = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      const [code] = await exited;
      clearTimeout(late);
      if (code !== 0) throw new Error(`the ledger client ended with ${code} before every intent had an answer`);
    },
    abandon: () => void child.kill("SIGKILL"),
  };
}
