import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { CarrierMedia, HandOver } from "../carriers/carrier-media.ts";
import type { FileTransfer } from "../egress/file-transfer.ts";
import type { Clock } from "../lib/clock.ts";
import type { MediaStore } from "../store/media.ts";
import type { MediaLibrary } from "./library.ts";
import type { MediaTokens } from "./signed-url.ts";

interface CarrierMediaDeps {
  store: MediaStore;
  library: Pick<MediaLibrary, "read">;
  tokens: MediaTokens;
  transfer: FileTransfer;
  clock: Clock;
  baseUrl(): string;
}

/** A signed URL is valid for one to two of these. Within one, it stays the same, so that a platform can cache the file. */
const URL_STEP_MS = 4 * 3_600_000;
/** Ids of this process, in front of those in the store. */
const KNOWN_MAX = 5000;

/** Media for carriers: uploads are remembered for all nodes in the store, and shared within this process. */
export function createCarrierMedia({
  store,
  library,
  tokens,
  transfer,
  clock,
  baseUrl,
}: CarrierMediaDeps): CarrierMedia {
  const known = new Map<string, { result: Promise<HandOver>; until: number }>();

  async function upload(
    ref: { accountId: number; id: string },
    place: string,
    run: () => Promise<HandOver>,
  ): Promise<HandOver> {
    const now = clock.now();
    const platformId = await store.findMediaUpload(ref, place, now);
    if (platformId !== null) return { kind: "taken", platformId, lifeMs: URL_STEP_MS };
    const result = await run();
    if (result.kind === "taken")
      await store.keepMediaUpload(ref, { place, platformId: result.platformId, expiresAt: now + result.lifeMs });
    return result;
  }

  return {
    async find(ref) {
      const media = await store.findMedia(ref);
      return media?.state === "ready" ? media : null;
    },

    signedUrl(ref) {
      const expiresAt = (Math.floor(clock.now() / URL_STEP_MS) + 2) * URL_STEP_MS;
      return `${baseUrl()}/media/${tokens.create(ref, expiresAt)}`;
    },

    async handOver(ref, place, run) {
      const key = `${ref.accountId} ${ref.id} ${place}`;
      const shared = known.get(key);
      if (shared && clock.monotonic() < shared.until) return shared.result;
      const entry = { result: upload(ref, place, run), until: Infinity };
      known.delete(key);
      known.set(key, entry);
      const [oldest] = known.keys();
      if (known.size > KNOWN_MAX && oldest !== undefined) known.delete(oldest);
      const isKept = (result: HandOver | null): boolean => result?.kind === "taken";
      const result = await entry.result.catch((error: unknown) => {
        known.delete(key);
        throw error;
      });
      if (isKept(result)) entry.until = clock.monotonic() + URL_STEP_MS;
      else known.delete(key);
      return result;
    },

    async forget(ref, place) {
      known.delete(`${ref.accountId} ${ref.id} ${place}`);
      await store.keepMediaUpload(ref, { place, platformId: "", expiresAt: 0 });
    },

    async postForm(file, { url, headers, fields, limitMs }) {
      const found = await library.read(file);
      if (!found) throw new Error("the storage does not have the bytes of the file");
      const boundary = randomUUID();
      const fieldParts = Object.entries(fields).map(
        ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      );
      // Only the extension of a name tells the platform something; the phone shows the name of the message.
      const before = Buffer.from(
        `${fieldParts.join("")}--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="file"\r\ncontent-type: ${file.type}\r\n\r\n`,
      );
      const after = Buffer.from(`\r\n--${boundary}--\r\n`);
      async function* whole(body: Readable): AsyncGenerator<Buffer> {
        yield before;
        yield* body as AsyncIterable<Buffer>;
        yield after;
      }
      return transfer.post(url, {
        headers: { ...headers, "content-type": `multipart/form-data; boundary=${boundary}` },
        body: Readable.from(whole(found.body)),
        bytes: before.length + found.bytes + after.length,
        limitMs,
      });
    },
  };
}
