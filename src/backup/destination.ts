import { basename } from "node:path";
import { addressOf, listStored, pruneStored, uploadBackup, type BackupBucket } from "./bucket.ts";
import { listBackups } from "./manifest.ts";
import { withStagingFolder } from "./staging.ts";
import type { CopyProgress } from "../store/sqlite/copy.ts";
import { pruneBackups, writeBackup, type BackupRequest, type WrittenBackup } from "./write-backup.ts";

/** Target of backups. It can be given to a thread. */
export type Destination = { kind: "folder"; folder: string } | BucketDestination;

interface BucketDestination {
  kind: "bucket";
  bucket: BackupBucket;
  /** Holds the copy until it is uploaded. */
  dataDir: string;
}

/** As an operator writes it. */
export const nameOfDestination = (destination: Destination): string =>
  destination.kind === "folder" ? destination.folder : addressOf(destination.bucket, "");

/** Names of the whole backups, oldest first. */
export const listAt = async (destination: Destination): Promise<string[]> =>
  destination.kind === "folder" ? listBackups(destination.folder) : listStored(destination.bucket);

/** Writes a verified backup; `path` is its folder or address. */
export async function writeTo(
  destination: Destination,
  request: Omit<BackupRequest, "folder">,
  onProgress?: (progress: CopyProgress) => void,
): Promise<WrittenBackup> {
  if (destination.kind === "folder") return writeBackup({ ...request, folder: destination.folder }, onProgress);
  const { bucket, dataDir } = destination;
  // A bucket that cannot be used is noticed before the copy, which may take minutes.
  await listStored(bucket);
  return withStagingFolder(dataDir, async (folder) => {
    const { path, manifest } = await writeBackup({ ...request, folder }, onProgress);
    return { path: await uploadBackup(bucket, path, basename(path)), manifest };
  });
}

/** Deletes the oldest backups beyond a number; returns their names. */
export const pruneAt = async (destination: Destination, keep: number): Promise<string[]> =>
  destination.kind === "folder"
    ? pruneBackups(destination.folder, keep)
    : pruneStored(destination.bucket, keep, Date.now());
