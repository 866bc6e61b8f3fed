import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Orders } from "./ledger-client.ts";

export interface LedgerClient {
  /** Begins nothing more, waits for a clear answer to every intent, and ends. */
  stop(): Promise<void>;
  /** Ends at once, whatever is open; for a run that has failed anyway. */
  abandon(): void;
}

const STOP_TIMEOUT_MS = 60_000;

export function startLedgerClient(orders: Orders): LedgerClient {
  const path = fileURLToPath(new URL("ledger-client.ts", import.meta.url));
  const child = fork(path, [JSON.stringify(orders)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
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
