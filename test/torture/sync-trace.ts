import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** What a trace of the server's system calls says about its acknowledgements. */
export interface SyncReport {
  /** Answers that told a caller the id of a stored request. */
  acks: number;
  /** Ids that were told although the log that holds them had not been synced since it was written. */
  unsynced: readonly string[];
  /** Ids that were told and never written to the log at all: the trace was misread. */
  unwritten: readonly string[];
  syncs: number;
}

/** The options that `strace` has to be given for a trace that can be read here. */
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
 * Reads a trace, in which a call stands where it began and its end, if others came between, on a line of its own.
 * A write counts from its beginning, a sync from its end, so that every doubt speaks against the server.
 */
export async function readSyncTrace(path: string): Promise<SyncReport> {
  /** By id, whether the log has been synced since the id was first written to it. */
  const synced = new Map<string, boolean>();
  /** What had been written when each thread began the sync that it is in. */
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
