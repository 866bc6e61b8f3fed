import { COLON, CR, endOf, kindsOf, LF, NAME, VALUE } from "../../lib/header-letters.ts";

/** Values of the headers that the fast path uses, trimmed. */
interface Scanned {
  connection: string | undefined;
  apikey: string | undefined;
  contentType: string | undefined;
  contentLength: string | undefined;
  idempotencyKey: string | undefined;
  forwardedFor: string | undefined;
  userAgent: string | undefined;
}

/** Node drops headers beyond its own limit without an error, so long heads are left to Node. */
const HEADERS_MAX = 100;

/** Printable ASCII, a subset of the characters that RFC 9110 allows. */
const CHARACTERS = kindsOf((code) => code >= 0x20 && code <= 0x7e);

/**
 * Scans header lines, each with its CRLF, from offset `at`; null if any of them is not ordinary. Node's parser reads all
 * accepted heads in the same way; a test with generated heads compares the two.
 */
export function scanHeaders(text: string, at: number): Scanned | null {
  let hasHost = false;
  let connection: string | undefined;
  let apikey: string | undefined;
  let contentType: string | undefined;
  let contentLength: string | undefined;
  let idempotencyKey: string | undefined;
  let forwardedFor: string | undefined;
  let userAgent: string | undefined;
  let count = 0;
  for (let start = at; start < text.length; count += 1) {
    const colon = endOf(CHARACTERS, NAME, text, start);
    if (colon === start || text.charCodeAt(colon) !== COLON) return null;
    const end = endOf(CHARACTERS, VALUE, text, colon + 1);
    if (text.charCodeAt(end) !== CR || text.charCodeAt(end + 1) !== LF) return null;
    const name = text.slice(start, colon).toLowerCase();
    start = end + 2;
    switch (name) {
      case "host":
        if (hasHost) return null;
        hasHost = true;
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
      case "content-encoding":
      case "transfer-encoding":
      case "expect":
      case "upgrade":
      case "proxy-connection":
        return null;
      default:
    }
  }
  if (count > HEADERS_MAX || !hasHost) return null;
  if (connection !== undefined && connection !== "keep-alive" && connection !== "close") return null;
  return { connection, apikey, contentType, contentLength, idempotencyKey, forwardedFor, userAgent };
}

const valueOf = (text: string, colon: number, end: number): string => text.slice(colon + 1, end).trim();
