import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { readDestination } from "../backup/read-destination.ts";
import { diskLimitOf, readDiskSpace } from "../cluster/watch-disk.ts";
import { BadSetting, type Config } from "../config.ts";
import { MediaLibrary } from "../media/library.ts";
import { createBucketFiles, createFolderFiles, type MediaFiles } from "../media/media-files.ts";
import { createMediaTokens, type MediaTokens } from "../media/signed-url.ts";
import { S3Storage } from "../object-storage/s3.ts";
import { DAY_MS, type AppBase } from "./base.ts";
import type { AppSecrets } from "./secrets.ts";
import { MEDIA_FOLDER, type AppStorage } from "./storage.ts";

export interface AppMedia {
  library: MediaLibrary;
  /** Null where no storage is configured. */
  files: MediaFiles | null;
  tokens: MediaTokens;
  stagingFolder: string;
}

const MB = 1_000_000;
const MIB = 1_048_576;

/** Opens the storage of media. Uploads that an earlier process did not finish are removed. */
export function openMedia(base: AppBase, storage: AppStorage, secrets: AppSecrets): AppMedia {
  const { config } = base;
  const { files, folder } = openFiles(config);
  const incoming = join(folder, "incoming");
  const stagingFolder = join(incoming, randomUUID());
  if (files) {
    // A chosen folder must be writable from the start; that of the data directory appears with the first file.
    if (config.mediaDir !== null) createFolder(stagingFolder);
    if (existsSync(incoming)) removeStaged(incoming, stagingFolder, config);
  }
  return createAppMedia(base, storage, secrets, { files, folder, stagingFolder });
}

/** The library of media over a storage, or over none. */
export function createAppMedia(
  { config, clock, overrides }: AppBase,
  { store }: AppStorage,
  { mediaUrls }: AppSecrets,
  { files, folder, stagingFolder }: { files: MediaFiles | null; folder: string; stagingFolder: string },
): AppMedia {
  const readSpace = overrides.readDiskSpace ?? readDiskSpace;
  const minBytes = config.diskFreeMinMb * MB;
  const library = new MediaLibrary({
    store,
    files,
    stagingFolder,
    clock,
    isDiskFull: async (bytes) => {
      const space = await readSpace(existsSync(folder) ? folder : config.dataDir);
      return space.freeBytes - bytes < diskLimitOf(minBytes, space);
    },
    bytesMax: config.mediaMaxMb * MIB,
    storedMax: config.mediaStoredMb * MIB,
    lifeMs: config.mediaDays * DAY_MS,
  });
  return { library, files, tokens: createMediaTokens(mediaUrls), stagingFolder };
}

/** The folder also holds files that are being received, for a bucket too. */
function openFiles(config: Config): { files: MediaFiles | null; folder: string } {
  const { mediaDir, databaseUrl, dataDir } = config;
  const own = join(dataDir, MEDIA_FOLDER);
  // Another node could not read a file of this one.
  if (mediaDir === null) return { files: databaseUrl === null ? createFolderFiles(own) : null, folder: own };
  const place = readDestination(config, mediaDir, "HELIOGRAPH_MEDIA_DIR");
  if (place.kind === "folder") return { files: createFolderFiles(place.folder), folder: place.folder };
  const { s3, prefix } = place.bucket;
  return { files: createBucketFiles(new S3Storage(s3), prefix), folder: own };
}

function createFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new BadSetting(`HELIOGRAPH_MEDIA_DIR: ${path} is not a directory that can be written`, { cause: error });
  }
}

/** On SQLite no other process uses the folder. Other nodes may share it on PostgreSQL, and an upload of theirs ends within a day. */
function removeStaged(incoming: string, own: string, { databaseUrl }: Config): void {
  for (const name of readdirSync(incoming)) {
    const path = join(incoming, name);
    const isOld = databaseUrl === null || statSync(path).mtimeMs < Date.now() - DAY_MS;
    if (path !== own && isOld) rmSync(path, { recursive: true, force: true });
  }
}
