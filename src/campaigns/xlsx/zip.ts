import { Readable } from "node:stream";
import { createInflateRaw } from "node:zlib";
import { BadSpreadsheet } from "./bad-spreadsheet.ts";

/** Bytes of a file, by their place. */
export interface ByteSource {
  size: number;
  /** Fewer bytes than asked for only at the end. */
  read(offset: number, length: number): Promise<Buffer>;
}

export interface ZipEntry {
  name: string;
  method: number;
  /** Bytes in the archive. */
  packedBytes: number;
  /** Offset of its local header. */
  offset: number;
}

const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;
const COMMENT_MAX = 65_535;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_SIGNATURE = 0x04034b50;
const LOCAL_BYTES = 30;
const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED = 1;
/** A workbook has a few dozen entries. */
const DIRECTORY_MAX = 1_048_576;
const ENTRIES_MAX = 5000;
const CHUNK_BYTES = 65_536;

/** The entries by name. The last of a name counts, as for spreadsheet programs. */
export async function readZip(source: ByteSource): Promise<ReadonlyMap<string, ZipEntry>> {
  const tailAt = Math.max(0, source.size - END_BYTES - COMMENT_MAX);
  const tail = await source.read(tailAt, source.size - tailAt);
  const end = lastEnd(tail);
  const count = tail.readUInt16LE(end + 10);
  const bytes = tail.readUInt32LE(end + 12);
  const begin = tail.readUInt32LE(end + 16);
  // ZIP64 has its values elsewhere, and begins at sizes that no upload has.
  if (count > ENTRIES_MAX || bytes > DIRECTORY_MAX || begin + bytes > source.size)
    throw new BadSpreadsheet("SPREADSHEET");
  const directory = await source.read(begin, bytes);
  const entries = new Map<string, ZipEntry>();
  for (let at = 0, read = 0; read < count; read += 1) {
    if (at + ENTRY_BYTES > directory.length || directory.readUInt32LE(at) !== ENTRY_SIGNATURE)
      throw new BadSpreadsheet("SPREADSHEET");
    const nameBytes = directory.readUInt16LE(at + 28);
    const name = directory.toString("utf8", at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    const method = directory.readUInt16LE(at + 10);
    const isReadable = (directory.readUInt16LE(at + 8) & ENCRYPTED) === 0 && (method === STORED || method === DEFLATED);
    if (!isReadable) throw new BadSpreadsheet("SPREADSHEET");
    const packedBytes = directory.readUInt32LE(at + 20);
    entries.set(name, { name, method, packedBytes, offset: directory.readUInt32LE(at + 42) });
    at += ENTRY_BYTES + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
}

/** Offset of the end record, which a comment may follow. */
function lastEnd(tail: Buffer): number {
  for (let at = tail.length - END_BYTES; at >= 0; at -= 1)
    if (tail.readUInt32LE(at) === END_SIGNATURE && at + END_BYTES + tail.readUInt16LE(at + 20) === tail.length)
      return at;
  throw new BadSpreadsheet("SPREADSHEET");
}

/**
 * The bytes of an entry, unpacked as they are read. Sizes that the archive states are not trusted (ZIP bomb): more than
 * `bytesMax` unpacked bytes end it.
 */
export async function* unpack(source: ByteSource, entry: ZipEntry, bytesMax: number): AsyncGenerator<Buffer, void> {
  const header = await source.read(entry.offset, LOCAL_BYTES);
  if (header.length < LOCAL_BYTES || header.readUInt32LE(0) !== LOCAL_SIGNATURE)
    throw new BadSpreadsheet("SPREADSHEET");
  const begin = entry.offset + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (begin + entry.packedBytes > source.size) throw new BadSpreadsheet("SPREADSHEET");
  const packed = chunksOf(source, begin, entry.packedBytes);
  const chunks = entry.method === STORED ? packed : inflated(packed);
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new BadSpreadsheet("SPREADSHEET_TOO_LARGE");
    yield chunk;
  }
}

async function* chunksOf(source: ByteSource, begin: number, length: number): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < length;) {
    const chunk = await source.read(begin + at, Math.min(CHUNK_BYTES, length - at));
    if (chunk.length === 0) throw new BadSpreadsheet("SPREADSHEET");
    at += chunk.length;
    yield chunk;
  }
}

async function* inflated(packed: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
  const inflate = createInflateRaw({ chunkSize: CHUNK_BYTES });
  const input = Readable.from(packed);
  // An error of the source ends the output too.
  input.once("error", (error) => inflate.destroy(error));
  try {
    for await (const chunk of input.pipe(inflate)) yield chunk as Buffer;
  } catch (error) {
    if (isZlibError(error)) throw new BadSpreadsheet("SPREADSHEET");
    throw error;
  } finally {
    input.destroy();
    inflate.destroy();
  }
}

const isZlibError = (error: unknown): boolean =>
  error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
