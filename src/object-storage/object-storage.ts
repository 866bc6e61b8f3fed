import type { Readable } from "node:stream";

export interface StoredObject {
  key: string;
  bytes: number;
}

/** A bucket of an object storage. Calls retry by themselves what may succeed later. */
export interface ObjectStorage {
  /** Stores content that fits into memory; an object of that key is replaced. */
  put(key: string, content: Uint8Array): Promise<void>;
  /** Stores a file of any size with bounded memory. The object exists whole or not at all. */
  putFile(key: string, path: string): Promise<void>;
  /** Null if there is no such object. */
  get(key: string): Promise<{ bytes: number; body: Readable } | null>;
  /** Objects whose key begins with a prefix, by key. */
  list(prefix: string): Promise<StoredObject[]>;
  /** An object that is not there counts as deleted. */
  delete(key: string): Promise<void>;
  /** Removes the parts of uploads that began before a time and never ended; returns how many uploads these were. */
  removeAbandonedUploads(prefix: string, before: number): Promise<number>;
}

/** The storage refused a request, or could not be reached. Its message names neither the credentials nor the signature. */
export class ObjectStorageError extends Error {
  override name = "ObjectStorageError";
  /** The storage's code, such as NoSuchBucket, or that of the connection, such as ECONNREFUSED. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
