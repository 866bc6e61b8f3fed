import { createHash } from "node:crypto";
import {
  closeSync,
  createReadStream,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  existsSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { FileContents } from "../store/sqlite/copy.ts";

export const MANIFEST = "manifest.json";
export const DATABASE = "heliograph.db";
export const WRAPPED_KEY = "master-key.json";

const FORMAT = 1;

/** Describes a backup folder, and lets a restore check it. */
export interface Manifest {
  format: typeof FORMAT;
  /** Version of Heliograph that wrote it. */
  version: string;
  commit: string | null;
  engine: "sqlite" | "postgres";
  /** The moment of the snapshot: later changes are not in it. */
  createdAt: string;
  /** Null on PostgreSQL, which has its own tools. */
  database: ({ file: typeof DATABASE; bytes: number; sha256: string } & FileContents) | null;
  /** Null if the key is kept elsewhere. */
  masterKey: { file: typeof WRAPPED_KEY; sha256: string } | null;
  /** Identifies the master key that the database needs; null for a database that has none yet. */
  masterKeyFingerprint: string | null;
}

/** The folder is no backup, is not whole, or was changed. */
export class BadBackup extends Error {
  override name = "BadBackup";
}

export const newManifest = (facts: Omit<Manifest, "format">): Manifest => ({ format: FORMAT, ...facts });

export function readManifest(folder: string): Manifest {
  const file = join(folder, MANIFEST);
  if (!existsSync(file)) throw new BadBackup(`${folder} is no backup: there is no ${MANIFEST} in it`);
  let manifest: Partial<Manifest>;
  try {
    manifest = JSON.parse(readFileSync(file, "utf8")) as Partial<Manifest>;
  } catch (error) {
    throw new BadBackup(`${file} is no JSON`, { cause: error });
  }
  if (manifest.format !== FORMAT)
    throw new BadBackup(`${file} has format ${manifest.format}; this release reads format ${FORMAT}`);
  return manifest as Manifest;
}

export async function sha256Of(file: string, onBytes?: OnBytes): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), counting(onBytes), hash);
  return hash.digest("hex");
}

/** Receives the bytes that have passed so far. */
export type OnBytes = (bytes: number) => void;

/** A step of a pipeline that reports how many bytes have passed. */
export function counting(onBytes: OnBytes = () => {}): (source: AsyncIterable<Buffer>) => AsyncGenerator<Buffer> {
  return async function* count(source) {
    let bytes = 0;
    for await (const chunk of source) {
      bytes += chunk.length;
      onBytes(bytes);
      yield chunk;
    }
  };
}

/** Makes a file, or the names in a folder, survive a power failure. */
export function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const NAME = /^heliograph-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z(?:-\d+)?$/;

/** The name of a backup: its time in UTC, so that names sort by age. */
export const nameOf = (at: number): string => `heliograph-${new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;

/** Time of a backup by its name. */
export function timeOf(name: string): number {
  const [, year, month, day, hour, minute, second] = NAME.exec(name) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

export const isBackupName = (name: string): boolean => NAME.test(name);

/** Orders names of backups by age. */
export const compareNames = (one: string, other: string): number =>
  timeOf(one) - timeOf(other) || one.localeCompare(other, "en", { numeric: true });

/** Names of the whole backups in a folder, oldest first. */
export function listBackups(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder)
    .filter((name) => isBackupName(name) && existsSync(join(folder, name, MANIFEST)))
    .toSorted(compareNames);
}
