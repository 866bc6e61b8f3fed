import { CODE_PATTERN } from "../../links/code.ts";
import type { Route } from "../route.ts";
import { shortLinkRoutes } from "../short-link.ts";
import { scanHeaders } from "./scan-headers.ts";

/** Head of an ordinary send. */
export interface SendHead {
  readonly headers: { readonly apikey: string; readonly "idempotency-key": string | undefined };
  /** `X-Forwarded-For`. */
  readonly forwardedFor: string | undefined;
  readonly bodyBytes: number;
  readonly keepAlive: boolean;
}

/** Head of an ordinary short-link request. */
export interface LinkHead {
  userAgent: string | undefined;
  forwardedFor: string | undefined;
  keepAlive: boolean;
}

const CONTENT_LENGTH = /^[1-9]\d{0,8}$/;
const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;

/** Parses the headers of a send from offset `at`; null if they are not ordinary. */
export function parseSendHead(text: string, at: number): SendHead | null {
  const scanned = scanHeaders(text, at);
  if (!scanned?.apikey || scanned.contentType === undefined || !JSON_TYPE.test(scanned.contentType)) return null;
  if (scanned.contentLength === undefined || !CONTENT_LENGTH.test(scanned.contentLength)) return null;
  return {
    headers: { apikey: scanned.apikey, "idempotency-key": scanned.idempotencyKey },
    forwardedFor: scanned.forwardedFor,
    bodyBytes: Number(scanned.contentLength),
    keepAlive: scanned.connection !== "close",
  };
}

/** Parses the headers of a short-link request from offset `at`; null if they are not ordinary or announce a body. */
export function parseLinkHead(text: string, at: number): LinkHead | null {
  const scanned = scanHeaders(text, at);
  if (!scanned || scanned.contentLength !== undefined) return null;
  return {
    userAgent: scanned.userAgent,
    forwardedFor: scanned.forwardedFor,
    keepAlive: scanned.connection !== "close",
  };
}

const SHORT_LINK_LINE = new RegExp(`^GET /(?:s/)?(${CODE_PATTERN}) HTTP/1\\.1$`);

/**
 * Parses the code in the request line of a short link. At the root a path of the server can look like a code, as `/metrics`
 * does, so paths with a route are excluded.
 */
export function createShortCodeParser(routes: readonly Route[]): (line: string) => string | null {
  if (!shortLinkRoutes.every((route) => routes.includes(route))) return () => null;
  const otherLines = new Set(routes.map((route) => `GET ${route.path} HTTP/1.1`));
  return (line) => {
    const code = SHORT_LINK_LINE.exec(line)?.[1];
    return code === undefined || otherLines.has(line) ? null : code;
  };
}
