import { open, type FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { ObjectStorageError, type ObjectStorage, type StoredObject } from "./object-storage.ts";
import { S3Connection, type S3Options } from "./s3-request.ts";
import { elementsOf, escaped, textOf } from "./s3-xml.ts";

const PART_BYTES = 16 * 1024 * 1024;
const PARTS_MAX = 10_000;

/** A bucket of Amazon S3, or of a storage with the same protocol. */
export class S3Storage implements ObjectStorage {
  readonly #connection: S3Connection;
  readonly #partBytes: number;

  constructor(options: S3Options) {
    this.#connection = new S3Connection(options);
    this.#partBytes = options.partBytes ?? PART_BYTES;
  }

  async put(key: string, content: Uint8Array): Promise<void> {
    const body = new Uint8Array(content);
    await this.#connection.sendForText({ method: "PUT", key, body });
  }

  async putFile(key: string, path: string): Promise<void> {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      if (size <= this.#partBytes) await this.put(key, await readPart(file, 0, size));
      else await this.#putParts(key, file, size);
      await this.#verifySize(key, size);
    } finally {
      await file.close();
    }
  }

  async get(key: string): Promise<{ bytes: number; body: Readable } | null> {
    const response = await this.#unlessMissing(() => this.#connection.send({ method: "GET", key }));
    if (response === null) return null;
    const body = response.body ? Readable.fromWeb(response.body) : Readable.from([]);
    return { bytes: Number(response.headers.get("content-length")), body };
  }

  async list(prefix: string): Promise<StoredObject[]> {
    const pages = this.#pages({ "list-type": "2", prefix }, (xml) => ({
      "continuation-token": textOf(xml, "NextContinuationToken") ?? "",
    }));
    const objects: StoredObject[] = [];
    for await (const page of pages)
      for (const element of elementsOf(page, "Contents"))
        objects.push({ key: textOf(element, "Key") ?? "", bytes: Number(textOf(element, "Size")) });
    return objects;
  }

  async delete(key: string): Promise<void> {
    await this.#unlessMissing(() => this.#connection.sendForText({ method: "DELETE", key }));
  }

  async removeAbandonedUploads(prefix: string, before: number): Promise<number> {
    const pages = this.#pages({ uploads: "", prefix }, (xml) => ({
      "key-marker": textOf(xml, "NextKeyMarker") ?? "",
      "upload-id-marker": textOf(xml, "NextUploadIdMarker") ?? "",
    }));
    let removed = 0;
    for await (const page of pages)
      for (const element of elementsOf(page, "Upload")) {
        const key = textOf(element, "Key") ?? "";
        // A storage may ignore the prefix of this list.
        if (!key.startsWith(prefix) || !(Date.parse(textOf(element, "Initiated") ?? "") < before)) continue;
        await this.#abort(key, textOf(element, "UploadId") ?? "");
        removed += 1;
      }
    return removed;
  }

  /** Pages of a list of the bucket. */
  async *#pages(
    query: Record<string, string>,
    nextOf: (xml: string) => Record<string, string>,
  ): AsyncGenerator<string> {
    let next: Record<string, string> = {};
    for (;;) {
      const xml = await this.#connection.sendForText({ method: "GET", key: "", query: { ...query, ...next } });
      yield xml;
      if (textOf(xml, "IsTruncated") !== "true") return;
      const before = JSON.stringify(next);
      next = nextOf(xml);
      if (JSON.stringify(next) === before)
        throw new ObjectStorageError("BadList", "the object storage repeats a page of its list");
    }
  }

  /** One part after the other, so that memory holds a single one. */
  async #putParts(key: string, file: FileHandle, size: number): Promise<void> {
    const started = await this.#connection.sendForText({ method: "POST", key, query: { uploads: "" } });
    const uploadId = textOf(started, "UploadId");
    if (uploadId === null) throw new ObjectStorageError("NoUploadId", "the object storage started no upload");
    try {
      const partBytes = Math.max(this.#partBytes, Math.ceil(size / PARTS_MAX));
      const tags: string[] = [];
      for (let from = 0; from < size; from += partBytes) {
        const body = await readPart(file, from, Math.min(partBytes, size - from));
        const query = { partNumber: String(tags.length + 1), uploadId };
        const response = await this.#connection.send({ method: "PUT", key, query, body });
        await response.arrayBuffer();
        tags.push(response.headers.get("etag") ?? "");
      }
      await this.#complete(key, uploadId, tags);
    } catch (error) {
      // The storage keeps and charges for the parts of an upload until it is aborted. The first error is the one to report.
      await this.#abort(key, uploadId).catch(() => {});
      throw error;
    }
  }

  async #complete(key: string, uploadId: string, tags: readonly string[]): Promise<void> {
    const parts = tags.map(
      (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`,
    );
    const body = new Uint8Array(
      Buffer.from(`<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`, "utf8"),
    );
    try {
      const xml = await this.#connection.sendForText({ method: "POST", key, query: { uploadId }, body });
      // A storage that needs long begins with 200, and ends with the error.
      const code = elementsOf(xml, "Error").length > 0 ? (textOf(xml, "Code") ?? "Error") : null;
      if (code !== null) throw new ObjectStorageError(code, `the object storage did not complete the upload: ${code}`);
    } catch (error) {
      // The answer to an earlier attempt may have been lost; the size of the object then tells.
      if (!hasCode(error, "NoSuchUpload")) throw error;
    }
  }

  async #abort(key: string, uploadId: string): Promise<void> {
    await this.#unlessMissing(() => this.#connection.sendForText({ method: "DELETE", key, query: { uploadId } }));
  }

  async #verifySize(key: string, size: number): Promise<void> {
    const response = await this.#connection.send({ method: "HEAD", key });
    const stored = Number(response.headers.get("content-length"));
    if (stored !== size)
      throw new ObjectStorageError("WrongSize", `the object storage has ${stored} of ${size} bytes of ${key}`);
  }

  async #unlessMissing<T>(run: () => Promise<T>): Promise<T | null> {
    try {
      return await run();
    } catch (error) {
      if (hasCode(error, "NoSuchKey") || hasCode(error, "NoSuchUpload") || hasCode(error, "404")) return null;
      throw error;
    }
  }
}

const hasCode = (error: unknown, code: string): boolean => error instanceof ObjectStorageError && error.code === code;

/** Part of a file; throws if the file has become shorter. */
async function readPart(file: FileHandle, from: number, bytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const part = new Uint8Array(bytes);
  for (let filled = 0; filled < bytes;) {
    const { bytesRead } = await file.read(part, filled, bytes - filled, from + filled);
    if (bytesRead === 0) throw new Error("the file became shorter while it was uploaded");
    filled += bytesRead;
  }
  return part;
}
