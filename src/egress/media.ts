import type { ResponseHead } from "./response-head.ts";

const MEGABYTE = 1024 * 1024;

/** What a chat-app template can carry in its header. */
export type MediaKind = "image" | "video" | "document";

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
};

/** How servers say that they do not know what they serve. */
const UNTOLD = new Set([
  "application/octet-stream",
  "binary/octet-stream",
  "application/download",
  "application/force-download",
  "application/x-download",
]);

/** What a server told about a file; null for what it did not tell. */
export interface Found {
  type: string | null;
  bytes: number | null;
}

/** What silence tells. */
export const NOTHING: Found = { type: null, bytes: null };

/** "unknown" lets a link pass: only a violation that was seen is held against it. */
export type Verdict =
  | { kind: "fine" }
  | { kind: "unknown" }
  | { kind: "wrong type"; found: string }
  | { kind: "too large"; bytes: number };

/** Reads what an answer tells about the file; an error page or a redirect tells nothing. */
export function readMedia(head: ResponseHead): Found {
  if (head.status !== 200 && head.status !== 206) return NOTHING;
  return { type: readType(head.contentType ?? ""), bytes: readBytes(head) };
}

function readType(written: string): string | null {
  const type = written.split(";")[0]?.trim().toLowerCase() ?? "";
  return /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(type) && !UNTOLD.has(type) ? type : null;
}

function readBytes({ status, length, contentRange }: ResponseHead): number | null {
  const bytes = status === 206 ? Number(/^bytes \d+-\d+\/(\d+)$/.exec(contentRange ?? "")?.[1] ?? 0) : length;
  // No media is empty; servers that do not know the size say 0.
  return bytes > 0 ? Math.min(bytes, Number.MAX_SAFE_INTEGER) : null;
}

/** Holds what was found against the limits of the kind. */
export function judgeMedia(kind: MediaKind, { type, bytes }: Found): Verdict {
  const { types, bytesMax } = LIMITS[kind];
  if (type !== null && !types.includes(type)) return { kind: "wrong type", found: type };
  if (bytes !== null && bytes > bytesMax) return { kind: "too large", bytes };
  return type === null || bytes === null ? { kind: "unknown" } : { kind: "fine" };
}
