import { createWriteStream, readdirSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { BucketUrl } from "../object-storage/bucket-url.ts";
import type { ObjectStorage } from "../object-storage/object-storage.ts";
import { S3Storage } from "../object-storage/s3.ts";
import type { S3Options } from "../object-storage/s3-request.ts";
import {
  BadBackup,
  compareNames,
  counting,
  DATABASE,
  isBackupName,
  MANIFEST,
  readManifest,
  timeOf,
  WRAPPED_KEY,
  type Manifest,
  type OnBytes,
} from "./manifest.ts";

/** A place for backups in a bucket. It can be given to a thread. */
export interface BackupBucket extends Pick<BucketUrl, "prefix"> {
  s3: S3Options;
}

/** An upload in progress is younger. */
const ABANDONED_MS = 86_400_000;
const SMALL_BYTES = 1024 * 1024;

const storageOf = ({ s3 }: BackupBucket): ObjectStorage => new S3Storage(s3);

/** Address of a backup, as an operator writes it. */
export const addressOf = ({ s3, prefix }: BackupBucket, name: string): string => `s3://${s3.bucket}/${prefix}${name}`;

/** Keys below the prefix by the name of their backup; other objects of the bucket are left out. */
async function keysByName({ prefix }: BackupBucket, storage: ObjectStorage): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const { key } of await storage.list(`${prefix}heliograph-`)) {
    const [name = "", ...rest] = key.slice(prefix.length).split("/");
    if (!isBackupName(name) || rest.length !== 1) continue;
    found.set(name, [...(found.get(name) ?? []), key]);
  }
  return found;
}

const isWhole = (keys: readonly string[]): boolean => keys.some((key) => key.endsWith(`/${MANIFEST}`));

const wholeNames = (keys: ReadonlyMap<string, string[]>): string[] =>
  [...keys].flatMap(([name, found]) => (isWhole(found) ? [name] : [])).toSorted(compareNames);

/** Names of the whole backups in a bucket, oldest first. */
export const listStored = async (bucket: BackupBucket): Promise<string[]> =>
  wholeNames(await keysByName(bucket, storageOf(bucket)));

/**
 * Uploads the folder of a backup. The manifest goes last: without it the objects are no backup, so an upload that ends early
 * leaves none that looks whole. Returns the address.
 */
export async function uploadBackup(bucket: BackupBucket, folder: string, name: string): Promise<string> {
  const storage = storageOf(bucket);
  const taken = await keysByName(bucket, storage);
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name}-${number}`;
  const files = readdirSync(folder).filter((file) => file !== MANIFEST);
  for (const file of [...files, MANIFEST]) await storage.putFile(`${bucket.prefix}${free}/${file}`, join(folder, file));
  return addressOf(bucket, free);
}

/** Deletes the oldest backups beyond a number, and the remains of uploads that were interrupted a day ago. */
export async function pruneStored(bucket: BackupBucket, keep: number, now: number): Promise<string[]> {
  const storage = storageOf(bucket);
  const keys = await keysByName(bucket, storage);
  const surplus = wholeNames(keys).slice(0, -keep);
  const remains = [...keys].flatMap(([name, found]) =>
    !isWhole(found) && timeOf(name) < now - ABANDONED_MS ? [name] : [],
  );
  for (const name of [...remains, ...surplus]) {
    const found = keys.get(name) ?? [];
    // The manifest first, for the same reason as in an upload.
    const manifestFirst = found.toSorted(
      (one, other) => Number(other.endsWith(MANIFEST)) - Number(one.endsWith(MANIFEST)),
    );
    for (const key of manifestFirst) await storage.delete(key);
  }
  await storage.removeAbandonedUploads(`${bucket.prefix}heliograph-`, now - ABANDONED_MS);
  return surplus;
}

/**
 * Downloads a backup into an empty folder. A restore checks its contents. `check` sees the manifest first, so that a large
 * download does not precede a refusal.
 */
export async function downloadBackup(
  bucket: BackupBucket,
  folder: string,
  check: (manifest: Manifest) => void,
  onBytes?: OnBytes,
): Promise<void> {
  const storage = storageOf(bucket);
  const address = addressOf(bucket, "");
  const download = async (file: string, maxBytes: number, onBytesOfFile?: OnBytes): Promise<void> => {
    const object = await storage.get(bucket.prefix + file);
    if (object === null) throw new BadBackup(`${address}${file} is missing`);
    if (object.bytes > maxBytes) throw new BadBackup(`${address}${file} has more bytes than the backup had`);
    const target = createWriteStream(join(folder, file), { mode: 0o600, flags: "wx", flush: true });
    await pipeline(object.body, counting(onBytesOfFile), target);
  };
  await download(MANIFEST, SMALL_BYTES);
  const manifest = readManifest(folder);
  check(manifest);
  const { database, masterKey } = manifest;
  // The names are ours, because those in a manifest could lead out of the folder.
  if (masterKey) await download(WRAPPED_KEY, SMALL_BYTES);
  if (database) await download(DATABASE, database.bytes, onBytes);
}
