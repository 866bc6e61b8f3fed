import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const PREFIX = ".backup-transfer-";

/**
 * Runs work with a folder of its own, for the local copy of a backup on its way to or from a bucket. The folder is in the data
 * directory, because a temporary directory may be memory.
 */
export async function withStagingFolder<T>(dataDir: string, run: (folder: string) => Promise<T>): Promise<T> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  removeAbandoned(dataDir);
  const folder = mkdtempSync(join(dataDir, `${PREFIX}${process.pid}-`));
  try {
    return await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Removes the folders of processes that were killed. */
function removeAbandoned(dataDir: string): void {
  for (const name of readdirSync(dataDir).filter((entry) => entry.startsWith(PREFIX))) {
    const pid = Number.parseInt(name.slice(PREFIX.length), 10);
    if (!isRunning(pid)) rmSync(join(dataDir, name), { recursive: true, force: true });
  }
}

/** Also in a container, whose processes get the same ids again: the own id is that of an earlier run. */
function isRunning(pid: number): boolean {
  if (!(pid > 0) || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process exists too.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
