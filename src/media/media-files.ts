import { open, mkdir, rename, rm, stat } from "node:fs/promises";
import { createReadStream } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import type { ObjectStorage } from "../object-storage/object-storage.ts";

interface FileRef {
  accountId: number;
  id: string;
}

/** Storage of the bytes of media. */
export interface MediaFiles {
  /** Takes a staged file over. The bytes are durable when it resolves; the staged file may stay. */
  put(ref: FileRef, path: string): Promise<void>;
  /** Null if there are no such bytes. */
  read(ref: FileRef): Promise<{ bytes: number; body: Readable } | null>;
  /** Bytes that are not there count as removed. */
  remove(ref: FileRef): Promise<void>;
}

/**
 * Place of a file, the same in a folder and in a bucket, so that one can be copied to the other. The random end of the id
 * spreads the files over folders of few entries.
 */
const placeOf = ({ accountId, id }: FileRef): string => `${accountId}/${id.slice(-2)}/${id}`;

/** Files of a folder of this machine, or of one that several machines share. */
export function createFolderFiles(folder: string): MediaFiles {
  const pathOf = (ref: FileRef): string => join(folder, placeOf(ref));
  return {
    async put(ref, path) {
      const to = pathOf(ref);
      await mkdir(dirname(to), { recursive: true, mode: 0o700 });
      await rename(path, to);
      await syncFolder(dirname(to));
    },
    async read(ref) {
      const path = pathOf(ref);
      try {
        const { size } = await stat(path);
        return { bytes: size, body: createReadStream(path) };
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
    async remove(ref) {
      await rm(pathOf(ref), { force: true });
    },
  };
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

/** A crash must not lose the name of a file whose upload was answered. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Objects below a prefix of a bucket. */
export function createBucketFiles(storage: ObjectStorage, prefix: string): MediaFiles {
  const keyOf = (ref: FileRef): string => prefix + placeOf(ref);
  return {
    put: (ref, path) => storage.putFile(keyOf(ref), path),
    read: (ref) => storage.get(keyOf(ref)),
    remove: (ref) => storage.delete(keyOf(ref)),
  };
}
