import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory whose disk can be full. */
export interface SmallDisk {
  path: string;
  /** Leaves no room at all; `pid` is the process that is to feel it. */
  fill(pid: number): void;
  free(pid: number): void;
  remove(): Promise<void>;
}

const SIZE = "64m";
const PIECE = Buffer.alloc(65_536);

/** A file system of its own where mounting is allowed; elsewhere a limit on the size of the process's files. */
export async function makeSmallDisk(): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), "heliograph-disk-"));
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE}`, "tmpfs", path], { stdio: "ignore" });
  } catch {
    const limit = (pid: number, bytes: string) => void execFileSync("prlimit", [`--pid=${pid}`, `--fsize=${bytes}:`]);
    return { path, fill: (pid) => limit(pid, "4096"), free: (pid) => limit(pid, "unlimited"), remove };
  }
  const ballast = join(path, "ballast");
  mkdirSync(ballast);
  let files = 0;
  return {
    path,
    fill() {
      const file = openSync(join(ballast, String((files += 1))), "w");
      try {
        for (let size = PIECE.length; size >= 1; size = size > 1 ? size >> 4 : 0) {
          while (writeAll(file, size));
        }
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(join(ballast, String(files))),
    async remove() {
      execFileSync("umount", ["--lazy", path]);
      await remove();
    },
  };
}

/** False when the disk did not take it all. */
function writeAll(file: number, size: number): boolean {
  try {
    return writeSync(file, PIECE, 0, size) === size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return false;
    throw error;
  }
}
