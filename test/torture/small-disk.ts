import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory on a disk that can be filled. */
export interface SmallDisk {
  path: string;
  /** Leaves no free space for the process `pid`. */
  fill(pid: number): void;
  free(pid: number): void;
  remove(): Promise<void>;
}

const SIZE = "64m";
const PIECE = Buffer.alloc(65_536);

/** Mounts its own tmpfs if permitted; otherwise limits the file size of the process. */
export async function createSmallDisk(): Promise<SmallDisk> {
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

/** False if the disk is full. */
function writeAll(file: number, size: number): boolean {
  try {
    return writeSync(file, PIECE, 0, size) === size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return false;
    throw error;
  }
}
