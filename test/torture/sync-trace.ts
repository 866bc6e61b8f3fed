import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** Results of a system-call trace: acknowledgements compared with syncs. */
export interface SyncReport {
  /** Responses with the id of a stored request. */
  acks: number;
  /** Ids acknowledged before the log that contains them was synced. */
  unsynced: readonly string[];
  /** Ids acknowledged but never written to the log, which means that the trace was misread. */
  unwritten: readonly string[];
  syncs: number;
}

/** Options of `strace` that produce the expected format. */
export const STRACE_OPTIONS = [
  "-f",
  "-y",
  "-s",
  "8192",
  "-e",
  "trace=fsync,fdatasync,pwrite64,pwritev,write,writev,sendto,sendmsg",
] as const;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const ACKED_ID = /\{\\"id\\":\\"([0-9a-f-]{36})\\"/;
const CALL = /^(\d+) +(?:<\.\.\. )?(\w+)(?:\((\d+)<([^>]*)>)?/;

/**
 * Reads a trace. Each call has a line at its start and, if other calls interleave, another one at its end. A write
 * counts from its start and a sync from its end, so that every ambiguity counts against the server.
 */
export async function readSyncTrace(path: string): Promise<SyncReport> {
  /** True once the log has been synced after the first write of an id. */
  const synced = new Map<string, boolean>();
  /** Ids written before each thread's current sync began. */
  const syncing = new Map<string, string[]>();
  let waiting: string[] = [];
  const report = { acks: 0, unsynced: [] as string[], unwritten: [] as string[], syncs: 0 };

  const beginSync = (thread: string): void => {
    syncing.set(thread, waiting);
    waiting = [];
  };
  const endSync = (thread: string): void => {
    for (const id of syncing.get(thread) ?? []) synced.set(id, true);
    syncing.delete(thread);
    report.syncs += 1;
  };

  for await (const line of createInterface({ input: createReadStream(path) })) {
    const [, thread = "", call = "", , file = ""] = CALL.exec(line) ?? [];
    const resumed = line.includes("<... ");
    const unfinished = line.endsWith("<unfinished ...>");
    if (call === "fsync" || call === "fdatasync") {
      if (!resumed && !file.endsWith("-wal")) continue;
      if (!resumed) beginSync(thread);
      if (!unfinished && syncing.has(thread)) endSync(thread);
    } else if (file.endsWith("-wal")) {
      for (const [id] of line.matchAll(UUID)) {
        if (synced.has(id)) continue;
        synced.set(id, false);
        waiting.push(id);
      }
    } else {
      const id = ACKED_ID.exec(line)?.[1];
      if (id === undefined || resumed) continue;
      report.acks += 1;
      const isSynced = synced.get(id);
      if (isSynced === undefined) report.unwritten.push(id);
      else if (!isSynced) report.unsynced.push(id);
    }
  }
  return report;
}
