import { readFile, stat } from "node:fs/promises";
import { shareBody, type SharedBody } from "../shared-body.ts";

/** Output folder of `scripts/build-dashboard.mjs`, with the guides of `scripts/build-docs.mjs`. */
const BUILT = new URL("../../../dashboard/dist/", import.meta.url);

/** Names of built files: no folder and no leading dot (path traversal). */
const FILE_NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/;

interface Cached {
  version: string;
  body: Promise<SharedBody>;
}

/** Requested files: a few hundred at most, 4 MB in all. */
const cache = new Map<string, Cached>();

/** A built file, read once per build; null if it does not exist. */
export async function readBuilt(folder: "" | "assets/" | "docs/", name: string): Promise<SharedBody | null> {
  if (!FILE_NAME.test(name)) return null;
  const path = folder + name;
  const version = await versionOf(path);
  if (version === null) {
    cache.delete(path);
    return null;
  }
  const cached = cache.get(path);
  if (cached?.version === version) return cached.body;
  const body = load(path);
  cache.set(path, { version, body });
  // The next request retries a file that could not be read.
  body.catch(() => cache.delete(path));
  return body;
}

async function load(path: string): Promise<SharedBody> {
  const [identity, br, gzip] = await Promise.all([
    readFile(new URL(path, BUILT)),
    readIfExists(`${path}.br`),
    readIfExists(`${path}.gz`),
  ]);
  return shareBody(identity, { br, gzip });
}

const versionOf = (path: string): Promise<string | null> =>
  nullIfMissing(
    stat(new URL(path, BUILT)).then((file) => (file.isFile() ? `${file.ino} ${file.mtimeMs} ${file.size}` : null)),
  );

const readIfExists = (path: string): Promise<Buffer | null> => nullIfMissing(readFile(new URL(path, BUILT)));

async function nullIfMissing<T>(operation: Promise<T>): Promise<T | null> {
  try {
    return await operation;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
