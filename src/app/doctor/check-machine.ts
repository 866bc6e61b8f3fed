import { accessSync, constants, existsSync, readdirSync, readFileSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { diskLimitOf } from "../../cluster/watch-disk.ts";
import type { Config } from "../../config.ts";
import { readDescriptorLimit } from "../../lib/descriptors.ts";
import { LOCK_FILE, PRIVATE_FILE } from "../storage.ts";
import { ok, problem, reasonOf, warning, type Finding } from "./finding.ts";

const GB = 1_000_000_000;
const MB = 1_000_000;
const FREE_BYTES_LOW = 2 * GB;
const DESCRIPTORS_MIN = 1024;
const DESCRIPTORS_LOW = 8192;

/** Checks the data directory: its access rights, free space, and whether a server runs on it. */
export function checkDataDir({
  dataDir,
  databaseUrl,
  diskFreeMinMb,
}: Pick<Config, "dataDir" | "databaseUrl" | "diskFreeMinMb">): Finding[] {
  const check = "data directory";
  if (!existsSync(dataDir)) return [checkParent(dataDir)];
  try {
    if (!statSync(dataDir).isDirectory())
      return [problem(check, `${dataDir} is no directory`, "Set HELIOGRAPH_DATA_DIR to a directory.")];
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    return [
      problem(
        check,
        reasonOf(error),
        `Make ${dataDir} writable for the user of the server, or set HELIOGRAPH_DATA_DIR.`,
      ),
    ];
  }
  return [
    checkAccess(dataDir),
    checkSpace(dataDir, databaseUrl === null ? diskFreeMinMb * MB : 0),
    ...(databaseUrl === null ? [checkLock(dataDir)] : []),
  ];
}

/** The first start creates the directory. */
function checkParent(dataDir: string): Finding {
  let parent = dirname(dataDir);
  while (!existsSync(parent)) parent = dirname(parent);
  try {
    accessSync(parent, constants.W_OK | constants.X_OK);
    return ok("data directory", `${dataDir} does not exist; the first start creates it`);
  } catch {
    return problem(
      "data directory",
      `${dataDir} does not exist, and ${parent} is not writable`,
      "Create the directory for the user of the server, or set HELIOGRAPH_DATA_DIR.",
    );
  }
}

function checkAccess(dataDir: string): Finding {
  const open = readdirSync(dataDir).filter(
    (name) => PRIVATE_FILE.test(name) && (statSync(join(dataDir, name)).mode & 0o077) !== 0,
  );
  if (open.length === 0) return ok("data directory", `${dataDir} is writable, and its files are private`);
  return warning(
    "data directory",
    `other users can read or write ${open.toSorted().join(", ")} in ${dataDir}`,
    `Run chmod 600 on them. The next start does it too.`,
  );
}

function checkSpace(dataDir: string, minBytes: number): Finding {
  const { bavail, blocks, bsize } = statfsSync(dataDir);
  const freeBytes = bavail * bsize;
  const detail = `${(freeBytes / GB).toFixed(1)} GB of ${((blocks * bsize) / GB).toFixed(1)} GB are free`;
  const fix = "Free some space, or shorten the retention of messages.";
  if (freeBytes < diskLimitOf(minBytes, { totalBytes: blocks * bsize }))
    return problem("disk space", `${detail}, so sends get 503 STORAGE_FULL`, fix);
  return freeBytes < FREE_BYTES_LOW ? warning("disk space", detail, fix) : ok("disk space", detail);
}

/** Reads the kernel's list of locks. To try the lock could make a server that starts at that moment fail. */
function checkLock(dataDir: string): Finding {
  const check = "server";
  const file = join(dataDir, LOCK_FILE);
  if (!existsSync(file)) return ok(check, "none has run on this data directory");
  try {
    const inode = `:${statSync(file).ino} `;
    const holder = readFileSync("/proc/locks", "utf8")
      .split("\n")
      .find((line) => line.includes(inode));
    if (holder === undefined) return ok(check, "none runs on this data directory");
    return ok(check, `process ${holder.trim().split(/\s+/)[4] ?? ""} runs on this data directory`);
  } catch {
    return ok(check, "this system does not show whether one runs on this data directory");
  }
}

/** Each client, webhook connection and carrier takes a file descriptor. */
export function checkDescriptors(limit: number | null = readDescriptorLimit()): Finding {
  const check = "file descriptors";
  if (limit === null) return ok(check, "this system does not show the limit");
  const detail = `at most ${limit} may be open`;
  const fix =
    "Raise the limit: LimitNOFILE=65536 in the systemd unit, or ulimit -n 65536 in the shell that starts the server.";
  if (limit < DESCRIPTORS_MIN) return problem(check, detail, fix);
  return limit < DESCRIPTORS_LOW ? warning(check, detail, fix) : ok(check, detail);
}
