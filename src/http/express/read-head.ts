import { scanHeaders } from "./scan-headers.ts";

/** What the head of an ordinary send says. */
export interface SendHead {
  readonly headers: { readonly apikey: string; readonly "idempotency-key": string | undefined };
  readonly forwardedFor: string;
  readonly bodyBytes: number;
  /** Whether the client wants to ask more on the same connection. */
  readonly keepAlive: boolean;
}

/** What the head of an ordinary request for a short link says. */
export interface LinkHead {
  userAgent: string | undefined;
  keepAlive: boolean;
}

const LENGTH = /^[1-9]\d{0,8}$/;
const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;

/** Reads the headers of a send from `at` on; null when they are not those of an ordinary one. */
export function readSendHead(text: string, at: number): SendHead | null {
  const read = scanHeaders(text, at);
  if (!read?.apikey || read.contentType === undefined || !JSON_TYPE.test(read.contentType)) return null;
  if (read.contentLength === undefined || !LENGTH.test(read.contentLength)) return null;
  return {
    headers: { apikey: read.apikey, "idempotency-key": read.idempotencyKey },
    forwardedFor: read.forwardedFor ?? "",
    bodyBytes: Number(read.contentLength),
    keepAlive: read.connection !== "close",
  };
}

/** Reads the headers of a request for a short link from `at` on; null when they are not ordinary, or tell of a body. */
export function readLinkHead(text: string, at: number): LinkHead | null {
  const read = scanHeaders(text, at);
  if (!read || read.contentLength !== undefined) return null;
  return { userAgent: read.userAgent, keepAlive: read.connection !== "close" };
}
