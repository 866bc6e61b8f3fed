import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import { ObjectStorageError } from "./object-storage.ts";
import { textOf } from "./s3-xml.ts";

export interface S3Options {
  /** Base URL of a storage; null for Amazon's. */
  endpoint: string | null;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Belongs to temporary credentials. */
  sessionToken: string | null;
  /** Pause before the first retry; it doubles each time. */
  retryMs?: number;
  /** Size of a part, and of the largest object that is sent in one request. */
  partBytes?: number;
}

export interface S3Request {
  method: "GET" | "PUT" | "POST" | "DELETE" | "HEAD";
  /** Empty for the bucket itself. */
  key: string;
  query?: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
}

const ATTEMPTS = 5;
const RETRY_MS = 500;
/** A part of 16 MiB takes that long at 56 kB/s. */
const TIMEOUT_MS = 300_000;
/** A page of a listing has at most 1,000 keys of 1 KB. */
const TEXT_MAX_BYTES = 8 * 1024 * 1024;
const MESSAGE_MAX = 200;
const DEFAULT_REGION_HOST = "amazonaws.com";

/** Requests with signature version 4, repeated if the storage or the network fails. */
export class S3Connection {
  readonly #options: S3Options;
  readonly #base: string;

  constructor(options: S3Options) {
    this.#options = options;
    this.#base = baseOf(options);
  }

  /** The successful answer. With the body, the signature covers its hash, so the storage refuses a damaged one. */
  async send(request: S3Request): Promise<Response> {
    const retryMs = this.#options.retryMs ?? RETRY_MS;
    for (let attempt = 1; ; attempt += 1) {
      const result = await this.#try(request);
      if (!(result instanceof Failed)) return result;
      if (!result.isTemporary || attempt === ATTEMPTS) throw result.error;
      await pause(retryMs * 2 ** (attempt - 1) * (0.8 + 0.4 * Math.random()));
    }
  }

  async sendForText(request: S3Request): Promise<string> {
    return textFrom(await this.send(request));
  }

  async #try(request: S3Request): Promise<Response | Failed> {
    const what = `${request.method} ${request.key || "bucket"}`;
    const cancel = new AbortController();
    const timer = setTimeout(() => cancel.abort(), TIMEOUT_MS);
    try {
      const { url, headers } = await this.#sign(request);
      const { method, body = null } = request;
      // A redirect would lead the credentials' signature and the content to another host.
      const response = await fetch(url, { method, headers, body, redirect: "manual", signal: cancel.signal });
      return response.ok ? response : await refusalOf(response, what);
    } catch (error) {
      const { code = "NO_RESPONSE" } = ((error as Error).cause ?? {}) as { code?: string };
      const message = `the object storage gave no answer to ${what} (${cancel.signal.aborted ? "time-out" : code})`;
      return new Failed(new ObjectStorageError(code, message, { cause: error }), true);
    } finally {
      clearTimeout(timer);
    }
  }

  #sign({ method, key, query = {}, body }: S3Request): Promise<{ url: URL; headers: Headers }> {
    const { accessKeyId, secretAccessKey, sessionToken, region } = this.#options;
    const url = new URL(`${this.#base}/${key.split("/").map(encodeURIComponent).join("/")}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return new AwsV4Signer({
      method,
      url: url.href,
      headers: {
        "x-amz-content-sha256": createHash("sha256")
          .update(body ?? "")
          .digest("hex"),
      },
      service: "s3",
      region,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== null && { sessionToken }),
    }).sign();
  }
}

/** A storage of one's own seldom has a host name for each bucket; Amazon asks for it, unless dots break its certificate. */
function baseOf({ endpoint, region, bucket }: S3Options): string {
  if (endpoint !== null) return `${endpoint.replace(/\/+$/, "")}/${bucket}`;
  const host = `s3.${region}.${DEFAULT_REGION_HOST}`;
  return bucket.includes(".") ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
}

class Failed {
  readonly error: ObjectStorageError;
  readonly isTemporary: boolean;

  constructor(error: ObjectStorageError, isTemporary: boolean) {
    this.error = error;
    this.isTemporary = isTemporary;
  }
}

async function refusalOf(response: Response, what: string): Promise<Failed> {
  const { status, headers } = response;
  const xml = await textFrom(response).catch(() => "");
  const code = textOf(xml, "Code") ?? String(status);
  const region = headers.get("x-amz-bucket-region");
  const isElsewhere = (status >= 300 && status < 400) || code === "AuthorizationHeaderMalformed";
  const hint = isElsewhere && region !== null ? `; the bucket is in the region ${region}` : "";
  // Other parts of the answer repeat the access key and the signed text.
  const explanation = oneLine(textOf(xml, "Message") ?? "");
  const message = `the object storage answered ${status} ${code} to ${what}${explanation && `: ${explanation}`}${hint}`;
  return new Failed(new ObjectStorageError(code, message), status >= 500 || status === 429 || status === 408);
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, MESSAGE_MAX).trim();

async function textFrom(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > TEXT_MAX_BYTES) throw new ObjectStorageError("TOO_LONG", "the object storage answered with too much");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
