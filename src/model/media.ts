import type { FileType } from "./chat-session.ts";

/** Files of an account: uploaded for messages, or sent by users. */

/**
 * `pending`: a user's file that is still on the platform. `storing`: bytes are on their way into the storage. `failed`: a user's
 * file that could not be fetched. `deleting`: hidden, until a job has removed the bytes.
 */
export const MEDIA_STATES = ["pending", "storing", "ready", "failed", "deleting"] as const;
export type MediaState = (typeof MEDIA_STATES)[number];

export interface StoredMedia {
  accountId: number;
  id: string;
  /** Uploaded with a test key, or sent by a phone of one. */
  test: boolean;
  state: MediaState;
  /** By the content; while it is not fetched, as the platform says. */
  type: string;
  /** Bytes; 0 while it is not fetched. */
  size: number;
  /** Digest of the content in hexadecimal; empty while it is not fetched. */
  sha256: string;
  name: string | null;
  /** The inbound message that brought it; null for an upload. */
  inboundId: string | null;
  /** Why a user's file could not be fetched. */
  failure: string | null;
  createdAt: number;
  /** Null as long as the inbound message is kept. */
  expiresAt: number | null;
}

const MEGABYTE = 1024 * 1024;

/** Types of content with their kind and size, the largest that any platform takes. */
export const MEDIA_TYPES: Readonly<Record<string, { kind: FileType; bytesMax: number }>> = {
  "image/jpeg": { kind: "image", bytesMax: 5 * MEGABYTE },
  "image/png": { kind: "image", bytesMax: 5 * MEGABYTE },
  "image/gif": { kind: "image", bytesMax: 5 * MEGABYTE },
  "image/webp": { kind: "sticker", bytesMax: MEGABYTE / 2 },
  "video/mp4": { kind: "video", bytesMax: 100 * MEGABYTE },
  "video/3gpp": { kind: "video", bytesMax: 100 * MEGABYTE },
  "video/webm": { kind: "video", bytesMax: 100 * MEGABYTE },
  "audio/aac": { kind: "audio", bytesMax: 16 * MEGABYTE },
  "audio/amr": { kind: "audio", bytesMax: 16 * MEGABYTE },
  "audio/mpeg": { kind: "audio", bytesMax: 16 * MEGABYTE },
  "audio/mp4": { kind: "audio", bytesMax: 16 * MEGABYTE },
  "audio/ogg": { kind: "audio", bytesMax: 16 * MEGABYTE },
  "application/pdf": { kind: "document", bytesMax: 100 * MEGABYTE },
  "application/msword": { kind: "document", bytesMax: 100 * MEGABYTE },
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": {
    kind: "document",
    bytesMax: 100 * MEGABYTE,
  },
  "application/vnd.ms-excel": { kind: "document", bytesMax: 100 * MEGABYTE },
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": { kind: "document", bytesMax: 100 * MEGABYTE },
  "application/vnd.ms-powerpoint": { kind: "document", bytesMax: 100 * MEGABYTE },
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": {
    kind: "document",
    bytesMax: 100 * MEGABYTE,
  },
  "text/plain": { kind: "document", bytesMax: 100 * MEGABYTE },
};

/** Other names of types, as browsers and servers write them. */
const ALIASES: Readonly<Record<string, string>> = {
  "image/jpg": "image/jpeg",
  "video/3gp": "video/3gpp",
  "audio/x-aac": "audio/aac",
  "audio/mp3": "audio/mpeg",
  "audio/m4a": "audio/mp4",
  "audio/x-m4a": "audio/mp4",
  "audio/opus": "audio/ogg",
  "application/ogg": "audio/ogg",
};

/** Types that say nothing about the content. */
const GENERIC = new Set(["", "application/octet-stream", "binary/octet-stream", "application/x-www-form-urlencoded"]);

/** A declared content type without parameters, under its usual name; null if it says nothing. */
export function declaredType(written: string): string | null {
  const type = written.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return GENERIC.has(type) ? null : (ALIASES[type] ?? type);
}

const LINK_SCHEME = "media:";

/** The link of stored media within a message. A request cannot write it: its links begin with http. */
export const linkOfMedia = (id: string): string => LINK_SCHEME + id;

/** The media that a link of a message names; null for an address of the web. */
export const mediaIdIn = (link: string): string | null =>
  link.startsWith(LINK_SCHEME) ? link.slice(LINK_SCHEME.length) : null;
