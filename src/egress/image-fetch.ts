import type { HttpSender } from "../http-client/client.ts";
import type { RequestObserver, RequestHandle } from "../http-client/connection.ts";
import type { ResponseHead } from "../http-client/response-head.ts";
import { readTarget } from "../http-client/write-request.ts";
import type { Clock } from "../lib/clock.ts";

const BYTES_MAX = 2 * 1024 * 1024;
const LIMIT_MS = 5000;
const CACHE_MS = 60_000;
const CACHE_BYTES_MAX = 16 * 1024 * 1024;
/** Entries without a picture take no bytes of the cache. */
const CACHE_ENTRIES_MAX = 500;
const CONCURRENCY_MAX = 8;

/** A picture whose first bytes say what it is. */
interface Picture {
  type: string;
  bytes: Buffer;
}

interface ImageFetchDeps {
  /** Guarded against SSRF, and it follows no redirects: a public address cannot lead to a private one. */
  egress: HttpSender;
  clock: Clock;
}

/** Fetches pictures of other servers for the dashboard, whose pages make no requests to foreign hosts. */
export interface ImageFetch {
  /** Null if there is no picture: a refused address, an error, another kind of file, too large, too slow, or too many at once. */
  fetch(link: string): Promise<Picture | null>;
}

interface CacheEntry {
  found: Picture | null;
  until: number;
}

export function createImageFetch({ egress, clock }: ImageFetchDeps): ImageFetch {
  const cache = new Map<string, CacheEntry>();
  const pending = new Map<string, Promise<Picture | null>>();
  let cachedBytes = 0;

  function forget(link: string): void {
    cachedBytes -= cache.get(link)?.found?.bytes.length ?? 0;
    cache.delete(link);
  }

  function store(link: string, found: Picture | null): void {
    forget(link);
    cache.set(link, { found, until: clock.monotonic() + CACHE_MS });
    cachedBytes += found?.bytes.length ?? 0;
    for (const oldest of cache.keys()) {
      if (cachedBytes <= CACHE_BYTES_MAX && cache.size <= CACHE_ENTRIES_MAX) break;
      forget(oldest);
    }
  }

  return {
    async fetch(link) {
      const known = cache.get(link);
      if (known && known.until > clock.monotonic()) return known.found;
      const shared = pending.get(link);
      if (shared) return shared;
      if (pending.size >= CONCURRENCY_MAX) return null;
      const fetching = download({ egress, clock }, link).then((found) => {
        pending.delete(link);
        store(link, found);
        return found;
      });
      pending.set(link, fetching);
      return fetching;
    },
  };
}

function download({ egress, clock }: ImageFetchDeps, link: string): Promise<Picture | null> {
  const target = URL.canParse(link) ? readTarget(link) : null;
  if (!target) return Promise.resolve(null);
  return new Promise((resolve) => {
    const reader = new PictureReader(clock, resolve);
    // Compressed bytes would pass the limit before they are unpacked, and pictures are compressed already.
    const headers = { accept: "image/*", "accept-encoding": "identity" };
    try {
      egress.send(target, { method: "GET", headers, body: null, thenClose: true }, reader);
    } catch (error) {
      reader.onFailure(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/** Collects a body within its limits. It ends at the first bytes that are no picture. */
class PictureReader implements RequestObserver {
  readonly #settle: (picture: Picture | null) => void;
  readonly #cancelLimit: () => void;
  readonly #parts: Buffer[] = [];
  #length = 0;
  #isGood = false;
  #handle: RequestHandle | null = null;
  #isOver = false;

  constructor(clock: Clock, settle: (picture: Picture | null) => void) {
    this.#settle = settle;
    this.#cancelLimit = clock.after(LIMIT_MS, () => this.#end(null));
  }

  isWaiting(): boolean {
    return !this.#isOver;
  }

  onConnected(handle: RequestHandle): void {
    this.#handle = handle;
  }

  onHead({ status, length }: ResponseHead): void {
    this.#isGood = status === 200 && length <= BYTES_MAX;
    if (!this.#isGood) this.#end(null);
  }

  onBody(part: Buffer): void {
    if (this.#isOver) return;
    this.#length += part.length;
    // The client reuses its buffer.
    this.#parts.push(Buffer.from(part));
    if (this.#length > BYTES_MAX) return this.#end(null);
    const [first] = this.#parts;
    if (first && first.length >= SIGNATURE_BYTES && pictureTypeOf(first) === null) this.#end(null);
  }

  onEnd(): void {
    const bytes = Buffer.concat(this.#parts);
    const type = this.#isGood ? pictureTypeOf(bytes) : null;
    this.#end(type === null ? null : { type, bytes });
  }

  onFailure(_error: Error): void {
    this.#end(null);
  }

  #end(picture: Picture | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelLimit();
    if (picture === null) this.#handle?.abort(this);
    this.#settle(picture);
  }
}

const SIGNATURE_BYTES = 12;

/**
 * The type that the first bytes prove; what the other server says is not trusted. SVG is left out: it is a document that can
 * hold scripts.
 */
export function pictureTypeOf(bytes: Buffer): string | null {
  const text = bytes.toString("latin1", 0, SIGNATURE_BYTES);
  if (text.startsWith("\u0089PNG\r\n\u001A\n")) return "image/png";
  if (text.startsWith("\u00FF\u00D8\u00FF")) return "image/jpeg";
  if (/^GIF8[79]a/.test(text)) return "image/gif";
  if (/^RIFF[^]{4}WEBP/.test(text)) return "image/webp";
  return null;
}
