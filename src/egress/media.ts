import type { ResponseHead } from "../http-client/response-head.ts";

const MEGABYTE = 1024 * 1024;

/** Kinds of media in chat-app messages. */
export type MediaKind = "image" | "video" | "document" | "audio" | "sticker";

const LIMITS: Record<MediaKind, { types: readonly string[]; bytesMax: number }> = {
  image: { types: ["image/jpeg", "image/jpg", "image/png"], bytesMax: 5 * MEGABYTE },
  video: { types: ["video/mp4", "video/3gpp", "video/3gp"], bytesMax: 16 * MEGABYTE },
  document: {
    types: [
      "application/pdf",
      "application/msword",
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
      "application/vnd.ms-excel",
      "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
      "application/vnd.ms-powerpoint",
      "application/vnd.openxmlformats-officedocument.presentationml.presentation",
      "text/plain",
    ],
    bytesMax: 100 * MEGABYTE,
  },
  audio: {
    // Servers have several names for one kind of file.
    types: [
      "audio/aac",
      "audio/amr",
      "audio/mpeg",
      "audio/mp3",
      "audio/mp4",
      "audio/m4a",
      "audio/x-m4a",
      "video/mp4",
      "audio/ogg",
      "audio/opus",
      "application/ogg",
    ],
    bytesMax: 16 * MEGABYTE,
  },
  sticker: { types: ["image/webp"], bytesMax: 500 * 1024 },
};

/** Content types that servers send for unknown files. */
const GENERIC_TYPES = new Set([
  "application/octet-stream",
  "binary/octet-stream",
  "application/download",
  "application/force-download",
  "application/x-download",
]);

/** Type and size by the server's headers; null if absent. */
export interface MediaFacts {
  type: string | null;
  bytes: number | null;
}

export const NO_FACTS: MediaFacts = { type: null, bytes: null };

/** "unknown" accepts the link: only a proven violation is refused. */
export type MediaVerdict =
  | { kind: "fine" }
  | { kind: "unknown" }
  | { kind: "wrong type"; found: string }
  | { kind: "too large"; bytes: number; bytesMax: number };

/** Error responses and redirects carry no facts. */
export function readMedia(head: ResponseHead): MediaFacts {
  if (head.status !== 200 && head.status !== 206) return NO_FACTS;
  return { type: readType(head.contentType ?? ""), bytes: readBytes(head) };
}

function readType(written: string): string | null {
  const type = written.split(";")[0]?.trim().toLowerCase() ?? "";
  return /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(type) && !GENERIC_TYPES.has(type) ? type : null;
}

function readBytes({ status, length, contentRange }: ResponseHead): number | null {
  const bytes = status === 206 ? Number(/^bytes \d+-\d+\/(\d+)$/.exec(contentRange ?? "")?.[1] ?? 0) : length;
  // Media is never empty; servers that do not know the size send 0.
  return bytes > 0 ? Math.min(bytes, Number.MAX_SAFE_INTEGER) : null;
}

/** Compares the facts with the limits of the media kind. */
export function classifyMedia(kind: MediaKind, { type, bytes }: MediaFacts): MediaVerdict {
  const { types, bytesMax } = LIMITS[kind];
  if (type !== null && !types.includes(type)) return { kind: "wrong type", found: type };
  if (bytes !== null && bytes > bytesMax) return { kind: "too large", bytes, bytesMax };
  return type === null || bytes === null ? { kind: "unknown" } : { kind: "fine" };
}
