import { statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { openDatabase } from "./open.ts";

/** SQLite writes the rows to a temporary file, and from there to the write-ahead log. */
const COPIES = 2;
const MB = 1_000_000;

class NoSpace extends Error {
  override name = "NoSpace";
}

const freeBytesOf = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
};

/**
 * Rewrites the file without free pages, and so that it frees pages by itself from then on. It blocks every other connection
 * meanwhile. A crash leaves the file as it was.
 */
export function compactFile(path: string, freeBytes = freeBytesOf): { beforeBytes: number; afterBytes: number } {
  const db = openDatabase(path);
  try {
    const read = (pragma: string): number => Number(Object.values(db.prepare(`pragma ${pragma}`).get() ?? {})[0]);
    db.exec("pragma wal_checkpoint(truncate)");
    const beforeBytes = statSync(path).size;
    const needed = (read("page_count") - read("freelist_count")) * read("page_size") * COPIES;
    const folder = dirname(path);
    const free = freeBytes(folder);
    if (free < needed)
      throw new NoSpace(
        `compacting needs ${Math.ceil(needed / MB)} MB of free space in ${folder}, which has ${Math.floor(free / MB)} MB`,
      );
    // The default folder may be in memory.
    db.exec(`pragma temp_store_directory = '${folder.replaceAll("'", "''")}'`);
    db.exec("pragma auto_vacuum = incremental");
    db.exec("vacuum");
    db.exec("pragma wal_checkpoint(truncate)");
    return { beforeBytes, afterBytes: statSync(path).size };
  } finally {
    db.close();
  }
}
