import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface IntegrityCheck {
  /** The faults that were found; rejects if the check could not be made. */
  faults: Promise<readonly string[]>;
  /** Ends it at once; the faults then reject. */
  stop(): void;
}

const LIMIT_MS = 3_600_000;
const SCRIPT = new URL("check-integrity.ts", import.meta.url);

/**
 * Checks a database file in a process of its own. The check is one statement that takes minutes on a large file. SQLite cannot
 * stop it here, and a thread in it would hold up the end of the server. A process can be killed, as it only reads.
 */
export function startIntegrityCheck(path: string, script: URL = SCRIPT): IntegrityCheck {
  const child = spawn(process.execPath, [fileURLToPath(script), path], {
    env: {},
    stdio: ["ignore", "pipe", "pipe"],
    // The write-ahead log grows while the check reads.
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
  });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors = (errors + text).slice(-2000)));
  return {
    faults: once(child, "close").then(([code, signal]) => {
      if (code !== 0) throw new Error(`the integrity check ended with ${code ?? signal}: ${errors.trim()}`);
      return JSON.parse(output) as string[];
    }),
    stop: () => void child.kill("SIGKILL"),
  };
}
