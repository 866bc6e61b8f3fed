import { open } from "node:fs/promises";
import { createReadStream, existsSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Intent } from "./traffic.ts";

/**
 * What the ledger holds, in the order it happened. An intent is on disk before its request leaves, so that whatever the
 * server has stored can be traced back to a line here.
 */
export type Entry =
  | ({ entry: "intent" } & Intent)
  | { entry: "accepted"; key: string; messageIds: readonly string[]; replayed: boolean }
  | { entry: "refused"; key: string; status: number; code: string }
  /** No answer, half an answer, or an answer that says the server could not tell. It is sent again under the same key. */
  | { entry: "unknown"; key: string; reason: string };

export interface LedgerWriter {
  /** Resolves when the entry is on disk. */
  write(entry: Entry): Promise<void>;
  close(): Promise<void>;
}

/** Appends entries; those that arrive during a sync share the next one. */
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

/** All entries so far; none when the ledger has not been opened yet. */
export async function* readLedger(path: string): AsyncGenerator<Entry> {
  if (!existsSync(path)) return;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    // The last line of a ledger that is being written may be half of one.
    if (line.endsWith("}")) yield JSON.parse(line) as Entry;
  }
}
