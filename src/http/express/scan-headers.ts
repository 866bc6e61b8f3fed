import { COLON, CR, endOf, kindsOf, LF, NAME, VALUE } from "../../lib/header-letters.ts";

/** The headers that a door may want, as they were written but for spaces around them. */
interface Scanned {
  connection: string | undefined;
  apikey: string | undefined;
  contentType: string | undefined;
  contentLength: string | undefined;
  idempotencyKey: string | undefined;
  forwardedFor: string | undefined;
  userAgent: string | undefined;
}

/** More of them only an attack has, and beyond some number Node drops them without a word. */
const HEADERS_MAX = 100;

/** Of those that the standard allows, only the plain ones. */
const KINDS = kindsOf((code) => code >= 0x20 && code <= 0x7e);

/**
 * Reads header lines, each with its end, from `at` on; null when anything about them is not plainly ordinary.
 * It never guesses: what it takes, Node's parser reads in just the same way, and all else is left to that one.
 */
export function scanHeaders(text: string, at: number): Scanned | null {
  let host = false;
  let connection: string | undefined;
  let apikey: string | undefined;
  let contentType: string | undefined;
  let contentLength: string | undefined;
  let idempotencyKey: string | undefined;
  let forwardedFor: string | undefined;
  let userAgent: string | undefined;
  let count = 0;
  for (let start = at; start < text.length; count += 1) {
    const colon = endOf(KINDS, NAME, text, start);
    if (colon === start || text.charCodeAt(colon) !== COLON) return null;
    const end = endOf(KINDS, VALUE, text, colon + 1);
    if (text.charCodeAt(end) !== CR || text.charCodeAt(end + 1) !== LF) return null;
    const name = text.slice(start, colon).toLowerCase();
    start = end + 2;
    switch (name) {
      case "host":
        if (host) return null;
        host = true;
        break;
      case "connection":
        if (connection !== undefined) return null;
        connection = valueOf(text, colon, end).toLowerCase();
        break;
      case "apikey":
        if (apikey !== undefined) return null;
        apikey = valueOf(text, colon, end);
        break;
      case "content-type":
        if (contentType !== undefined) return null;
        contentType = valueOf(text, colon, end);
        break;
      case "content-length":
        if (contentLength !== undefined) return null;
        contentLength = valueOf(text, colon, end);
        break;
      case "idempotency-key":
        if (idempotencyKey !== undefined) return null;
        idempotencyKey = valueOf(text, colon, end);
        break;
      case "x-forwarded-for":
        if (forwardedFor !== undefined) return null;
        forwardedFor = valueOf(text, colon, end);
        break;
      case "user-agent":
        if (userAgent !== undefined) return null;
        userAgent = valueOf(text, colon, end);
        break;
      case "transfer-encoding":
      case "expect":
      case "upgrade":
      case "proxy-connection":
        return null;
      default:
    }
  }
  if (count > HEADERS_MAX || !host) return null;
  if (connection !== undefined && connection !== "keep-alive" && connection !== "close") return null;
  return { connection, apikey, contentType, contentLength, idempotencyKey, forwardedFor, userAgent };
}

const valueOf = (text: string, colon: number, end: number): string => text.slice(colon + 1, end).trim();
