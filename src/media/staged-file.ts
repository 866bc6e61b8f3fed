import { createHash } from "node:crypto";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { SNIFFED_BYTES, typesOf } from "./sniff.ts";

/** A file that was received whole and belongs to no account yet. */
export interface StagedFile {
  path: string;
  size: number;
  /** In hexadecimal. */
  sha256: string;
  /** Types that the content can have, the likeliest first. */
  types: readonly string[];
}

/** The content passed its limit; the rest was not read. */
export class FileTooLarge extends Error {
  override name = "FileTooLarge";
}

/**
 * Writes a stream to a file, synced to disk. Memory holds one chunk and the ends of the file. A stream that fails or passes the limit
 * leaves no file.
 */
export async function stageFile(
  folder: string,
  id: string,
  source: AsyncIterable<Buffer>,
  bytesMax: number,
): Promise<StagedFile> {
  const path = join(folder, id);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await open(path, "wx", 0o600);
  const hash = createHash("sha256");
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);
  let size = 0;
  try {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > bytesMax) throw new FileTooLarge();
      hash.update(chunk);
      if (head.length < SNIFFED_BYTES) head = Buffer.concat([head, chunk.subarray(0, SNIFFED_BYTES - head.length)]);
      // A copy: the sender's buffer may be used again.
      tail = Buffer.concat([tail, chunk]).subarray(-SNIFFED_BYTES);
      await file.writeFile(chunk);
    }
    await file.sync();
    await file.close();
  } catch (error) {
    await file.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
  return { path, size, sha256: hash.digest("hex"), types: typesOf(head, tail) };
}
