import { statfs } from "node:fs/promises";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../metrics.ts";

export interface DiskSpace {
  freeBytes: number;
  totalBytes: number;
}

export type ReadDiskSpace = (folder: string) => Promise<DiskSpace>;

interface DiskWatchDeps {
  log: Log;
  metrics: Pick<Metrics, "registry">;
  /** Refuses sends from now on, or accepts them again. */
  gate: { setDiskFull(freeBytes: number | null): void };
  readSpace?: ReadDiskSpace | undefined;
}

/** On a small disk the limit is this share of it: a tenth, or a data volume of 1 GB would be useless. */
const SHARE_MAX = 0.1;
/** Sends are accepted again above this multiple of the limit, so that the answer does not change every second. */
const REOPEN_AT = 1.25;

/** Free space below which sends are refused. */
export const diskLimitOf = (minBytes: number, { totalBytes }: Pick<DiskSpace, "totalBytes">): number =>
  Math.min(minBytes, totalBytes * SHARE_MAX);

/**
 * Refuses sends before the disk of the SQLite file is full. A full disk would refuse every write: receipts could not be stored,
 * and retention could not free space.
 */
export function createDiskWatch(
  { log, metrics, gate, readSpace = readDiskSpace }: DiskWatchDeps,
  { folder, minBytes }: { folder: string; minBytes: number },
): () => Promise<void> {
  let free = 0;
  let isFull = false;
  metrics.registry.gauge(
    { name: "heliograph_disk_free_bytes", help: "Free space of the disk that holds the SQLite file." },
    () => free,
  );
  metrics.registry.gauge(
    {
      name: "heliograph_disk_full",
      help: "1 while sends are refused because the disk has too little free space.",
    },
    () => (isFull ? 1 : 0),
  );
  return async () => {
    const space = await readSpace(folder);
    const limit = diskLimitOf(minBytes, space);
    free = space.freeBytes;
    const wasFull = isFull;
    isFull = free < (wasFull ? limit * REOPEN_AT : limit);
    gate.setDiskFull(isFull ? free : null);
    const facts = { folder, freeBytes: free, limitBytes: Math.round(limit) };
    if (isFull && !wasFull) log.error(facts, "disk nearly full, sends are refused");
    if (!isFull && wasFull) log.warn(facts, "disk has free space again, sends are accepted");
  };
}

export async function readDiskSpace(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}
