import { open } from "node:fs/promises";
import { createReadStream, existsSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Intent } from "./traffic.ts";

/**
 * Ledger entries in order. An intent is on disk before its request is sent, so every stored message can be traced to an
 * entry.
 */
export type Entry =
  | ({ entry: "intent" } & Intent)
  /** `at` is the time of the response in epoch ms. */
  | { entry: "accepted"; key: string; messageIds: readonly string[]; replayed: boolean; at?: number }
  | { entry: "refused"; key: string; status: number; code: string }
  /** No response, a partial one, or one that leaves the outcome open. The client retries under the same key. */
  | { entry: "unknown"; key: string; reason: string };

export interface LedgerWriter {
  /** Resolves when the entry is on disk. */
  write(entry: Entry): Promise<void>;
  close(): Promise<void>;
}

/** Appends entries with group commit: entries that arrive during a sync share the next one. */
export async function openLedger(path: string): Promise<LedgerWriter> {
  const file = await open(path, "a");
  let waiting: { line: string; written(): void; failed(error: unknown): void }[] = [];
  let running: Promise<void> | null = null;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await file.appendFile(batch.map(({ line }) => line).join(""));
        await file.datasync();
        for (const { written } of batch) written();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    running = null;
  }
  return {
    write: (entry) =>
      new Promise((written, failed) => {
        waiting.push({ line: `${JSON.stringify(entry)}\n`, written, failed });
        running ??= drain();
      }),
    async close() {
      await running;
      await file.close();
    },
  };
}

/** All entries so far; none if the file does not exist yet. */
export async function* readLedger(path: string): AsyncGenerator<Entry> {
  if (!existsSync(path)) return;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    // The last line may be incomplete while the client is writing.
    if (line.endsWith("}")) yield JSON.parse(line) as Entry;
  }
}
