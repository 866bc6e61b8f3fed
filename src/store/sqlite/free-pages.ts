import type { DatabaseSync } from "node:sqlite";

/** Free pages stay in the file up to this share of it: the next messages need them, and freeing them first costs writes. */
const SPARE_SHARE = 0.1;

/**
 * Returns free pages to the file system, inside the writer's transaction: at most `limit`, and none in a file that was created
 * without incremental vacuum. Returns how many. The file itself shrinks at the next checkpoint.
 */
export function createFreePages(db: DatabaseSync): (limit: number) => number[] {
  const read = (pragma: string): number => Number(Object.values(db.prepare(`pragma ${pragma}`).get() ?? {})[0]);
  const isIncremental = read("auto_vacuum") === 2;
  return (limit) => {
    if (!isIncremental) return [0];
    const free = read("freelist_count");
    const surplus = Math.min(limit, Math.floor(free - read("page_count") * SPARE_SHARE));
    if (surplus <= 0) return [0];
    db.exec(`pragma incremental_vacuum(${surplus})`);
    return [free - read("freelist_count")];
  };
}
